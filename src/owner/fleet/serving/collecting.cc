#include "fleet/serving/collecting.hpp"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kGroup = "collectors";

// Less than who asks waits for.
constexpr auto kPatience = std::chrono::milliseconds(1500);

// What questions are answered from, in a thread of libnats.
struct Collected {
  std::mutex mutex;
  std::condition_variable has_grown;
  Sums sums;
  Transport::Sequence taken = 0;  // all up to there is in the sums
};

struct Question {
  Transport::Sequence sequence = 0;
  std::string order;
  std::string by;

  static std::optional<Question> parse(const std::string& text) {
    const std::size_t first = text.find(' ');
    const std::size_t second = text.find(' ', first + 1);
    if (first == std::string::npos || second == std::string::npos) return std::nullopt;
    Question question{0, text.substr(first + 1, second - first - 1), text.substr(second + 1)};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + first, question.sequence);
    if (error != std::errc() || rest != text.data() + first) return std::nullopt;
    return question;
  }
};

std::string answer_to(Collected& collected, const Question& question) {
  std::unique_lock lock(collected.mutex);
  const auto is_there = [&] { return collected.taken >= question.sequence; };
  if (!collected.has_grown.wait_for(lock, kPatience, is_there)) return {kUnanswered};
  return kAnswered + encode(answer_of(collected.sums, question.order, question.by));
}

void answer(natsConnection* connection, natsSubscription*, natsMsg* made, void* of) {
  const Message message(made);
  const auto question = Question::parse(text_of(made));
  std::string bytes = question ? answer_to(*static_cast<Collected*>(of), *question) : std::string{kUnanswered};
  const std::int64_t most = natsConnection_GetMaxPayload(connection);
  if (most > 0 && bytes.size() > static_cast<std::size_t>(most)) bytes = kUnanswered;
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
    frame.slowest = std::move(sum.slowest);
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
  const auto take = [&](const Outbox::Letter& frame, Transport::Sequence sequence) {
    const std::lock_guard lock(collected.mutex);
    std::ignore = collected.sums.add(frame.subject, frame.bytes);
    collected.taken = std::max(collected.taken, sequence);
    collected.has_grown.notify_all();
  };
  const Result<void> followed = transport.follow(kHistSubjects, take, [&] { return is_stopped(stop); });
  natsSubscription_Unsubscribe(made);
  return followed;
}

}  // namespace landtrace::fleet
