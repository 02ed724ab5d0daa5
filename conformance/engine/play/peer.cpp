// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/peer.h"

#include "engine/input/json_reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

Exited decode_exited(const json& message) {
  JsonReader reader(message, "`exited`");
  reader.string("type");
  const Exited exited{
      reader.integer("pid"), reader.optional_integer("status"), reader.optional_integer("signal")};
  reader.finish();
  return exited;
}

}  // namespace

std::int64_t Peer::send(const std::string& request, json fields) {
  const std::int64_t seq = next_seq_++;
  fields["seq"] = seq;
  fields["type"] = request;
  unanswered_[seq] = request;
  channel_.send(fields);
  return seq;
}

void Peer::receive() {
  channel_.receive();
  try {
    while (!violation_) {
      std::optional<json> message = channel_.take();
      if (!message) return;
      decode(std::move(*message));
    }
  } catch (const ProtocolError& error) {
    violation_ = error.what();
  }
}

void Peer::decode(json message) {
  if (!message.is_object())
    throw ProtocolError(concat("a line is no JSON object: ", message.dump()));
  if (message.value("type", json()) == "exited") {
    exited_.push_back(decode_exited(message));
    return;
  }
  const auto seq = message.find("seq");
  if (seq == message.end() || !seq->is_number_integer())
    throw ProtocolError("an answer has no integer `seq`");
  const auto request = unanswered_.find(seq->get<std::int64_t>());
  if (request == unanswered_.end()) {
    throw ProtocolError(
        concat("an answer has the `seq` ", seq->dump(), ", which no open request has"));
  }
  Answer answer = decode_answer(message, request->second);
  replies_.push_back({request->first, request->second, std::move(answer), std::move(message)});
  unanswered_.erase(request);
}

std::optional<Reply> Peer::take_reply() {
  if (replies_.empty()) return std::nullopt;
  Reply reply = std::move(replies_.front());
  replies_.pop_front();
  return reply;
}

std::optional<Exited> Peer::take_exited() {
  if (exited_.empty()) return std::nullopt;
  const Exited exited = exited_.front();
  exited_.pop_front();
  return exited;
}

}  // namespace tdconf
