# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: PT009 -- unittest: this runs wherever torch and tensordict are, pytest or not
"""Checks that the struct of the example in ../README.md is a tensorclass in Python, both ways.

Usage: readme_example_agrees_with_python.py README_EXAMPLE
"""

import subprocess
import sys
import tempfile
import unittest
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from my_package import Sample
from tensordict import TensorDict

_DEADLINE_S = 60


def image(first: int) -> torch.Tensor:
    return torch.arange(first, first + 4, dtype=torch.float32).view(2, 2)


class WithTheExample(unittest.TestCase):
    """Each test is one rank, and the program is the other."""

    program: str

    def connect(self, rank: int) -> subprocess.Popen[str]:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = str(Path(folder.name) / "store")
        other = subprocess.Popen(
            [self.program, path, str(1 - rank)], stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        dist.init_process_group(
            "gloo",
            store=dist.FileStore(path, 2),
            rank=rank,
            world_size=2,
            timeout=timedelta(seconds=_DEADLINE_S),
        )
        self.addCleanup(dist.destroy_process_group)
        return other

    def test_takes_the_class_from_the_struct(self) -> None:
        other = self.connect(rank=1)
        sample = TensorDict.from_remote_init(src=0)
        self.assertIs(type(sample), Sample)
        self.assertTrue(torch.equal(sample.image, image(0)))
        self.assertEqual(sample.origin, "camera")
        before = sample.image
        sample.recv(src=0)
        self.assertTrue(torch.equal(before, image(10)))
        other.communicate(timeout=_DEADLINE_S)
        self.assertEqual(other.returncode, 0)

    def test_gives_the_class_to_the_struct(self) -> None:
        other = self.connect(rank=0)
        Sample(image=image(0), batch_size=[2]).init_remote(dst=1)
        Sample(image=image(10), batch_size=[2]).send(dst=1)
        printed, _ = other.communicate(timeout=_DEADLINE_S)
        self.assertEqual((printed, other.returncode), ("10 11 12 13 None\n", 0))


if __name__ == "__main__":
    WithTheExample.program = sys.argv.pop(1)
    unittest.main()
