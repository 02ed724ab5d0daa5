# SPDX-License-Identifier: BSD-3-Clause
"""The column `tensordict`: times and counts the operations of the package; see bench/README.md."""
