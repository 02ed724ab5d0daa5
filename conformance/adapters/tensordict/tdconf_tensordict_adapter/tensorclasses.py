# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tensorclasses that a case names, and finds them again for whoever unpickles one."""

from collections.abc import Iterable
from typing import Any

from tensordict import TensorDictBase, tensorclass

from . import made
from .errors import AdapterError, call

# A tensordict of any kind or a tensorclass: what `tensorclass` makes derives from no class of
# tensordict that an annotation could name.
AnyTensorDict = TensorDictBase | Any

# By name and fields. Making one takes long, and tensordict keeps each class for ever.
_KNOWN: dict[tuple[str, tuple[str, ...]], type] = {}


def class_of(name: str, fields: Iterable[str]) -> type:
    """Returns the tensorclass of this name, whose fields hold anything.

    Errors  AdapterError: this case has a class of this name with other fields, so that the name
            would not say which one is meant.
            ImplementationError: tensordict refused to make it.
    """
    key = name, tuple(sorted(fields))
    if key not in _KNOWN:
        attributes = {"__module__": made.__name__, "__annotations__": dict.fromkeys(key[1], object)}
        _KNOWN[key] = call(tensorclass, type(name, (), attributes))
    held = vars(made).setdefault(name, _KNOWN[key])
    if held is not _KNOWN[key]:
        raise AdapterError(
            f"the tensorclass {name} has other fields in this case: {fields_of(held)}, "
            f"not {list(key[1])}"
        )
    return _KNOWN[key]


def fields_of(cls: type) -> list[str]:
    return next(list(fields) for (_, fields), known in _KNOWN.items() if known is cls)


def forget() -> None:
    """Ends a case: another one may use the names for other classes."""
    names = {name for name, _ in _KNOWN} & vars(made).keys()
    for name in names:
        delattr(made, name)
