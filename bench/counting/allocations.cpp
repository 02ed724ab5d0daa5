// SPDX-License-Identifier: BSD-3-Clause
#include "counting/allocations.h"

#include <c10/core/Allocator.h>

#include <atomic>
#include <limits>

namespace tdconf::bench {
namespace {

/// Counts, and leaves all else to another allocator. What it gave can be freed without it.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator& inner) : inner_(inner) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    allocations_ += 1;
    allocated_bytes_ += static_cast<std::int64_t>(bytes);
    return inner_.allocate(bytes);
  }
  bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return inner_.is_simple_data_ptr(data);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    inner_.copy_data(to, from, bytes);
  }

  void reset() {
    allocations_ = 0;
    allocated_bytes_ = 0;
  }
  void write(TdconfCounts& counts) const {
    counts.allocations = allocations_;
    counts.allocated_bytes = allocated_bytes_;
  }
  c10::Allocator& inner() { return inner_; }

 private:
  c10::Allocator& inner_;
  std::atomic<std::int64_t> allocations_ = 0;
  std::atomic<std::int64_t> allocated_bytes_ = 0;
};

// Never destroyed: storages keep a pointer to the allocator that made them.
CountingAllocator& allocator() {
  static auto& counting = *new CountingAllocator(*c10::GetAllocator(c10::kCPU));
  return counting;
}

void install(c10::Allocator& chosen) {
  c10::SetAllocator(c10::kCPU, &chosen, std::numeric_limits<std::uint8_t>::max());
}

}  // namespace

void start_counting_allocations() {
  allocator().reset();
  install(allocator());
}

void stop_counting_allocations(TdconfCounts& counts) {
  install(allocator().inner());
  allocator().write(counts);
}

}  // namespace tdconf::bench
