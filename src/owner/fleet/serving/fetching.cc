#include "fleet/serving/fetching.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <map>

#include "arch/clock.hpp"
#include "base/fd.hpp"
#include "fleet/fetched.hpp"
#include "fleet/roster.hpp"
#include "fleet/serving/signature.hpp"
#include "fleet/subjects.hpp"
#include "fleet/take_waiting.hpp"
#include "fleet/where.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kLook_ms = 20;
// Within this hosts see the order, and compare their clocks.
constexpr std::uint64_t kAhead_ns = 500 * kNsPerMs;

// In a thread of libnats.
void tell_time(natsConnection* connection, natsSubscription*, natsMsg* made, void*) {
  const std::uint64_t heard_ns = arch::monotonic_ns();
  const Message message(made);
  if (natsMsg_GetReply(made) == nullptr) return;
  const std::string answer = clock_answer(heard_ns, arch::monotonic_ns());
  natsConnection_Publish(connection, natsMsg_GetReply(made), answer.data(), static_cast<int>(answer.size()));
}

// A host that the order is for.
struct Source {
  Fetched fetched;
  Assembly assembly;
  std::uint64_t last_ns = 0;  // when something of it came
  bool is_done = false;
};

class Fetching {
 public:
  Fetching(Transport& transport, Order order, const FetchOptions& options)
      : transport_(transport),
        order_(std::move(order)),
        folder_(options.folder),
        key_(options.key),
        patience_ns_(options.patience_ms * kNsPerMs) {}

  Result<void> find_hosts();
  Result<void> run();
  Result<void> write_hosts() const;

 private:
  Result<void> take(const Outbox::Letter& letter);
  Result<void> take_part(Source& source, const std::string& message);
  // It is open for a moment: there may be more hosts than files that a process may have open.
  [[nodiscard]] Result<Fd> open_file(const Source& source, int flags) const;
  Result<void> take_status(const Outbox::Letter& letter);
  Result<void> put_order() const;
  void give_up(std::uint64_t known_ns);
  void finish(Source& source);
  [[nodiscard]] std::uint64_t hash_of_file(const Source& source, std::uint64_t size) const;
  static void end_with(Source& source, const std::string& problem);
  [[nodiscard]] bool is_done() const;

  Transport& transport_;
  Order order_;
  const std::string folder_;
  const std::string key_;
  const std::uint64_t patience_ns_;
  std::map<std::string, Source> sources_;  // by the subject of their snapshot
};

std::string subject_of(const Fetched& of, const std::string& order) {
  return snapshot_subject(of.domain, of.host, order);
}

Result<void> Fetching::find_hosts() {
  LT_TRY(const Where where, Where::parse(order_.where));
  LT_TRY(const std::vector<Outbox::Letter> said, transport_.read(kStatusSubjects));
  std::map<std::string, Status> newest;
  for (const Outbox::Letter& one : said) {
    auto status = status_in(one.subject, one.bytes);
    if (!status) continue;
    const auto [known, is_first] = newest.try_emplace(one.subject, *status);
    if (!is_first && is_newer(*status, known->second)) known->second = *std::move(status);
  }
  const std::uint64_t now_ns = wall_ns();
  for (const auto& [subject, status] : newest) {
    if (!where.matches(status.all_labels())) continue;
    Source source;
    source.fetched.host = status.host;
    source.fetched.domain = status.domain;
    if (status.is_away(now_ns)) {
      end_with(source, fmt::format("away for {} s", (now_ns - status.time_ns) / (1000 * kNsPerMs)));
    }
    sources_.emplace(subject_of(source.fetched, order_.id), std::move(source));
  }
  if (!sources_.empty()) return {};
  return fail(ENOENT, order_.where.empty() ? "there is no host yet: landtraced --fleet joins one"
                                           : "there is no host where " + order_.where);
}

// Nothing of what has come of it is merged.
void Fetching::end_with(Source& source, const std::string& problem) {
  source.fetched.problem = problem;
  source.fetched.file.clear();
  source.fetched.end.reset();
  source.is_done = true;
}

bool Fetching::is_done() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const auto& one) { return one.second.is_done; });
}

Result<Fd> Fetching::open_file(const Source& source, int flags) const {
  const std::string path = folder_ + "/" + source.fetched.file;
  Fd file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file) return fail_errno("open " + path);
  return file;
}

Result<void> Fetching::take_part(Source& source, const std::string& message) {
  const auto part = part_of_snapshot(message);
  if (!part || !source.assembly.add(*part)) return {};
  if (source.fetched.file.empty()) {
    source.fetched.file =
        fmt::format("{}.dat", std::distance(sources_.begin(), sources_.find(subject_of(source.fetched, order_.id))));
  }
  LT_TRY(const Fd file, open_file(source, O_WRONLY | O_CREAT));
  for (std::size_t done = 0; done < part->bytes.size();) {
    const ssize_t size = ::pwrite(file.get(), part->bytes.data() + done, part->bytes.size() - done,
                                  static_cast<off_t>(part->offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return fail_errno(folder_);
    done += static_cast<std::size_t>(size);
  }
  return {};
}

// What another host says of itself does not come under its subject.
Result<void> Fetching::take(const Outbox::Letter& letter) {
  const std::size_t dot = letter.subject.rfind('.');
  const auto found = sources_.find(letter.subject.substr(0, dot));
  if (found == sources_.end() || found->second.is_done) return {};
  Source& source = found->second;
  const auto progress = [&] { return std::pair(source.assembly.end().has_value(), source.assembly.there()); };
  const auto before = progress();
  if (letter.subject.substr(dot + 1) == kSnapshotEnd) {
    if (const auto end = snapshot_end_of(letter.bytes)) source.assembly.finish(*end);
  } else {
    LT_CHECK(take_part(source, letter.bytes));
  }
  // What changes nothing keeps nobody waiting.
  if (progress() > before) source.last_ns = arch::monotonic_ns();
  if (source.assembly.is_complete()) finish(source);
  return {};
}

// Whether it is what was sent.
void Fetching::finish(Source& source) {
  source.is_done = true;
  source.fetched.end = source.assembly.end();
  const SnapshotEnd& end = *source.fetched.end;
  if (end.bytes == 0) source.fetched.file.clear();
  if (hash_of_file(source, end.bytes) != end.hash) end_with(source, "what came is not what was sent: try it again");
}

std::uint64_t Fetching::hash_of_file(const Source& source, std::uint64_t size) const {
  std::uint64_t hash = kHashOfNothing;
  if (size == 0) return hash;
  const auto file = open_file(source, O_RDONLY);
  std::string bytes(kMostPartBytes, '\0');
  for (std::uint64_t at = 0; file && at < size;) {
    const ssize_t read =
        ::pread(file->get(), bytes.data(), std::min<std::uint64_t>(bytes.size(), size - at), static_cast<off_t>(at));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) break;
    hash = hash_of(std::string_view(bytes).substr(0, static_cast<std::size_t>(read)), hash);
    at += static_cast<std::uint64_t>(read);
  }
  return hash;
}

Result<void> Fetching::take_status(const Outbox::Letter& letter) {
  const auto status = status_in(letter.subject, letter.bytes);
  if (!status) return {};
  const auto found = sources_.find(snapshot_subject(status->domain, status->host, order_.id));
  if (found == sources_.end() || found->second.is_done) return {};
  for (const OrderState& state : status->orders) {
    if (state.id != order_.id || state.now != OrderState::Now::kRefused) continue;
    end_with(found->second, state.refusals.empty() ? "it refuses" : state.refusals.front().reason);
  }
  return {};
}

// All that had come by `known_ns` has been taken.
void Fetching::give_up(std::uint64_t known_ns) {
  for (auto& [subject, source] : sources_) {
    if (source.is_done) continue;
    const bool has_ended = wall_ns() >= order_.until_ns;
    if (!has_ended && known_ns < std::max(source.last_ns, order_.moment_ns) + patience_ns_) continue;
    const std::uint64_t there = source.assembly.there();
    const double seconds = static_cast<double>(patience_ns_) / (1000.0 * kNsPerMs);
    if (there == 0 && !source.assembly.end()) {
      end_with(source, fmt::format("no answer {}; a host of this version needs leave to publish "
                                   "landtrace.*.*.snapshot.> and landtrace.*.*.clock.*",
                                   has_ended ? "until the order's end (--for)" : fmt::format("within {} s", seconds)));
    } else if (has_ended) {
      end_with(source, fmt::format("only {} bytes of its snapshot came until the order's end (--for)", there));
    } else {
      end_with(source, fmt::format("only {} bytes of its snapshot came, and then nothing for {} s", there, seconds));
    }
  }
}

Result<void> Fetching::put_order() const {
  std::string json = json_of(order_);
  if (!key_.empty()) {
    LT_TRY(json, sign_order(json, key_));
  }
  return transport_.put_order(order_.id, json);
}

Result<void> Fetching::run() {
  natsSubscription* made = nullptr;
  const std::string clocks = clocks_of(order_.id);
  const natsStatus status =
      natsConnection_Subscribe(&made, transport_.connection(), clocks.c_str(), tell_time, nullptr);
  const Subscription questions(made);
  if (status != NATS_OK) return nats_failure(clocks, status);
  LT_TRY(const Subscription parts, transport_.subscribe(kSnapshotStream, snapshots_of(order_.id)));
  LT_TRY(const Subscription statuses, transport_.subscribe(kStream, kStatusSubjects));
  order_.moment_ns = arch::monotonic_ns() + kAhead_ns;
  if (!is_done()) LT_CHECK(put_order());
  while (!is_done()) {
    const std::uint64_t known_ns = arch::monotonic_ns();
    LT_CHECK(take_waiting(
        Transport::waiting(parts), [&] { return Transport::next(parts, kLook_ms); },
        [&](const Outbox::Letter& letter) { return take(letter); }));
    LT_CHECK(take_waiting(
        Transport::waiting(statuses), [&] { return Transport::next(statuses, 1); },
        [&](const Outbox::Letter& letter) { return take_status(letter); }));
    give_up(known_ns);
  }
  return {};
}

Result<void> Fetching::write_hosts() const {
  const std::string path = folder_ + "/" + kHostsFile;
  std::ofstream file(path);
  file << order_.moment_ns << "\n";
  for (const auto& [subject, source] : sources_) file << json_of(source.fetched) << "\n";
  file.close();
  if (!file) return fail_errno("write " + path);
  return {};
}

}  // namespace

Result<void> fetch_snapshots(Transport& transport, const Order& order, const FetchOptions& options) {
  std::ignore = transport.prepare();  // who may, so that hosts can join
  LT_CHECK(transport.prepare_snapshots());
  Fetching fetching(transport, order, options);
  LT_CHECK(fetching.find_hosts());
  const auto fetched = fetching.run();
  const auto ended = transport.remove_order(order.id);
  LT_CHECK(fetched);
  LT_CHECK(ended);
  std::ignore = transport.remove_snapshots(snapshots_of(order.id));  // they go by themselves, too
  return fetching.write_hosts();
}

}  // namespace landtrace::fleet
