# SPDX-License-Identifier: BSD-3-Clause
"""`tdconf bench`: what the operations cost, as ratios, and whether a change made one slower."""
