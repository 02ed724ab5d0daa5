/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** What one process did between tdconf_counting_start() and tdconf_counting_stop(), on all threads. */
typedef struct {
  /** Messages of ProcessGroupGloo that were begun: sends, receipts and collectives. */
  int64_t messages;
  /** Bytes that the outermost of aten's copying operations wrote; see counting/copies.cpp. */
  int64_t copied_bytes;
  /** Calls of the allocator of the CPU, and the bytes that they asked for. */
  int64_t allocations;
  int64_t allocated_bytes;
} TdconfCounts;

/** Sets all counts to 0 and counts from here on. Not to be called twice without a stop. */
void tdconf_counting_start(void);

/** Stops counting, and writes what was counted. */
void tdconf_counting_stop(TdconfCounts* counts);

/** Leaves the sockets that this process has at this moment out of tdconf_counting_received_bytes(). */
void tdconf_counting_ignore_open_sockets(void);

/** Returns the bytes that all other TCP sockets of this process have received so far. */
int64_t tdconf_counting_received_bytes(void);

/** Waits until every thread of this process but the calling one sleeps, at most 10 seconds. Returns 0
 *  when they do, and 1 when they do not. */
int tdconf_counting_await_quiet(void);

#if defined(__cplusplus)
}
#endif
