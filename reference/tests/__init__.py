# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the reference against files that tensordict wrote, and the other way round."""
