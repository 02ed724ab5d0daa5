// SPDX-License-Identifier: BSD-3-Clause
#include "common/serve.h"
#include "reference/reference.h"

int main(int argc, char** argv) {
  tdconf::bench::serve(
      {.column = "reference", .has_agreement = true, .open = tdconf::bench::reference::open},
      argc,
      argv);
}
