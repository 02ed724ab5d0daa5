# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the harness itself: the adapter, the schema, and the runner against faulty adapters."""
