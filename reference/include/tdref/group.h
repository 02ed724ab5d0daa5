// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>
#include <tdref/work.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

namespace tdref {

class CollectiveAgreement;
class Conversation;

/// The ranks that communicate. A shared handle: copies are the same group.
///
/// Whoever opens a group ignores SIGPIPE in its process from then on, as Python does, unless it has
/// chosen something else: a write to a rank that died must be an error, and not the end of this one.
///
/// Every rank of the process group that made it has a handle, members or not; only members
/// communicate.
class Group {
 public:
  enum class Kind { kDefault, kSubgroup, kStandalone };

  Kind kind() const;

  /// Returns the backend string as it was given ("gloo", "cpu:gloo", "undefined"); a connection
  /// does not carry it.
  const std::string& backend() const;

  bool is_member() const;
  /// Returns this rank within the group.
  ///
  /// Errors  c10::ValueError: not a member.
  int group_rank() const;
  int size() const;

  /// Returns the members' global ranks by group rank.
  ///
  /// Errors  c10::ValueError: a standalone group has none.
  const std::vector<int>& global_ranks() const;
  /// Errors  c10::ValueError: the group is standalone, or has no such member.
  int group_rank_of(int global_rank) const;

  std::chrono::milliseconds timeout() const;

  /// Posts one message. The tensor is contiguous and strided; peers are ranks in the group; the
  /// caller has checked both.
  Work isend(const at::Tensor& tensor, int group_dst, int tag) const;
  /// Posts the receipt of one message. The bytes land in `tensor` when the Work has been waited
  /// for; a tensor that is not contiguous is received through a temporary one.
  Work irecv(const at::Tensor& tensor, int group_src, int tag) const;

  /// Returns the tensors of all ranks, by group rank; all have the shape and dtype of this one.
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) const;
  /// Returns the tensors of all ranks, by group rank, on rank `group_dst`, and nothing elsewhere.
  std::vector<at::Tensor> gather(const at::Tensor& tensor, int group_dst) const;
  /// Writes the tensor of rank `group_src` into that of every other rank, which has its shape and
  /// dtype. All are contiguous.
  void broadcast(const at::Tensor& tensor, int group_src) const;
  /// Writes the n-th of the tensors that rank `group_src` gives into `tensor` of group rank n;
  /// elsewhere `tensors` is empty. All are contiguous, of one shape and dtype.
  void scatter(const at::Tensor& tensor,
               const std::vector<at::Tensor>& tensors,
               int group_src) const;

  /// Posts the reduction of the tensors of all ranks, in place, on every rank. The tensor is
  /// contiguous, and of a dtype that gloo reduces with `op`; the caller has checked both.
  Work all_reduce(const at::Tensor& tensor, const c10d::ReduceOp& op) const;
  /// As all_reduce(), but only rank `group_dst` holds the result; elsewhere the elements are then
  /// undefined.
  Work reduce(const at::Tensor& tensor, int group_dst, const c10d::ReduceOp& op) const;

  /// Returns what compares the two ends of a transfer with this rank; null where nothing does.
  std::shared_ptr<Conversation> conversation_with(int group_rank) const;
  /// Returns what compares the collectives of all ranks before anything of one is sent; null where
  /// nothing does.
  std::shared_ptr<CollectiveAgreement> collectives() const;

  using BackendWrapper =
      std::function<c10::intrusive_ptr<c10d::Backend>(c10::intrusive_ptr<c10d::Backend>)>;
  /// Puts a backend of the caller's around the group's own: every later message of an operation
  /// goes through it, and nothing else about the group changes. The notes of agree_on_structure
  /// have a connection of their own. A rank that is not a member has none to wrap.
  void wrap_backend(const BackendWrapper& wrapper) const;

  /// Ends the connections; messages that were not waited for are given up. The handle then only
  /// knows its ranks.
  void close() const;

  bool operator==(const Group& other) const { return state_ == other.state_; }

  class State;
  explicit Group(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

struct GroupOptions {
  std::string backend = "gloo";
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  /// Whether the two ends of a transfer compare keys, dtypes and shapes before anything is sent,
  /// wherever the other rank does so too, and the ranks of a collective what they mean by it, where
  /// all do: a rank that does not, or is another implementation, is served as if it were false. It
  /// costs one round trip for each transfer or collective and a second connection.
  /// With TORCH_GLOO_LAZY_INIT=1 in the environment nothing is compared: a rank that connects late
  /// cannot know which others compare.
  bool agree_on_structure = true;
};

/// Connects a group that no other group knows; its ranks have no global rank.
///
/// Wire    gloo's own keys directly on `store`. agree_on_structure: keys under "tdref/" beside
///         them.
/// Blocks  until all `size` ranks have called it, at most `timeout`.
/// Errors  c10::DistStoreError (TCPStore, HashStore) or c10::Error (FileStore): a rank is missing
///         at the deadline.
/// Source  torch 2.15 ProcessGroupGloo(store, rank, size, timeout)
Group open_standalone(const c10::intrusive_ptr<c10d::Store>& store,
                      int group_rank,
                      int size,
                      const GroupOptions& options = {});

/// What one rank knows of the process groups: the default group, if it has one, and the groups made
/// from it.
///
/// Python keeps this in the module torch.distributed; here it is a value that every operation is
/// given.
class World {
 public:
  /// A world without a default group: operations need `group` and ranks within it.
  World() = default;

  /// Connects the default group.
  ///
  /// Wire    store prefixes "0/", then "cpu/", as init_process_group(backend, store=store, rank,
  ///         world_size) has.
  /// Blocks  until all `world_size` ranks have called it, at most `timeout`.
  /// Errors  c10::ValueError: a rank outside the world, an unknown backend. As open_standalone().
  static World init_process_group(const c10::intrusive_ptr<c10d::Store>& store,
                                  int rank,
                                  int world_size,
                                  const GroupOptions& options = {});

  /// Connects a subgroup. Every rank calls it for every group, in the same order, members or not.
  ///
  /// Order   the members' group ranks follow their global ranks.
  /// Wire    the k-th call (from 1) has the store prefix "k/" under "0/", then "cpu/". Compares
  ///         structures if the default group does.
  /// Blocks  members, until all of them have called it.
  /// Errors  c10::ValueError: no default group, a rank twice or outside the world, no rank, an
  ///         unknown backend.
  Group new_group(std::vector<int> ranks, std::optional<std::string> backend = std::nullopt);

  /// Errors  c10::ValueError: there is no default group.
  const Group& default_group() const;

  /// Returns `group`, or the default group if none is given.
  const Group& group_or_default(const std::optional<Group>& group) const;

 private:
  std::optional<Group> default_group_;
  c10::intrusive_ptr<c10d::Store> store_;
  int groups_made_ = 0;
  bool agree_on_structure_ = true;
};

}  // namespace tdref
