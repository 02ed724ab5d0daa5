# SPDX-License-Identifier: BSD-3-Clause
"""The launcher: sets up, builds, starts the judge and reports what it found."""
