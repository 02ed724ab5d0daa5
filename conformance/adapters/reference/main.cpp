// SPDX-License-Identifier: BSD-3-Clause
#include "common/serve.h"
#include "reference/reference.h"

int main(int argc, char** argv) {
  tdconf::adapter::Reference reference;
  tdconf::adapter::run_adapter(reference.player(), argc, argv);
}
