// SPDX-License-Identifier: BSD-3-Clause
#include "group/collective_agreement.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gloo/common/error.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "codec/bytes.h"
#include "group/work.h"

namespace tdref {
namespace {

constexpr int kHeaderTag = 2;
constexpr int kTextTag = 3;
constexpr std::int64_t kHeaderLength = 4;
// A rank may do something else for as long as it likes; it is the callers that have deadlines.
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

template <typename Error>
std::exception_ptr make_error(const std::string& message) {
  return std::make_exception_ptr(Error({__func__, __FILE__, __LINE__}, message));
}

at::Tensor header_of(const CollectiveNote& note) {
  const auto digest = digest_of(note.text);
  return at::tensor({static_cast<std::int64_t>(note.kind),
                     static_cast<std::int64_t>(note.text.size()),
                     static_cast<std::int64_t>(digest.high),
                     static_cast<std::int64_t>(digest.low)},
                    at::kLong);
}

CollectiveNote::Kind kind_in(const at::Tensor& header) {
  return static_cast<CollectiveNote::Kind>(header.const_data_ptr<std::int64_t>()[0]);
}

void check_header(const at::Tensor& header, const std::string& rank) {
  const auto kind = kind_in(header);
  const auto bytes = header.const_data_ptr<std::int64_t>()[1];
  TORCH_CHECK_VALUE(
      (kind == CollectiveNote::Kind::kStructure || kind == CollectiveNote::Kind::kRefusal) &&
          0 <= bytes && bytes <= kMaxNoteBytes,
      rank,
      " sent a note that makes no sense: ",
      c10::ArrayRef<std::int64_t>(header.const_data_ptr<std::int64_t>(), kHeaderLength));
}

bool all_mean_the_same(const std::vector<at::Tensor>& headers) {
  return kind_in(headers.front()) == CollectiveNote::Kind::kStructure &&
         std::all_of(headers.begin(), headers.end(), [&](const at::Tensor& header) {
           return header.equal(headers.front());
         });
}

}  // namespace

CollectiveAgreement::CollectiveAgreement(std::shared_ptr<Connection> connection,
                                         std::vector<std::string> names,
                                         int self)
    : names_(std::move(names)),
      self_(static_cast<std::size_t>(self)),
      connection_(std::move(connection)) {}

std::shared_ptr<Pending> CollectiveAgreement::announce(CollectiveProposal proposal) {
  auto pending = std::make_shared<Pending>(std::move(proposal.posting), std::move(proposal.what));
  const std::lock_guard lock(mutex_);
  if (ended_) {
    std::rethrow_exception(ended_);
  }
  announced_.push_back({std::move(proposal.note), pending});
  changed_.notify_all();
  if (!comparer_.joinable()) {
    comparer_ = std::thread([self = shared_from_this()] { self->run(); });
  }
  return pending;
}

const Works& CollectiveAgreement::posted(Pending& collective, std::chrono::milliseconds timeout) {
  if (!collective.wait_until_settled(timeout)) {
    give_up(collective, timeout);
  }
  return collective.posted();
}

void CollectiveAgreement::run() {
  try {
    compare_one_after_the_other();
  } catch (const std::exception& error) {
    std::string name = "another rank";
    {
      const std::lock_guard lock(mutex_);
      if (awaited_.has_value()) {
        name = names_[*awaited_];
      }
    }
    const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
    end(make_error<c10::DistNetworkError>(
        c10::str("the connection to ",
                 name,
                 " is lost: ",
                 torch_error != nullptr ? torch_error->what_without_backtrace() : error.what())));
  }
}

void CollectiveAgreement::compare_one_after_the_other() {
  while (auto announced = next()) {
    settle(*announced->pending, problem_with(announced->note));
  }
}

std::optional<CollectiveAgreement::Announced> CollectiveAgreement::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ || !announced_.empty(); });
  return ended_ ? std::nullopt : std::optional(announced_.front());
}

void CollectiveAgreement::settle(Pending& pending, const std::optional<std::string>& problem) {
  std::function<Works()> done;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  if (!ended_) {
    announced_.pop_front();
    done = pending.settle(problem);
  }
}

std::optional<std::string> CollectiveAgreement::problem_with(const CollectiveNote& own) {
  std::vector<at::Tensor> headers;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    headers.push_back(rank == self_ ? header_of(own) : at::empty({kHeaderLength}, at::kLong));
  }
  exchange(headers[self_], headers, kHeaderTag);
  if (all_mean_the_same(headers)) {
    return std::nullopt;
  }
  std::vector<at::Tensor> texts;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    check_header(headers[rank], names_[rank]);
    texts.push_back(rank == self_
                        ? as_tensor(own.text)
                        : at::empty({headers[rank].const_data_ptr<std::int64_t>()[1]}, at::kByte));
  }
  exchange(texts[self_], texts, kTextTag);
  std::vector<CollectiveNote> notes;
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    notes.push_back({kind_in(headers[rank]), std::string(as_bytes(texts[rank]))});
  }
  return problem_among(notes);
}

std::optional<std::string> CollectiveAgreement::problem_among(
    const std::vector<CollectiveNote>& notes) const {
  for (std::size_t rank = 0; rank < notes.size(); ++rank) {
    if (notes[rank].kind == CollectiveNote::Kind::kRefusal) {
      return c10::str(names_[rank], " refused: ", notes[rank].text);
    }
  }
  const auto other = std::find_if(notes.begin(), notes.end(), [&](const CollectiveNote& note) {
    return note.text != notes.front().text;
  });
  TORCH_INTERNAL_ASSERT(other != notes.end(), "notes with different digests are the same");
  return first_difference("the operation",
                          {notes.front().text, names_.front()},
                          {other->text, names_[static_cast<std::size_t>(other - notes.begin())]});
}

void CollectiveAgreement::exchange(const at::Tensor& own,
                                   const std::vector<at::Tensor>& inboxes,
                                   int tag) {
  post_exchange(own, inboxes, tag);
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (rank != self_) {
      wait_for_rank(rank);
    }
  }
  const std::lock_guard lock(mutex_);
  awaited_.reset();
}

void CollectiveAgreement::post_exchange(const at::Tensor& own,
                                        const std::vector<at::Tensor>& inboxes,
                                        int tag) {
  const std::lock_guard lock(mutex_);
  if (ended_) {
    std::rethrow_exception(ended_);
  }
  receipts_.assign(names_.size(), nullptr);
  sends_.assign(names_.size(), nullptr);
  for (std::size_t rank = 0; rank < names_.size(); ++rank) {
    if (rank == self_) {
      continue;
    }
    awaited_ = rank;
    std::vector<at::Tensor> sent{own};
    std::vector<at::Tensor> received{inboxes[rank]};
    sends_[rank] = post(*connection_, [&](c10d::Backend& backend) {
      return backend.send(sent, static_cast<int>(rank), tag);
    });
    receipts_[rank] = post(*connection_, [&](c10d::Backend& backend) {
      return backend.recv(received, static_cast<int>(rank), tag);
    });
  }
}

void CollectiveAgreement::wait_for_rank(std::size_t rank) {
  c10::intrusive_ptr<c10d::Work> receipt;
  c10::intrusive_ptr<c10d::Work> send;
  {
    const std::lock_guard lock(mutex_);
    awaited_ = rank;
    receipt = receipts_[rank];
    send = sends_[rank];
  }
  wait_for(
      *receipt, [] { return "note"; }, kForever);
  wait_for(
      *send, [] { return "note"; }, kForever);
}

void CollectiveAgreement::give_up(Pending& pending, std::chrono::milliseconds timeout) {
  std::string waited;
  std::function<Works()> done;  // destroyed after the lock
  {
    const std::lock_guard lock(mutex_);
    if (pending.is_settled()) {
      return;
    }
    waited = c10::str("waited ",
                      timeout.count(),
                      " ms for ",
                      awaited_.has_value() ? names_[*awaited_] : "the others",
                      " to begin ",
                      announced_.front().pending->what());
    done = pending.fail(make_error<c10d::TimeoutError>(c10::str(
        pending.what(), ": ", waited, ", in vain; the collectives of the group are over")));
  }
  end(make_error<c10::DistNetworkError>(
      c10::str("the collectives of the group are over: this rank ", waited, ", in vain")));
}

void CollectiveAgreement::end(std::exception_ptr reason) {
  std::vector<std::function<Works()>> done;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  if (!ended_) {
    ended_ = std::move(reason);
  }
  for (const auto& [note, pending] : announced_) {
    done.push_back(pending->fail(ended_));
  }
  announced_.clear();
  for (const auto* works : {&receipts_, &sends_}) {
    for (const auto& work : *works) {
      if (work != nullptr) {
        work->abort();
      }
    }
  }
  changed_.notify_all();
}

void CollectiveAgreement::close() {
  end(make_error<c10::DistNetworkError>("the group is closed"));
  std::thread comparer;
  {
    const std::lock_guard lock(mutex_);
    comparer.swap(comparer_);
  }
  if (comparer.get_id() == std::this_thread::get_id()) {
    comparer.detach();  // the group's last handle was in a collective that it just posted
  } else if (comparer.joinable()) {
    comparer.join();
  }
  const std::lock_guard lock(mutex_);
  receipts_.clear();
  sends_.clear();
  connection_.reset();
}

}  // namespace tdref
