# SPDX-License-Identifier: BSD-3-Clause
"""Implementations that are wrong in one known way: the cases must tell them from a right one."""
