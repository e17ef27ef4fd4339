#include "fleet/serving/storing.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <charconv>

#include "arch/clock.hpp"
#include "fleet/order.hpp"
#include "fleet/snapshot_parts.hpp"
#include "fleet/store_row.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

// Behind which a frame that was not acknowledged goes to another collector.
constexpr std::int64_t kAckWait_ns = 15'000'000'000;
// Fetched and not acknowledged, by all collectors of a store.
constexpr std::int64_t kMostPending = 20'000;
constexpr int kFetched = 256;
constexpr std::int64_t kFetch_ms = 250;
// ClickHouse takes few large inserts better than many small ones.
constexpr std::uint64_t kGather_ns = 1'000'000'000;
constexpr std::size_t kMostRows = 8u << 20;
constexpr int kRetry_ms = 1000;
// A frame's last part is looked at again where others are missing, after 1, 2, 4 … 32 s. Meanwhile it counts as
// pending: of one host those of a few histograms may wait, each of which the stream has eight messages of, or nobody's
// frames would be given out any more.
constexpr std::int64_t kMissing_ms = 1000;
constexpr std::uint64_t kMostLooks = 7;
constexpr std::size_t kMostWaitingOfHost = 64;
constexpr std::uint64_t kMostWaiting_ns = 100'000'000'000;
// Of the largest frame, where a message may have 32 KB.
constexpr std::uint64_t kMostParts = 1024;
constexpr std::int64_t kLastWords_ms = 2000;
constexpr std::uint64_t kDropEvery_ns = 3'600'000'000'000;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

std::uint64_t deliveries_of(natsMsg* message) {
  jsMsgMetaData* data = nullptr;
  if (natsMsg_GetMetaData(&data, message) != NATS_OK) return 0;
  const std::uint64_t deliveries = data->NumDelivered;
  jsMsgMetaData_Destroy(data);
  return deliveries;
}

std::string durable_of(const StoreAddress& address) { return fmt::format("store_{:016x}", hash_of(address.shown())); }

void say(const std::string& what) {
  std::fputs(fmt::format("landtrace: collect: {}\n", what).c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace

Storing::Storing(const Transport& transport, const CollectOptions& options, StoreAddress address, int stop)
    : transport_(transport), options_(options), store_(address), durable_(durable_of(address)), stop_(stop) {}

bool Storing::is_stopped(int wait_ms) const {
  pollfd wanted{stop_, POLLIN, 0};
  return ::poll(&wanted, 1, wait_ms) > 0;
}

// The consumer is made apart: one that a subscription makes would go with it, and take what others have begun along.
Result<void> Storing::subscribe() {
  jsConsumerConfig config;
  jsConsumerConfig_Init(&config);
  config.Durable = durable_.c_str();
  config.FilterSubject = kHistSubjects;
  config.DeliverPolicy = js_DeliverAll;
  config.AckPolicy = js_AckExplicit;
  config.AckWait = kAckWait_ns;
  config.MaxAckPending = kMostPending;
  jsErrCode code{};
  natsStatus status = js_AddConsumer(nullptr, transport_.stream(), kStream, &config, nullptr, &code);
  if (status != NATS_OK) return nats_failure("frames for the store", status);
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = kStream;
  options.Consumer = durable_.c_str();
  natsSubscription* made = nullptr;
  status = js_PullSubscribe(&made, transport_.stream(), kHistSubjects, nullptr, nullptr, &options, &code);
  subscription_ = Subscription(made, Leave(transport_.connection()));
  if (status != NATS_OK) return nats_failure("frames for the store", status);
  return {};
}

Result<std::optional<std::string>> Storing::frame_of_part(const std::string& subject, std::string_view part) {
  LT_TRY(const FramePart last, decode_frame_part(part));
  if (last.offset + last.bytes.size() < last.size) return std::nullopt;
  const std::string host = host_part(subject);
  const std::uint64_t begin_ns = arch::monotonic_ns();
  if (!time_.has_some(host, begin_ns)) return fail(EAGAIN);
  Result<std::optional<std::string>> frame = frame_of_last(subject, last);
  const std::uint64_t end_ns = arch::monotonic_ns();
  time_.take(host, end_ns - begin_ns, end_ns);
  return frame;
}

// Each look takes a round trip: one at a part that does not go on where the one before it ended is the last.
Result<std::optional<std::string>> Storing::frame_of_last(const std::string& subject, const FramePart& last) const {
  const std::string whole = whole_of(subject).value();
  std::uint64_t parts = 0;
  std::from_chars(&subject[whole.size() + 1], subject.data() + subject.size(), parts);
  if (parts >= kMostParts || part_subject(whole, parts) != subject) return fail(EPROTO, "no number of a part");
  std::string frame;
  for (std::uint64_t number = 0; number < parts; ++number) {
    LT_TRY(const std::optional<std::string> bytes, transport_.newest(part_subject(whole, number)));
    if (!bytes) return fail(EAGAIN);
    LT_TRY(const FramePart known, decode_frame_part(*bytes));
    if (known.sequence > last.sequence) return std::nullopt;
    if (known.sequence < last.sequence) return fail(EAGAIN);
    const bool goes_on = known.size == last.size && known.hash == last.hash && known.offset == frame.size();
    if (!goes_on) return fail(EPROTO, "parts that are no frame");
    frame += known.bytes;
  }
  if (last.offset != frame.size()) return fail(EPROTO, "parts that are no frame");
  frame += last.bytes;
  if (hash_of(frame) != last.hash) return fail(EPROTO, "parts that are no frame");
  return frame;
}

void Storing::waits_no_more(const std::string& subject) {
  const auto of_host = waiting_.find(host_part(subject));
  if (of_host == waiting_.end()) return;
  of_host->second.erase(subject);
  if (of_host->second.empty()) waiting_.erase(of_host);
}

// What waits for longer was given to another collector, or has been replaced.
bool Storing::may_wait(const std::string& subject) {
  const std::uint64_t now_ns = arch::monotonic_ns();
  auto& of_host = waiting_[host_part(subject)];
  std::erase_if(of_host, [&](const auto& one) { return now_ns > one.second + kMostWaiting_ns; });
  if (!of_host.contains(subject) && of_host.size() >= kMostWaitingOfHost) return false;
  of_host.try_emplace(subject, now_ns);
  return true;
}

// Only what makes no sense, and what others have been looked for in vain for long, is given up: as long as nobody says
// what the stream has, as while its servers agree on a leader, it is not acknowledged, and comes again.
void Storing::leave(natsMsg* made, const std::string& subject, int why) {
  if (why != EAGAIN && why != EPROTO) return;
  const std::uint64_t looks = std::max<std::uint64_t>(deliveries_of(made), 1);
  if (why == EAGAIN && looks < kMostLooks && may_wait(subject)) {
    natsMsg_NakWithDelay(made, kMissing_ms << (looks - 1), nullptr);
    return;
  }
  waits_no_more(subject);
  natsMsg_Term(made, nullptr);
}

void Storing::take(natsMsg* made) {
  Message message(made);
  std::string subject = natsMsg_GetSubject(made);
  std::string bytes = text_of(made);
  if (const auto whole = whole_of(subject)) {
    Result<std::optional<std::string>> put_together = frame_of_part(subject, bytes);
    if (!put_together) return leave(made, subject, put_together.error().code);
    waits_no_more(subject);
    if (!*put_together) {
      messages_.push_back(std::move(message));
      return;
    }
    subject = *whole;
    bytes = **std::move(put_together);
  }
  const auto frame = decode_frame(bytes);
  // What makes no sense does so at another collector, too.
  if (!frame || !check_subject(subject, *frame)) {
    natsMsg_Term(made, nullptr);
    return;
  }
  append_row(rows_, *frame, static_cast<std::uint32_t>(wall_ns() / kNsPerSecond));
  messages_.push_back(std::move(message));
}

bool Storing::gather() {
  std::uint64_t end_ns = 0;
  while (!is_stopped(0)) {
    drop_old();
    natsMsgList list{};
    jsErrCode code{};
    const natsStatus status = natsSubscription_Fetch(&list, subscription_.get(), kFetched, kFetch_ms, &code);
    for (int i = 0; i < list.Count && !is_stopped(0); ++i) take(std::exchange(list.Msgs[i], nullptr));
    natsMsgList_Destroy(&list);
    if (end_ns == 0 && !messages_.empty()) end_ns = arch::monotonic_ns() + kGather_ns;
    if (!messages_.empty() && (rows_.size() >= kMostRows || arch::monotonic_ns() >= end_ns)) return true;
    // A server that is away comes again; a consumer that somebody has removed is made again.
    const bool is_well = status == NATS_OK || status == NATS_TIMEOUT;
    if (!is_well && !is_stopped(kRetry_ms)) std::ignore = subscribe();
  }
  return false;
}

bool Storing::wait_for_store() {
  std::string said;
  for (;;) {
    const auto there = store_.prepare();
    if (there) {
      if (!said.empty()) say("the store is there again");
      return true;
    }
    if (there.error().message != said) {
      said = there.error().message;
      say(said + "; frames wait in the stream");
    }
    if (is_stopped(kRetry_ms)) return false;
  }
}

// Until the store has them: they are nowhere else but in the stream, which gives them to others meanwhile.
void Storing::insert() {
  std::string said;
  for (;;) {
    const auto inserted = store_.insert(rows_);
    if (inserted) break;
    if (inserted.error().message != said) {
      said = inserted.error().message;
      say(said + "; frames wait in the stream");
    }
    if (is_stopped(kRetry_ms) || !wait_for_store()) return;
  }
  if (!said.empty()) say("the store is there again");
  for (const Message& message : messages_) natsMsg_Ack(message.get(), nullptr);
}

void Storing::drop_old() {
  const std::uint64_t now_ns = arch::monotonic_ns();
  if (now_ns < next_drop_ns_) return;
  next_drop_ns_ = now_ns + kDropEvery_ns;
  if (auto dropped = store_.drop_old(options_.keep_days); !dropped) {
    say(dropped.error().message);
  }
}

Result<void> Storing::run() {
  if (!wait_for_store()) return {};
  LT_CHECK(subscribe());
  while (gather()) {
    insert();
    messages_.clear();
    rows_.clear();
  }
  natsConnection_FlushTimeout(transport_.connection(), kLastWords_ms);
  return {};
}

Result<bool> Storing::has_all(const Transport& transport, const StoreAddress& address, Transport::Sequence sequence) {
  jsConsumerInfo* made = nullptr;
  jsErrCode code{};
  const natsStatus status =
      js_GetConsumerInfo(&made, transport.stream(), kStream, durable_of(address).c_str(), nullptr, &code);
  const std::unique_ptr<jsConsumerInfo, Destroyer<jsConsumerInfo_Destroy>> info(made);
  if (status != NATS_OK) return nats_failure("frames for the store", status);
  return info->AckFloor.Stream >= sequence || (info->NumPending == 0 && info->NumAckPending == 0);
}

}  // namespace landtrace::fleet
