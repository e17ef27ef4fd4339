#include "fleet/serving/transport.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "fleet/history.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::int64_t kReconnectWait_ms = 250;
// Of each histogram: that frames come in another order than they were sent in is nothing that happens over more.
constexpr std::int64_t kMostFrames = 8;
constexpr std::int64_t kSnapshotsKept_ns = 3600ll * 1'000'000'000;
constexpr std::int64_t kMostSnapshots = 1ll << 30;
constexpr std::int64_t kLeastSnapshots = 64ll << 20;
constexpr std::int64_t kReplicas = 3;

natsStatus set_tls(natsOptions* options, const Address& address) {
  natsStatus status = NATS_OK;
  if (address.is_tls()) status = natsOptions_SetSecure(options, true);
  if (status == NATS_OK && !address.ca.empty()) {
    status = natsOptions_LoadCATrustedCertificates(options, address.ca.c_str());
  }
  if (status == NATS_OK && !address.cert.empty()) {
    status = natsOptions_LoadCertificatesChain(options, address.cert.c_str(), address.key.c_str());
  }
  return status;
}

void pass_over(natsConnection*, void*) {}
// Without one libnats writes to stderr.
void pass_over_error(natsConnection*, natsSubscription*, natsStatus, void*) {}

Transport::Sequence sequence_of(natsMsg* message) {
  jsMsgMetaData* data = nullptr;
  const bool is_known = natsMsg_GetMetaData(&data, message) == NATS_OK;
  const Transport::Sequence sequence = is_known ? data->Sequence.Stream : 0;
  jsMsgMetaData_Destroy(data);
  return sequence;
}

tl::unexpected<Error> no_fleet() { return fail(ENOENT, "there is no fleet there: no host has joined it yet"); }

// Not destroyed: libnats 3.4 uses one that was while messages come for it, and dies of that in a flood. It keeps no
// more of them until its connection ends.
void leave(natsSubscription* subscription) { natsSubscription_SetPendingLimits(subscription, 1, 1); }

tl::unexpected<Error> cannot_connect(const Address& address, natsStatus status) {
  if (status == NATS_NO_SERVER || status == NATS_TIMEOUT) {
    return fail(ECONNREFUSED, nobody_answers(without_users(address.servers)));
  }
  return nats_failure("cannot connect to " + without_users(address.servers), status);
}

// libnats puts the name into JSON as it is: with a quote in it no server would let the connection in.
std::string name_for_server(std::string name) {
  const auto is_special = [](unsigned char c) { return c < ' ' || c == '"' || c == '\\'; };
  std::replace_if(name.begin(), name.end(), is_special, '?');
  return name;
}

}  // namespace

Result<Options> Transport::options_of(const Address& address, const std::string& name, std::int64_t patience_ms) {
  LT_TRY(const std::vector<std::string> servers, servers_of(address.servers));
  std::vector<const char*> pointers;
  for (const std::string& server : servers) pointers.push_back(server.c_str());
  natsOptions* made = nullptr;
  natsStatus status = natsOptions_Create(&made);
  Options options(made);
  const auto then = [&](const auto& set) {
    if (status == NATS_OK) status = set();
  };
  then([&] { return natsOptions_SetServers(made, pointers.data(), static_cast<int>(pointers.size())); });
  then([&] { return natsOptions_SetName(made, name_for_server(name).c_str()); });
  then([&] { return natsOptions_SetCustomInboxPrefix(made, inbox_of(user_of(address.servers)).c_str()); });
  then([&] { return natsOptions_SetTimeout(made, patience_ms); });
  then([&] { return natsOptions_SetMaxReconnect(made, -1); });
  then([&] { return natsOptions_SetReconnectWait(made, kReconnectWait_ms); });
  // Who asks while it is away hears that, and does not wait.
  then([&] { return natsOptions_SetFailRequestsOnDisconnect(made, true); });
  then([&] { return natsOptions_SetErrorHandler(made, pass_over_error, nullptr); });
  then([&] { return set_tls(made, address); });
  if (!address.creds.empty()) {
    then([&] { return natsOptions_SetUserCredentialsFromFiles(made, address.creds.c_str(), nullptr); });
  }
  if (status != NATS_OK) return nats_failure(without_users(address.servers), status);
  return options;
}

Result<Transport> Transport::made(Connection connection, const Address& address, std::int64_t patience_ms) {
  Transport transport;
  transport.inbox_ = inbox_of(user_of(address.servers));
  transport.connection_ = std::move(connection);
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = patience_ms;
  jsCtx* stream = nullptr;
  const natsStatus status = natsConnection_JetStream(&stream, transport.connection_.get(), &options);
  transport.stream_.reset(stream);
  if (status != NATS_OK) return nats_failure("JetStream", status);
  return transport;
}

Result<Transport> Transport::connect(const Address& address, const std::string& name) {
  LT_TRY(const Options options, options_of(address, name, kCommandPatience_ms));
  natsConnection* connection = nullptr;
  const natsStatus status = natsConnection_Connect(&connection, options.get());
  if (status != NATS_OK) return cannot_connect(address, status);
  return made(Connection(connection), address, kCommandPatience_ms);
}

Result<Transport> Transport::keep_connecting(const Address& address, const std::string& name) {
  LT_TRY(const Options options, options_of(address, name, kPatience_ms));
  natsStatus status = natsOptions_SetRetryOnFailedConnect(options.get(), true, pass_over, nullptr);
  if (status == NATS_OK) status = natsOptions_SetSendAsap(options.get(), true);
  if (status == NATS_OK) status = natsOptions_UseGlobalMessageDelivery(options.get(), true);
  if (status == NATS_OK) status = natsOptions_SetWriteDeadline(options.get(), kPatience_ms);
  if (status != NATS_OK) return nats_failure(without_users(address.servers), status);
  natsConnection* connection = nullptr;
  status = natsConnection_Connect(&connection, options.get());
  if (status != NATS_OK && status != NATS_NOT_YET_CONNECTED) return cannot_connect(address, status);
  return made(Connection(connection), address, kPatience_ms);
}

bool Transport::is_connected() const { return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED; }

std::uint64_t Transport::reconnects() const {
  natsStatistics* made = nullptr;
  if (natsStatistics_Create(&made) != NATS_OK) return 0;
  const std::unique_ptr<natsStatistics, Destroyer<natsStatistics_Destroy>> statistics(made);
  std::uint64_t reconnects = 0;
  natsConnection_GetStats(connection_.get(), made);
  natsStatistics_GetCounts(made, nullptr, nullptr, nullptr, nullptr, &reconnects);
  return reconnects;
}

std::size_t Transport::most_bytes() const {
  const std::int64_t most = natsConnection_GetMaxPayload(connection_.get());
  return most > 0 ? static_cast<std::size_t>(most) : 0;
}

std::int64_t Transport::replicas() const {
  char** servers = nullptr;
  int count = 0;
  if (natsConnection_GetServers(connection_.get(), &servers, &count) != NATS_OK) return 1;
  for (int i = 0; i < count; ++i) std::free(servers[i]);
  std::free(servers);
  return count >= kReplicas ? kReplicas : 1;
}

Result<void> Transport::prepare() {
  LT_CHECK(prepare_stream(replicas()));
  return prepare_bucket(replicas());
}

// Who may not look takes it to be there.
Result<void> Transport::add_stream(jsStreamConfig& config) {
  jsStreamInfo* info = nullptr;
  jsErrCode code{};
  natsStatus status = js_GetStreamInfo(&info, stream_.get(), config.Name, nullptr, &code);
  jsStreamInfo_Destroy(info);
  if (status != NATS_NOT_FOUND) return {};
  info = nullptr;
  status = js_AddStream(&info, stream_.get(), &config, nullptr, &code);
  jsStreamInfo_Destroy(info);
  if (status == NATS_OK || code == JSStreamNameExistErr) return {};
  return nats_failure(std::string("cannot make the stream ") + config.Name, status);
}

Result<void> Transport::prepare_stream(std::int64_t replicas) {
  std::array<const char*, 2> subjects{kStatusSubjects, kHistSubjects};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = kStream;
  config.Subjects = subjects.data();
  config.SubjectsLen = static_cast<int>(subjects.size());
  config.MaxMsgsPerSubject = kMostFrames;
  config.MaxAge = static_cast<std::int64_t>(kKept_ns);
  config.Replicas = replicas;
  return add_stream(config);
}

// The server sets the room aside: where it has less than that, less will do.
Result<void> Transport::prepare_snapshots() {
  std::array<const char*, 1> subjects{kSnapshotSubjects};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = kSnapshotStream;
  config.Subjects = subjects.data();
  config.SubjectsLen = static_cast<int>(subjects.size());
  config.MaxAge = kSnapshotsKept_ns;
  config.Replicas = replicas();
  Result<void> made;
  for (config.MaxBytes = kMostSnapshots; config.MaxBytes >= kLeastSnapshots; config.MaxBytes /= 4) {
    made = add_stream(config);
    if (made || made.error().code == ETIMEDOUT) break;
  }
  return made;
}

Result<void> Transport::remove_snapshots(const std::string& subjects) {
  jsOptions options;
  jsOptions_Init(&options);
  options.Wait = kPatience_ms;
  options.Stream.Purge.Subject = subjects.c_str();
  jsErrCode code{};
  const natsStatus status = js_PurgeStream(stream_.get(), kSnapshotStream, &options, &code);
  if (status != NATS_OK) return nats_failure(subjects, status);
  return {};
}

void Transport::pass_to_heard(natsConnection*, natsSubscription*, natsMsg* made, void* heard) {
  const Message message(made);
  (*static_cast<Heard*>(heard))(made);
}

// A subscription may be destroyed while it is told of a message.
void Transport::forget_heard(void* heard) { delete static_cast<Heard*>(heard); }

Result<Subscription> Transport::hear(const std::string& subjects, Heard heard) {
  auto kept = std::make_unique<Heard>(std::move(heard));
  natsSubscription* made = nullptr;
  const natsStatus status =
      natsConnection_Subscribe(&made, connection_.get(), subjects.c_str(), pass_to_heard, kept.get());
  Subscription subscription(made, Leave(connection_.get()));
  if (status != NATS_OK) return nats_failure(subjects, status);
  natsSubscription_SetOnCompleteCB(made, forget_heard, kept.release());
  return subscription;
}

// What libnats makes begins with the default prefix, whatever the connection's is.
Result<std::string> Transport::new_inbox() const {
  natsInbox* made = nullptr;
  const natsStatus status = natsInbox_Create(&made);
  const std::unique_ptr<natsInbox, Destroyer<natsInbox_Destroy>> inbox(made);
  if (status != NATS_OK) return nats_failure("a subject for answers", status);
  const std::string_view text(made);
  return inbox_ + std::string(text.substr(text.rfind('.')));
}

Result<void> Transport::send(const std::string& subject, const std::string& reply, const std::string& bytes) {
  const natsStatus status = natsConnection_PublishRequest(connection_.get(), subject.c_str(), reply.c_str(),
                                                          bytes.data(), static_cast<int>(bytes.size()));
  if (status != NATS_OK) return nats_failure(subject, status);
  return {};
}

// {"stream":…,"seq":…} or {"error":…}; nothing where no stream has the subject.
bool Transport::is_stored(const natsMsg* answer) {
  const std::string_view text(natsMsg_GetData(answer), static_cast<std::size_t>(natsMsg_GetDataLength(answer)));
  return !text.empty() && text.find("\"error\"") == std::string_view::npos;
}

Result<void> Transport::tell(const ToldLines& lines) {
  natsMsg* made = nullptr;
  natsStatus status =
      natsMsg_Create(&made, lines.subject.c_str(), nullptr, lines.lines.data(), static_cast<int>(lines.lines.size()));
  const Message message(made);
  if (status == NATS_OK) status = natsMsgHeader_Set(made, kLinesBefore, std::to_string(lines.before).c_str());
  if (status == NATS_OK) status = natsConnection_PublishMsg(connection_.get(), made);
  if (status != NATS_OK) return nats_failure(lines.subject, status);
  return {};
}

std::optional<std::uint64_t> Transport::lines_before(natsMsg* message) {
  const char* text = nullptr;
  std::uint64_t before = 0;
  if (natsMsgHeader_Get(message, kLinesBefore, &text) != NATS_OK) return std::nullopt;
  const std::string_view digits = text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), before);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return before;
}

Result<void> Transport::publish(const std::string& subject, const std::string& bytes) {
  jsPubOptions options;
  jsPubOptions_Init(&options);
  options.MaxWait = kPatience_ms;
  jsErrCode code{};
  const natsStatus status = js_Publish(nullptr, stream_.get(), subject.c_str(), bytes.data(),
                                       static_cast<int>(bytes.size()), &options, &code);
  if (status != NATS_OK) return nats_failure(subject, status);
  return {};
}

Result<Subscription> Transport::subscribe(const char* stream, const std::string& subjects, From from) {
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Ordered = true;
  return subscribe(stream, subjects, from, options);
}

Result<Subscription> Transport::subscribe(const char* stream, const std::string& subjects, From from,
                                          jsSubOptions& options) {
  options.Stream = stream;
  if (from == From::kNewest) options.Config.DeliverPolicy = js_DeliverLastPerSubject;
  natsSubscription* made = nullptr;
  jsErrCode code{};
  const natsStatus status = js_SubscribeSync(&made, stream_.get(), subjects.c_str(), nullptr, &options, &code);
  Subscription subscription(made, Leave(connection_.get()));
  if (status == NATS_NOT_FOUND || code == JSStreamNotFoundErr) return no_fleet();
  if (status != NATS_OK) return nats_failure(subjects, status);
  // As much as libnats takes in before it is read.
  natsSubscription_SetPendingLimits(made, -1, -1);
  return subscription;
}

// To the newest one that was there when the subscription was: with an older end a subject could be missing whose newest
// came between the two. The server's own counts of what is to come are wrong where many are sent and older ones dropped
// meanwhile: in a flood they were zero.
Result<std::vector<Outbox::Letter>> Transport::read(const std::string& subjects, From from) {
  constexpr std::int64_t kLook_ms = 200, kHeartbeat_ns = 5'000'000'000;
  std::vector<Outbox::Letter> read;
  // Not one that is begun again by itself where something is missing: that and its end may wait for each other for ever
  // (libnats 3.4).
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Config.AckPolicy = js_AckNone;
  options.Config.MemoryStorage = true;
  options.Config.Replicas = 1;
  options.Config.FlowControl = true;
  options.Config.Heartbeat = kHeartbeat_ns;
  LT_TRY(Subscription made_subscription, subscribe(kStream, subjects, from, options));
  const std::unique_ptr<natsSubscription, Destroyer<leave>> subscription(made_subscription.release());
  LT_TRY(Sequence newest, newest_of(subjects));
  Sequence last = 0;
  for (std::int64_t silent_ms = 0; last < newest;) {
    natsMsg* made = nullptr;
    const natsStatus status = natsSubscription_NextMsg(&made, subscription.get(), kLook_ms);
    const Message message(made);
    if (made != nullptr) {
      silent_ms = 0;
      read.push_back({natsMsg_GetSubject(made), text_of(made)});
      last = std::max(last, sequence_of(made));
      continue;
    }
    if (!goes_on(status)) return nats_failure(subjects, status);
    silent_ms += kLook_ms;
    // What was the newest one may have been removed, with none behind it.
    LT_TRY(const Sequence newest_now, newest_of(subjects));
    newest = std::min(newest, newest_now);
    if (silent_ms >= kCommandPatience_ms) return nats_failure("not all of " + subjects + " came", NATS_TIMEOUT);
  }
  return read;
}

bool Transport::goes_on(natsStatus status) {
  return status == NATS_TIMEOUT || status == NATS_SLOW_CONSUMER || status == NATS_MISMATCH ||
         status == NATS_MISSED_HEARTBEAT;
}

Result<std::optional<Outbox::Letter>> Transport::next(const Subscription& subscription, std::int64_t wait_ms) {
  natsMsg* made = nullptr;
  const natsStatus status = natsSubscription_NextMsg(&made, subscription.get(), wait_ms);
  const Message message(made);
  if (made != nullptr) return Outbox::Letter{natsMsg_GetSubject(made), text_of(made)};
  if (!goes_on(status)) return nats_failure("the stream", status);
  return std::nullopt;
}

std::uint64_t Transport::waiting(const Subscription& subscription) {
  std::uint64_t waiting = 0;
  return natsSubscription_QueuedMsgs(subscription.get(), &waiting) == NATS_OK ? waiting : 0;
}

Result<Message> Transport::newest_message(const std::string& subjects) const {
  natsMsg* made = nullptr;
  jsErrCode code{};
  const natsStatus status = js_GetLastMsg(&made, stream_.get(), kStream, subjects.c_str(), nullptr, &code);
  Message message(made);
  if (code == JSStreamNotFoundErr) return no_fleet();
  if (status != NATS_OK && status != NATS_NOT_FOUND) return nats_failure(subjects, status);
  return message;
}

Result<Transport::Sequence> Transport::newest_of(const std::string& subjects) const {
  LT_TRY(const Message message, newest_message(subjects));
  return message ? natsMsg_GetSequence(message.get()) : 0;
}

Result<std::optional<std::string>> Transport::newest(const std::string& subject) const {
  LT_TRY(const Message message, newest_message(subject));
  return message ? std::optional(text_of(message.get())) : std::nullopt;
}

Result<std::string> Transport::ask(const std::string& subject, const std::string& question) {
  natsMsg* made = nullptr;
  const natsStatus status =
      natsConnection_RequestString(&made, connection_.get(), subject.c_str(), question.c_str(), kPatience_ms);
  const Message message(made);
  if (status != NATS_OK) return nats_failure(subject, status);
  return text_of(made);
}

Result<std::string> Transport::ask_for_long(const std::string& subject, const std::string& question,
                                            std::int64_t patience_ms) {
  LT_TRY(const std::string inbox, new_inbox());
  natsSubscription* made = nullptr;
  natsStatus status = natsConnection_SubscribeSync(&made, connection_.get(), inbox.c_str());
  const Subscription answers(made, Leave(connection_.get()));
  if (status == NATS_OK) {
    status = natsConnection_PublishRequestString(connection_.get(), subject.c_str(), inbox.c_str(), question.c_str());
  }
  std::string answer;
  while (status == NATS_OK) {
    natsMsg* next = nullptr;
    status = natsSubscription_NextMsg(&next, made, patience_ms);
    const Message message(next);
    if (status != NATS_OK) break;
    if (natsMsg_IsNoResponders(next)) return nats_failure(subject, NATS_NO_RESPONDERS);
    const std::string text = text_of(next);
    if (text.starts_with(kIsError)) return fail(EIO, text.substr(1));
    answer += std::string_view(text).substr(std::min<std::size_t>(text.size(), 1));
    if (text.starts_with(kIsLast)) return answer;
  }
  return nats_failure(subject, status);
}

Result<void> Transport::follow(const std::string& subjects,
                               const std::function<void(const Outbox::Letter&, Sequence)>& take,
                               const std::function<bool()>& is_over) {
  constexpr std::int64_t kLook_ms = 200;
  LT_TRY(const Subscription subscription, subscribe(kStream, subjects));
  while (!is_over()) {
    natsMsg* made = nullptr;
    const natsStatus status = natsSubscription_NextMsg(&made, subscription.get(), kLook_ms);
    const Message message(made);
    if (status == NATS_OK) take({natsMsg_GetSubject(made), text_of(made)}, sequence_of(made));
    if (status != NATS_OK && !goes_on(status)) return nats_failure(subjects, status);
  }
  return {};
}

}  // namespace landtrace::fleet
