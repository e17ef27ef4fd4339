#include "fleet/serving/collecting.hpp"

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "arch/clock.hpp"
#include "fleet/memory_history.hpp"
#include "fleet/order.hpp"
#include "fleet/serving/questions.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kGroup = "collectors";

// Less than who asks waits for.
constexpr auto kPatience = std::chrono::milliseconds(1500);

// Of frames that come faster than that, what they change is found out when somebody asks.
constexpr std::size_t kLooksPerSecond = 500;

constexpr std::uint64_t kForgetEvery_ns = 600'000'000'000;

// What questions are answered from, in a thread of libnats.
struct Collected {
  explicit Collected(std::uint64_t memory) : history(memory) {}

  std::mutex mutex;
  std::condition_variable has_grown;
  FrameParts parts;
  Sums sums;
  MemoryHistory history;
  std::uint64_t next_looks_ns = 0;
  std::uint64_t next_forgetting_ns = 0;
  Transport::Sequence taken = 0;  // all up to there is in the sums

  void add(const std::string& subject, std::string_view frame) {
    std::ignore = sums.add(subject, frame, arch::monotonic_ns());
    std::ignore = history.add(subject, frame, wall_ns());
  }
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

// Without what does not come in time: the answer says so.
Result<std::string> answer_from_memory(Collected& collected, const std::string& text) {
  LT_TRY(HistoryQuestion question, history_question_of(text));
  std::unique_lock lock(collected.mutex);
  const auto is_there = [&] { return collected.taken >= question.sequence; };
  const bool is_behind = !collected.has_grown.wait_for(lock, kPatience, is_there);
  LT_TRY(History history, collected.history.answer(std::move(question)));
  history.is_behind = is_behind;
  lock.unlock();
  return bytes_of(history);
}

void take(Collected& collected, const Outbox::Letter& frame, Transport::Sequence sequence) {
  const std::lock_guard lock(collected.mutex);
  const std::uint64_t now_ns = arch::monotonic_ns();
  if (now_ns >= collected.next_looks_ns) {
    collected.next_looks_ns = now_ns + 1'000'000'000;
    collected.history.look_at(kLooksPerSecond);
  }
  // As the stream does: what is told is the same with and without a collector.
  if (now_ns >= collected.next_forgetting_ns) {
    collected.next_forgetting_ns = now_ns + kForgetEvery_ns;
    collected.sums.forget_before(now_ns - std::min(now_ns, Transport::kKept_ns));
  }
  if (const auto whole = whole_of(frame.subject)) {
    const auto put_together = collected.parts.add(*whole, frame.bytes);
    if (put_together && *put_together) collected.add(*whole, **put_together);
  } else {
    collected.add(frame.subject, frame.bytes);
  }
  collected.taken = std::max(collected.taken, sequence);
  collected.has_grown.notify_all();
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

Result<void> collect(Transport& transport, std::uint64_t memory, int stop) {
  LT_CHECK(transport.prepare());
  static Collected collected(memory);  // a question may be answered until the very end
  natsSubscription* made = nullptr;
  const natsStatus status = natsConnection_QueueSubscribe(&made, transport.connection(), kQuestions, kGroup, answer,
                                                          &collected);
  const Subscription questions(made, Leave(transport.connection()));
  if (status != NATS_OK) return nats_failure(kQuestions, status);
  Questions of_history;
  LT_CHECK(of_history.listen(transport, kMemoryQuestions,
                             [](const std::string& question) { return answer_from_memory(collected, question); }));
  const auto take_one = [](const Outbox::Letter& frame, Transport::Sequence sequence) {
    take(collected, frame, sequence);
  };
  const Result<void> followed = transport.follow(kHistSubjects, take_one, [&] { return is_stopped(stop); });
  natsSubscription_Unsubscribe(made);
  return followed;
}

}  // namespace landtrace::fleet
