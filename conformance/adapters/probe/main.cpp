// SPDX-License-Identifier: BSD-3-Clause
#include "common/serve.h"
#include "probe/probe.h"

int main(int argc, char** argv) {
  tdconf::adapter::Probe probe;
  tdconf::adapter::run_adapter(probe.player(), argc, argv);
}
