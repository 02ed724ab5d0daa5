// SPDX-License-Identifier: BSD-3-Clause
#include "common/serve.h"
#include "floor/floor.h"

int main(int argc, char** argv) {
  tdconf::bench::serve({.column = "floor", .open = tdconf::bench::floor::open}, argc, argv);
}
