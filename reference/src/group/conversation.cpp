// SPDX-License-Identifier: BSD-3-Clause
#include "group/conversation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gloo/common/error.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <cstring>
#include <limits>
#include <optional>
#include <tuple>

#include "group/work.h"

namespace tdref {
namespace {

constexpr int kHeaderTag = 0;
constexpr int kTextTag = 1;
constexpr std::int64_t kHeaderLength = 5;
constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 30;
// A rank may say nothing for as long as it likes; it is the transfers that have deadlines.
constexpr std::chrono::milliseconds kForever = std::chrono::hours(24 * 365);

template <typename Error>
std::exception_ptr make_error(const std::string& message) {
  return std::make_exception_ptr(Error({__func__, __FILE__, __LINE__}, message));
}

// Takes the oldest value under a key, and forgets keys that have none.
template <typename Key, typename T>
std::optional<T> take_oldest(std::map<Key, std::deque<T>>& queues, const Key& key) {
  const auto found = queues.find(key);
  if (found == queues.end()) {
    return std::nullopt;
  }
  std::optional<T> oldest = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) {
    queues.erase(found);
  }
  return oldest;
}

at::Tensor as_tensor(const std::string& text) {
  const auto tensor = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr(), text.data(), text.size());
  return tensor;
}

}  // namespace

Conversation::Conversation(std::shared_ptr<Connection> connection, int peer, Names names)
    : peer_(peer), names_(std::move(names)), connection_(std::move(connection)) {}

std::shared_ptr<PendingTransfer> Conversation::announce(Proposal proposal) {
  auto what = c10::str(proposal.note.side == Side::kSends ? "send to " : "receipt from ",
                       names_.peer,
                       " with first tag ",
                       proposal.note.first_tag);
  auto transfer =
      std::make_shared<PendingTransfer>(std::move(proposal), std::move(what), shared_from_this());
  bool is_answered = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      std::rethrow_exception(ended_);
    }
    const Note& note = transfer->note();
    send(note);
    const auto answer = take_oldest(unanswered_, Key(other(note.side), note.first_tag));
    is_answered = answer.has_value();
    if (is_answered) {
      settle(*transfer, *answer);
    } else {
      pending_[{note.side, note.first_tag}].push_back(transfer);
    }
    if (!reader_.joinable()) {
      reader_ = std::thread([self = shared_from_this()] { self->read(); });
    }
  }
  if (is_answered) {
    transfer->forget_proposal();
  }
  return transfer;
}

void Conversation::read() {
  try {
    for (;;) {
      deliver(receive());
    }
  } catch (const std::exception& error) {
    const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
    end(make_error<c10::DistNetworkError>(
        c10::str("the connection to ",
                 names_.peer,
                 " is lost: ",
                 torch_error != nullptr ? torch_error->what_without_backtrace() : error.what())));
  }
}

Note Conversation::receive() {
  const auto header = at::empty({kHeaderLength}, at::kLong);
  receive_into(header, kHeaderTag);
  const auto* numbers = header.const_data_ptr<std::int64_t>();
  const auto [kind, side, first_tag, read_by_peer, bytes] =
      std::tuple(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
  TORCH_CHECK_VALUE(kind >= 1 && kind <= 3 && side >= 1 && side <= 2 && first_tag >= 0 &&
                        first_tag <= std::numeric_limits<int>::max() && bytes >= 0 &&
                        bytes <= kMaxTextBytes,
                    "a note that makes no sense: ",
                    c10::ArrayRef<std::int64_t>(numbers, kHeaderLength));
  const auto text = at::empty({bytes}, at::kByte);
  if (bytes > 0) {
    receive_into(text, kTextTag);
  }
  forget_read_notes(read_by_peer);
  return {static_cast<Note::Kind>(kind),
          static_cast<Side>(side),
          static_cast<int>(first_tag),
          std::string(static_cast<const char*>(text.const_data_ptr()), text.nbytes())};
}

void Conversation::receive_into(const at::Tensor& tensor, int tag) {
  c10::intrusive_ptr<c10d::Work> message;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      std::rethrow_exception(ended_);
    }
    const std::lock_guard posting(connection_->posting);
    std::vector<at::Tensor> tensors{tensor};
    message = connection_->backend->recv(tensors, peer_, tag);
    reading_ = message;
  }
  wait_for(*message, "note", kForever);
}

void Conversation::deliver(const Note& note) {
  if (note.kind == Note::Kind::kFarewell) {
    end(make_error<c10::DistNetworkError>(
        c10::str("the connection to ", names_.peer, " is lost: it ", note.text)));
    return;
  }
  std::optional<std::shared_ptr<PendingTransfer>> answered;
  {
    const std::lock_guard lock(mutex_);
    ++notes_received_;
    answered = take_oldest(pending_, Key(other(note.side), note.first_tag));
    if (!answered.has_value()) {
      unanswered_[{note.side, note.first_tag}].push_back(note);
      return;
    }
    settle(**answered, note);
  }
  (*answered)->forget_proposal();
}

void Conversation::settle(PendingTransfer& transfer, const Note& theirs) {
  transfer.settle({transfer.note(), names_.self}, {theirs, names_.peer});
}

void Conversation::send(const Note& note) {
  const auto bytes = static_cast<std::int64_t>(note.text.size());
  TORCH_CHECK_VALUE(bytes <= kMaxTextBytes,
                    "a structure of ",
                    bytes,
                    " bytes is too large to be compared; allowed are ",
                    kMaxTextBytes,
                    ". Open the group with agree_on_structure = false");
  SentNote sent;
  sent.messages.push_back(post(at::tensor({static_cast<std::int64_t>(note.kind),
                                           static_cast<std::int64_t>(note.side),
                                           std::int64_t{note.first_tag},
                                           notes_received_,
                                           bytes},
                                          at::kLong),
                               kHeaderTag));
  if (bytes > 0) {
    sent.messages.push_back(post(as_tensor(note.text), kTextTag));
  }
  sent_.push_back(std::move(sent));
}

c10::intrusive_ptr<c10d::Work> Conversation::post(const at::Tensor& tensor, int tag) {
  const std::lock_guard posting(connection_->posting);
  std::vector<at::Tensor> tensors{tensor};
  try {
    return connection_->backend->send(tensors, peer_, tag);
  } catch (const gloo::Exception& error) {
    C10D_THROW_ERROR(DistNetworkError,
                     c10::str("the connection to ", names_.peer, " is lost: ", error.what()));
  }
}

void Conversation::forget_read_notes(std::int64_t read_by_peer) {
  const std::lock_guard lock(mutex_);
  for (; notes_read_by_peer_ < read_by_peer && !sent_.empty(); ++notes_read_by_peer_) {
    sent_.pop_front();
  }
}

void Conversation::give_up(PendingTransfer& transfer, std::chrono::milliseconds timeout) {
  const auto waited = c10::str("waited ", timeout.count(), " ms for the other end of ");
  {
    const std::lock_guard lock(mutex_);
    if (transfer.is_settled()) {
      return;
    }
    transfer.fail(make_error<c10d::TimeoutError>(c10::str(transfer.what(),
                                                          ": ",
                                                          names_.peer,
                                                          " did not begin its end within ",
                                                          timeout.count(),
                                                          " ms",
                                                          unanswered_notes(),
                                                          "; the connection is lost")));
    try {
      send({Note::Kind::kFarewell, Side::kSends, 0, c10::str(waited, "its ", transfer.what())});
    } catch (const c10::DistNetworkError&) {
      // Nobody is there to be told.
    }
  }
  end(make_error<c10::DistNetworkError>(c10::str(
      "the connection to ", names_.peer, " is lost: this rank ", waited, transfer.what())));
}

std::string Conversation::unanswered_notes() const {
  std::string notes;
  for (const auto& [key, same_key] : unanswered_) {
    for (const auto& note : same_key) {
      notes += (notes.empty() ? "; it began " : ", ") + to_string(note);
    }
  }
  return notes;
}

void Conversation::end(std::exception_ptr reason) {
  std::map<Key, std::deque<std::shared_ptr<PendingTransfer>>> pending;
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      ended_ = std::move(reason);
    }
    pending.swap(pending_);
    for (const auto& [key, transfers] : pending) {
      for (const auto& transfer : transfers) {
        transfer->fail(ended_);
      }
    }
  }
  for (const auto& [key, transfers] : pending) {
    for (const auto& transfer : transfers) {
      transfer->forget_proposal();
    }
  }
}

void Conversation::close() {
  end(make_error<c10::DistNetworkError>("the group is closed"));
  std::thread reader;
  {
    const std::lock_guard lock(mutex_);
    if (reading_) {
      reading_->abort();
    }
    reader.swap(reader_);
  }
  if (reader.get_id() == std::this_thread::get_id()) {
    reader.detach();  // the group's last handle was in a transfer that the reader just posted
  } else if (reader.joinable()) {
    reader.join();
  }
  const std::lock_guard lock(mutex_);
  reading_.reset();
  sent_.clear();
  connection_.reset();
}

}  // namespace tdref
