// SPDX-License-Identifier: BSD-3-Clause
// The operations that reduce.
#include <tdref/all_reduce.h>
#include <tdref/reduce.h>

#include <map>
#include <utility>

#include "reference/options.h"
#include "reference/reference.h"

namespace tdconf::adapter {
namespace {

void set_op(const Fields& args, c10d::ReduceOp& op) {
  using Op = c10d::ReduceOp;
  static const std::map<std::string, Op::RedOpType> ops{{"SUM", Op::SUM},
                                                        {"AVG", Op::AVG},
                                                        {"PRODUCT", Op::PRODUCT},
                                                        {"MIN", Op::MIN},
                                                        {"MAX", Op::MAX},
                                                        {"BAND", Op::BAND},
                                                        {"BOR", Op::BOR},
                                                        {"BXOR", Op::BXOR}};
  const auto name = args.optional<std::string>("op");
  if (!name) return;
  const auto found = ops.find(*name);
  if (found == ops.end()) {
    throw BadRequest(args.where() + ".op: got " + *name +
                     ", allowed: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR");
  }
  op = found->second;
}

template <typename Options>
void set_reduction_options(const Fields& args, Options& options) {
  set_op(args, options.op);
  set_option(args, "async_op", options.async_op);
  options.bucket_bytes = args.optional<std::int64_t>("bucket_bytes");
}

}  // namespace

json Reference::keep_works(const std::optional<std::string>& as,
                           std::optional<tdref::Works> works) {
  return works ? pending_.keep(as, std::move(*works)) : returns::none();
}

json Reference::all_reduce(const Fields& args, const std::optional<std::string>& as) {
  tdref::AllReduceOptions options{.group = group_of(args)};
  set_reduction_options(args, options);
  return keep_works(as, tdref::all_reduce(groups_.world(), td_of(args), options));
}

json Reference::reduce(const Fields& args, const std::optional<std::string>& as) {
  tdref::ReduceOptions options{.dst = needed_rank_of(args, "dst"), .group = group_of(args)};
  set_reduction_options(args, options);
  set_option(args, "return_premature", options.return_premature);
  return keep_works(as, tdref::reduce(groups_.world(), td_of(args), options));
}

}  // namespace tdconf::adapter
