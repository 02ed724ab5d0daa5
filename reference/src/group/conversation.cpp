// SPDX-License-Identifier: BSD-3-Clause
#include "group/conversation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>
#include <gloo/common/error.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <limits>
#include <optional>

#include "codec/bytes.h"
#include "group/work.h"

namespace tdref {
namespace {

constexpr int kHeaderTag = 0;
constexpr int kTextTag = 1;
constexpr std::int64_t kHeaderLength = 7;
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

}  // namespace

Conversation::Conversation(std::shared_ptr<Connection> connection, int peer, Names names)
    : peer_(peer), names_(std::move(names)), connection_(std::move(connection)) {}

std::shared_ptr<PendingTransfer> Conversation::announce(Proposal proposal) {
  auto what = c10::str(proposal.note.side == Side::kSends ? "send to " : "receipt from ",
                       names_.peer,
                       " with first tag ",
                       proposal.note.first_tag);
  auto transfer = std::make_shared<PendingTransfer>(std::move(proposal), std::move(what));
  Post done;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  if (ended_) {
    std::rethrow_exception(ended_);
  }
  const Note& note = transfer->note();
  send(note);
  if (const auto answer = take_oldest(unanswered_, Key(other(note.side), note.first_tag))) {
    done = meet(transfer, *answer);
  } else {
    pending_[{note.side, note.first_tag}].push_back(transfer);
  }
  if (!reader_.joinable()) {
    reader_ = std::thread([self = shared_from_this()] { self->read(); });
  }
  return transfer;
}

const Works& Conversation::posted(PendingTransfer& transfer, std::chrono::milliseconds timeout) {
  if (!transfer.wait_until_settled(timeout)) {
    give_up(transfer, timeout);
  }
  return transfer.posted();
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
  const auto kind = static_cast<Note::Kind>(numbers[0]);
  const auto side = static_cast<Side>(numbers[1]);
  const auto first_tag = numbers[2];
  const auto read_by_peer = numbers[3];
  const auto bytes = numbers[4];
  TORCH_CHECK_VALUE(is_known(kind) && is_known(side) && first_tag >= 0 &&
                        first_tag <= std::numeric_limits<int>::max() && bytes >= 0 &&
                        bytes <= kMaxNoteBytes,
                    "a note that makes no sense: ",
                    c10::ArrayRef<std::int64_t>(numbers, kHeaderLength));
  const auto text = at::empty({bytes}, at::kByte);
  if (bytes > 0) {
    receive_into(text, kTextTag);
  }
  forget_read_notes(read_by_peer);
  const Digest digest{static_cast<std::uint64_t>(numbers[5]),
                      static_cast<std::uint64_t>(numbers[6])};
  return {kind, side, static_cast<int>(first_tag), std::string(as_bytes(text)), digest};
}

void Conversation::receive_into(const at::Tensor& tensor, int tag) {
  c10::intrusive_ptr<c10d::Work> message;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      std::rethrow_exception(ended_);
    }
    std::vector<at::Tensor> tensors{tensor};
    message = post(*connection_,
                   [&](c10d::Backend& backend) { return backend.recv(tensors, peer_, tag); });
    reading_ = message;
  }
  wait_for(
      *message, [] { return "note"; }, kForever);
}

void Conversation::deliver(const Note& note) {
  if (note.kind == Note::Kind::kFarewell) {
    end(make_error<c10::DistNetworkError>(
        c10::str("the connection to ", names_.peer, " is lost: it ", note.text)));
    return;
  }
  Post done;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  ++notes_received_;
  if (note.kind == Note::Kind::kDetails) {
    done = explain_difference(note);
  } else if (const auto met = take_oldest(pending_, Key(other(note.side), note.first_tag))) {
    done = meet(*met, note);
  } else {
    unanswered_[{note.side, note.first_tag}].push_back(note);
  }
}

Conversation::Post Conversation::meet(const std::shared_ptr<PendingTransfer>& transfer,
                                      const Note& theirs) {
  const Note& ours = transfer->note();
  if (theirs.kind == Note::Kind::kRefusal) {
    return transfer->settle(c10::str(names_.peer, " refused: ", theirs.text));
  }
  if (ours.kind == Note::Kind::kRefusal || ours.digest == theirs.digest) {
    return transfer->settle(std::nullopt);
  }
  differing_[{ours.side, ours.first_tag}].push_back(transfer);
  send({Note::Kind::kDetails, ours.side, ours.first_tag, transfer->description().text()});
  return nullptr;
}

Conversation::Post Conversation::explain_difference(const Note& details) {
  const auto transfer = take_oldest(differing_, Key(other(details.side), details.first_tag));
  TORCH_CHECK_VALUE(transfer.has_value(), "details that nobody asked for");
  const Side side = other(details.side);
  return (*transfer)->settle(difference({side, (*transfer)->description().text(), names_.self},
                                        {details.side, details.text, names_.peer}));
}

void Conversation::send(const Note& note) {
  check_note_bytes(note.text.size());
  const auto bytes = static_cast<std::int64_t>(note.text.size());
  Messages messages;
  messages.push_back(send_message(at::tensor({static_cast<std::int64_t>(note.kind),
                                              static_cast<std::int64_t>(note.side),
                                              std::int64_t{note.first_tag},
                                              notes_received_,
                                              bytes,
                                              static_cast<std::int64_t>(note.digest.high),
                                              static_cast<std::int64_t>(note.digest.low)},
                                             at::kLong),
                                  kHeaderTag));
  if (bytes > 0) {
    messages.push_back(send_message(as_tensor(note.text), kTextTag));
  }
  sent_.push_back(std::move(messages));
}

c10::intrusive_ptr<c10d::Work> Conversation::send_message(const at::Tensor& tensor, int tag) {
  std::vector<at::Tensor> tensors{tensor};
  try {
    return post(*connection_,
                [&](c10d::Backend& backend) { return backend.send(tensors, peer_, tag); });
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
    Post done;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    if (transfer.is_settled()) {
      return;
    }
    done = transfer.fail(make_error<c10d::TimeoutError>(c10::str(transfer.what(),
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
  std::vector<Post> done;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  if (!ended_) {
    ended_ = std::move(reason);
  }
  for (auto* unsettled : {&pending_, &differing_}) {
    for (const auto& [key, transfers] : *unsettled) {
      for (const auto& transfer : transfers) {
        done.push_back(transfer->fail(ended_));
      }
    }
    unsettled->clear();
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

Works works_of(const std::shared_ptr<Conversation>& conversation,
               const std::shared_ptr<PendingTransfer>& transfer,
               std::size_t count,
               std::chrono::milliseconds timeout) {
  return works_from(
      [conversation, transfer](std::chrono::milliseconds left) -> const Works& {
        return conversation->posted(*transfer, left);
      },
      count,
      timeout);
}

}  // namespace tdref
