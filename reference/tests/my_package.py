# SPDX-License-Identifier: BSD-3-Clause
"""Has in Python the tensorclass that the example in ../README.md has as a struct."""

import torch
from tensordict import tensorclass


@tensorclass
class Sample:
    """An image for each row, and where they come from."""

    image: torch.Tensor
    origin: str | None = None
