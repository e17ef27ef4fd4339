// The bucket of orders.
#include "fleet/serving/transport.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::int32_t kMostOrderBytes = 64 * 1024;
constexpr std::int64_t kLook_ms = 200;
constexpr const char* kOperation = "KV-Operation";  // of an entry that says that there is none any more

std::string subject_of_order(const std::string& id) { return std::string("$KV.") + kOrders + "." + id; }

}  // namespace

Result<void> Transport::open_bucket() {
  if (bucket_) return {};
  kvStore* bucket = nullptr;
  const natsStatus status = js_KeyValue(&bucket, stream_.get(), kOrders);
  bucket_.reset(bucket);
  if (status != NATS_OK) return nats_failure(std::string("the bucket ") + kOrders, status);
  return {};
}

Result<void> Transport::prepare_bucket(std::int64_t replicas) {
  const auto opened = open_bucket();
  if (opened || opened.error().code != ENOENT) return opened;
  kvConfig config;
  kvConfig_Init(&config);
  config.Bucket = kOrders;
  config.History = 1;
  config.MaxValueSize = kMostOrderBytes;
  config.Replicas = static_cast<int>(replicas);
  kvStore* bucket = nullptr;
  const natsStatus status = js_CreateKeyValue(&bucket, stream_.get(), &config);
  bucket_.reset(bucket);
  // Somebody else may have been quicker.
  if (status == NATS_OK || open_bucket()) return {};
  return nats_failure(std::string("cannot make the bucket ") + kOrders, status);
}

Result<Subscription> Transport::hear_orders(Heard heard) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Stream = kOrdersStream;
  options.Ordered = true;
  options.Config.DeliverPolicy = js_DeliverLastPerSubject;
  // libnats has 5 s: of thousands of hosts that alone would be much.
  options.Config.Heartbeat = 10'000'000'000;
  auto kept = std::make_unique<Heard>(std::move(heard));
  natsSubscription* made = nullptr;
  jsErrCode code{};
  const natsStatus status =
      js_Subscribe(&made, stream_.get(), kOrderSubjects, pass_to_heard, kept.get(), nullptr, &options, &code);
  Subscription subscription(made, Leave(connection_.get()));
  if (status != NATS_OK) return nats_failure(kOrders, status);
  natsSubscription_SetOnCompleteCB(made, forget_heard, kept.release());
  return subscription;
}

Result<Transport::BucketState> Transport::bucket_state() {
  jsStreamInfo* info = nullptr;
  const natsStatus status = js_GetStreamInfo(&info, stream_.get(), kOrdersStream, nullptr, nullptr);
  if (status == NATS_TIMEOUT && is_refused()) return fail(EACCES, "this user may not ask for the bucket of orders");
  if (status != NATS_OK) return nats_failure(kOrders, status);
  const BucketState state{info->State.Msgs, static_cast<std::uint64_t>(info->State.NumSubjects), info->State.LastSeq};
  jsStreamInfo_Destroy(info);
  return state;
}

// The server gives no answer to who may not, but libnats hears of that at once. It may have been about something else
// that was asked for before.
std::string Transport::refusal() const {
  const char* text = nullptr;
  const bool is_refusal = natsConnection_GetLastError(connection_.get(), &text) == NATS_NOT_PERMITTED;
  return is_refusal && text != nullptr ? text : "";
}

bool Transport::is_refused(const std::string& before) const {
  const std::string now = refusal();
  return !now.empty() && now != before;
}

Result<void> Transport::change_order(natsMsg* change, const std::string& what_failed) {
  natsInbox* made = nullptr;
  natsStatus status = natsInbox_Create(&made);
  const std::unique_ptr<natsInbox, Destroyer<natsInbox_Destroy>> only_once(made);
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MsgId = made;
  options.MaxWait = kLook_ms;
  if (status != NATS_OK) return nats_failure(what_failed, status);
  const std::string before = refusal();
  for (std::int64_t waited_ms = 0; waited_ms < kCommandPatience_ms; waited_ms += options.MaxWait) {
    status = js_PublishMsg(nullptr, stream_.get(), change, &options, nullptr);
    if (status == NATS_OK) return {};
    if (status != NATS_TIMEOUT) return nats_failure(what_failed, status);
    if (is_refused(before)) return fail(EACCES, what_failed + ": may this user give orders?");
  }
  return fail(ETIMEDOUT, "the server has not said that it took this; what it has is told by landtrace fleet orders");
}

Result<void> Transport::put_order(const std::string& id, const std::string& json) {
  LT_CHECK(open_bucket());
  natsMsg* made = nullptr;
  const natsStatus status =
      natsMsg_Create(&made, subject_of_order(id).c_str(), nullptr, json.data(), static_cast<int>(json.size()));
  const Message change(made);
  if (status != NATS_OK) return nats_failure("the order was not taken", status);
  return change_order(made, "the order was not taken");
}

Result<bool> Transport::has_order(const std::string& id) {
  LT_CHECK(open_bucket());
  const std::string subject = subject_of_order(id);
  const std::string before = refusal();
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = kLook_ms;
  for (std::int64_t waited_ms = 0; waited_ms < kCommandPatience_ms; waited_ms += options.Wait) {
    natsMsg* made = nullptr;
    const natsStatus status = js_GetLastMsg(&made, stream_.get(), kOrdersStream, subject.c_str(), &options, nullptr);
    const Message newest(made);
    const char* ended = nullptr;
    if (status == NATS_NOT_FOUND) return false;
    if (status == NATS_OK) {
      return natsMsg_GetSubject(made) == subject && natsMsgHeader_Get(made, kOperation, &ended) != NATS_OK;
    }
    if (status != NATS_TIMEOUT) return nats_failure("orders", status);
    if (is_refused(before)) return fail(EACCES, "this user may not ask for the bucket of orders");
  }
  return fail(ETIMEDOUT, "the server does not say which orders there are");
}

// Deleted, not purged: where a key is purged, nats-server before 2.10.11 passes over what it has not told of others.
// The bucket has one entry of each key, so nothing is kept by that.
Result<void> Transport::remove_order(const std::string& id) {
  LT_CHECK(open_bucket());
  natsMsg* made = nullptr;
  natsStatus status = natsMsg_Create(&made, subject_of_order(id).c_str(), nullptr, nullptr, 0);
  const Message change(made);
  if (status == NATS_OK) status = natsMsgHeader_Set(made, kOperation, "DEL");
  if (status != NATS_OK) return nats_failure("the order was not ended", status);
  return change_order(made, "the order was not ended");
}

}  // namespace landtrace::fleet
