# SPDX-License-Identifier: BSD-3-Clause
"""Makes and drops the process groups of one case."""

import ipaddress
import os
from datetime import timedelta

import torch.distributed as dist

from .errors import AdapterError, call
from .messages import Group, Join
from .pipes import pin_to_loopback


def pin_interface(judge_host: str) -> None:
    """Keeps gloo and UCX on the loopback interface when the judge is on it.

    gloo otherwise resolves the host's own name, which need not have a usable address, and UCX
    uses every interface.
    """
    if is_loopback(judge_host):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        pin_to_loopback()


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def make_store(join: Join) -> dist.Store:
    """Opens the store that the ranks of the case share.

    Errors  ImplementationError: torch refused.
    """
    store = call(dist.FileStore, join.store.path, join.world_size)
    store.set_timeout(timeout_of(join))
    return store


def timeout_of(join: Join) -> timedelta:
    return timedelta(milliseconds=join.timeout_ms)


def make_groups(join: Join, store: dist.Store) -> dict[str, dist.ProcessGroup]:
    """Makes the groups in the order of the list; returns those that operations can name here.

    Errors  ImplementationError: torch refused, or a member did not come in time.
    """
    timeout = timeout_of(join)
    groups = {}
    for spec in join.groups:
        if spec.kind == "default":
            groups[spec.name] = make_default(spec, join, store, timeout)
        elif spec.kind == "subgroup":
            groups[spec.name] = call(dist.new_group, spec.ranks, timeout, spec.backend)
        elif join.rank in spec.ranks:
            groups[spec.name] = make_standalone(spec, join, store, timeout)
    return groups


def make_default(
    spec: Group, join: Join, store: dist.Store, timeout: timedelta
) -> dist.ProcessGroup:
    if spec.ranks != list(range(join.world_size)):
        raise AdapterError(f"the default group has every rank, got ranks {spec.ranks}")
    call(
        dist.init_process_group,
        spec.backend,
        store=store,
        rank=join.rank,
        world_size=join.world_size,
        timeout=timeout,
    )
    return dist.group.WORLD


def make_standalone(
    spec: Group, join: Join, store: dist.Store, timeout: timedelta
) -> dist.ProcessGroup:
    own_store = dist.PrefixStore(f"standalone/{spec.name}/", store)
    group_rank = spec.ranks.index(join.rank)
    return call(dist.ProcessGroupGloo, own_store, group_rank, len(spec.ranks), timeout)


def drop_groups() -> None:
    """Destroys the default group and every subgroup; torch then counts new groups from 0 again."""
    if dist.is_initialized():
        dist.destroy_process_group()
