# SPDX-License-Identifier: BSD-3-Clause
"""The adapter that lets the judge drive the installed tensordict package."""
