#include "fleet/serving/collecting.hpp"

#include <poll.h>

#include <algorithm>
#include <mutex>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kGroup = "collectors";

// What questions are answered from, in threads of libnats.
struct Collected {
  std::mutex mutex;
  Sums sums;
};

void answer(natsConnection* connection, natsSubscription*, natsMsg* made, void* of) {
  const Message question(made);
  const std::string text = text_of(made);
  const std::size_t space = std::min(text.find(' '), text.size());
  auto& collected = *static_cast<Collected*>(of);
  std::string bytes;
  {
    const std::lock_guard lock(collected.mutex);
    bytes = encode(answer_of(collected.sums, text.substr(0, space), text.substr(std::min(space + 1, text.size()))));
  }
  natsConnection_Publish(connection, natsMsg_GetReply(made), bytes.data(), static_cast<int>(bytes.size()));
}

bool is_stopped(int stop) {
  pollfd wanted{stop, POLLIN, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

}  // namespace

std::vector<Frame> answer_of(const Sums& sums, const std::string& order, const std::string& by) {
  std::vector<std::string> labels;
  for (std::string_view rest = by; !rest.empty();) {
    labels.emplace_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), labels.back().size() + 1));
  }
  std::vector<Frame> frames;
  for (Sum& sum : sums.of(order, labels)) {
    Frame& frame = frames.emplace_back();
    frame.host = std::to_string(sum.hosts);
    for (const std::string& misfit : sum.misfits) frame.host.append(" ").append(misfit);
    frame.order = order;
    frame.event = sum.event;
    frame.unpaired = sum.unpaired;
    frame.table = std::move(sum.table);
  }
  return frames;
}

Result<void> collect(Transport& transport, int stop) {
  LT_CHECK(transport.prepare());
  static Collected collected;  // a question may be answered until the very end
  natsSubscription* made = nullptr;
  const natsStatus status = natsConnection_QueueSubscribe(&made, transport.connection(), kQuestions, kGroup, answer,
                                                          &collected);
  const Subscription questions(made);
  if (status != NATS_OK) return nats_failure(kQuestions, status);
  const auto take = [&](const Outbox::Letter& frame) {
    const std::lock_guard lock(collected.mutex);
    std::ignore = collected.sums.add(frame.subject, frame.bytes);
  };
  const Result<void> followed = transport.follow(kHistSubjects, take, [&] { return is_stopped(stop); });
  natsSubscription_Unsubscribe(made);
  return followed;
}

}  // namespace landtrace::fleet
