# SPDX-License-Identifier: BSD-3-Clause
"""Holds the tensorclasses that a case has made, each under its name, so that pickles find them."""
