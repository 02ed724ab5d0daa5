// SPDX-License-Identifier: BSD-3-Clause
// Stands in for pipes.cpp where tdref is built without UCX.
#include "common/fields.h"
#include "reference/pipes.h"

namespace tdconf::adapter {
namespace {

[[noreturn]] void refuse() {
  throw Unsupported("op:open_pipe");
}

}  // namespace

bool Pipes::are_built() {
  return false;
}

void Pipes::open(const std::string& /*name*/, const Meeting& /*meeting*/) {
  refuse();
}

void Pipes::send(const std::string& /*name*/,
                 const tdref::TensorDictBase& /*td*/,
                 const tdref::SendOptions& /*options*/) {
  refuse();
}

tdref::AnyTensorDict Pipes::recv(const std::string& /*name*/,
                                 const tdref::TensorDictBase& /*td*/,
                                 const tdref::RecvOptions& /*options*/) {
  refuse();
}

void Pipes::close(const std::string& /*name*/) {
  refuse();
}

void Pipes::clear() {}

}  // namespace tdconf::adapter
