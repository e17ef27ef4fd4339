#include "cli/fleet/snapshot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "cli/child.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/fleet/fleet_text.hpp"
#include "cli/lines/wall_clock.hpp"
#include "cli/missing_events.hpp"
#include "cli/quantity.hpp"
#include "cli/recording_file.hpp"
#include "cli/signals.hpp"
#include "cli/text_output.hpp"
#include "cli/visible.hpp"
#include "daemon/hosted_domain.hpp"
#include "fleet/fetched.hpp"
#include "fleet/shares.hpp"
#include "fleet/snapshot_merge.hpp"

namespace landtrace::cli {
namespace {

constexpr const char* kHostsFile = "hosts";
constexpr std::uint32_t kMostFileCpus = 4096;  // of a trace file
constexpr std::int64_t kSecond_ns = 1'000'000'000;

using fleet::Fetched;

// Beside the file that is to be, where there is room for that. It goes with this.
class PartsFolder {
 public:
  static Result<PartsFolder> make(const std::string& file) {
    if (file == "-") return fail(EINVAL, "-o: want a file, not -");
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::is_directory(status)) return fail_errno(file, EISDIR);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      return fail(EINVAL, file + " is not a regular file");
    }
    std::string path = file + ".XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return fail_errno("make " + path);
    return PartsFolder(std::move(path));
  }
  PartsFolder(PartsFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  PartsFolder& operator=(PartsFolder&&) = delete;
  ~PartsFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit PartsFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

struct Answers {
  std::int64_t moment_ns = 0;  // of the monotonic clock here
  std::vector<Fetched> hosts;
};

Result<Answers> read_answers(const std::string& folder) {
  std::ifstream file(folder + "/" + kHostsFile);
  Answers answers;
  std::string line;
  std::getline(file, line);
  const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), answers.moment_ns);
  if (error != std::errc()) return fail(EBADMSG, "landtrace-fleet is of another version");
  while (std::getline(file, line)) {
    LT_TRY(Fetched one, fleet::fetched_of(line));
    answers.hosts.push_back(std::move(one));
  }
  return answers;
}

// ECANCELED: a signal came; EIO: it has said why it failed.
Result<Answers> fetch(const FleetHelper& fleet, const fleet::Order& order, const std::string& folder,
                      std::uint64_t patience_ns, const std::string& key) {
  LT_TRY(Signals signals, Signals::take());
  std::vector<std::string> command = fleet.command("snapshot");
  for (const std::string& word : {order.id, fleet::json_of(order), folder, std::to_string(patience_ns / 1'000'000)}) {
    command.push_back(word);
  }
  if (!key.empty()) command.push_back(key);
  LT_TRY(Child child, Child::start(command, ending_with_this(fleet.environment()), signals.mask_before()));
  bool is_interrupted = false;
  while (!child.has_ended()) {
    const auto arrived = signals.wait(Signals::kForEver);
    if (!arrived || arrived->number == SIGCHLD) continue;
    is_interrupted = true;
    child.send(SIGTERM);
  }
  if (is_interrupted) {
    std::ignore = fleet.end({order.id});  // hosts that have not begun need not
    return fail(ECANCELED, "interrupted: nothing was written");
  }
  if (child.exit_status() != 0) return fail(EIO);
  return read_answers(folder);
}

// A host's file that is there to be read. It is opened twice, for a moment: there may be more of them than files that a
// process may have open.
struct HostFile {
  const Fetched* fetched;
  std::string path;
  std::uint32_t cpus;
  std::int64_t to_here_ns;  // is added to its times for those of the monotonic clock here
};

// The one that is there for the hosts' events comes on top of its own.
std::vector<std::uint32_t> share_cpus(const std::vector<HostFile>& sources) {
  std::vector<fleet::Want> wants;
  for (const HostFile& source : sources) wants.push_back({source.fetched->host, source.cpus + 1});
  return fleet::fair_shares(wants, kMostFileCpus - 1);
}

// Of one that did not compare its clock, by what time of day it had.
std::int64_t to_here(const fleet::SnapshotEnd& end, const output::TraceDatReader& reader) {
  if (end.clock) return end.clock->offset_ns;
  return reader.wall_offset_ns() ? *reader.wall_offset_ns() - WallClock::offset_now() : 0;
}

SnapshotRow row_of(const Fetched& fetched) {
  SnapshotRow row{.host = fetched.host, .domain = fetched.domain, .problem = fetched.problem};
  if (!fetched.end) return row;
  row.left = fetched.end->left;
  row.left_out = fetched.end->left_out;
  if (fetched.end->clock) row.offset_ns = fetched.end->clock->offset_ns;
  if (fetched.end->clock) row.bound_ns = fetched.end->clock->bound_ns;
  return row;
}

// This machine may have been started later than events have happened elsewhere: no time in the file is below 0.
std::int64_t origin_of(const std::vector<HostFile>& sources) {
  std::int64_t oldest = 0;
  for (const HostFile& source : sources) {
    const auto time = static_cast<std::int64_t>(std::min<std::uint64_t>(source.fetched->end->oldest_ns, 1ull << 61));
    const std::int64_t most = std::int64_t{1} << 61;
    oldest = std::min(oldest, time + std::clamp(source.to_here_ns, -most, most));
  }
  return oldest < 0 ? (-oldest / kSecond_ns + 1) * kSecond_ns : 0;
}

// What cannot be read is told of in `text`.
std::vector<HostFile> find_files(const Answers& answers, const std::string& folder, SnapshotText& text) {
  std::vector<HostFile> sources;
  for (const Fetched& fetched : answers.hosts) {
    if (fetched.file.empty() || !fetched.end) continue;
    const std::string path = folder + "/" + fetched.file;
    const auto reader = output::TraceDatReader::open(path);
    if (!reader) {
      text.rows.push_back(row_of(fetched));
      text.rows.back().problem = sentence(reader.error());
      continue;
    }
    sources.push_back({&fetched, path, reader->cpus(), to_here(*fetched.end, *reader)});
  }
  return sources;
}

Result<SnapshotText> merge(const Answers& answers, const std::string& folder, const std::string& file) {
  SnapshotText text{.file = file, .rows = {}};
  const std::vector<HostFile> sources = find_files(answers, folder, text);
  const std::vector<std::uint32_t> shares = share_cpus(sources);
  const std::uint32_t cpus = std::accumulate(shares.begin(), shares.end(), 1u);
  const std::int64_t origin_ns = origin_of(sources);
  const daemon::DescriptorLimit limit;  // the writer has a file for each CPU
  LT_TRY(output::TraceDatWriter writer,
         create_recording(file, {.cpus = 1, .spare = cpus - 1, .wall_offset_ns = WallClock::offset_now() - origin_ns}));
  fleet::SnapshotMerge merged(writer, cpus, static_cast<std::uint64_t>(answers.moment_ns + origin_ns));
  Result<void> failure;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const HostFile& source = sources[i];
    SnapshotRow row = row_of(*source.fetched);
    auto reader = output::TraceDatReader::open(source.path);
    if (!reader) {
      failure = tl::unexpected<Error>(reader.error());
      break;
    }
    const auto taken = merged.add({.host = row.host,
                                   .domain = row.domain,
                                   .to_file_ns = source.to_here_ns + origin_ns,
                                   .bound_ns = row.bound_ns,
                                   .left = row.left,
                                   .most_cpus = shares[i]},
                                  *reader);
    if (!taken) {
      failure = tl::unexpected<Error>(taken.error());
      break;
    }
    row.events = taken->events;
    row.lost = taken->lost;
    row.later = taken->later;
    row.problem = problem_text(taken->damage, taken->without_room, taken->no_room);
    const auto moment_ns = static_cast<std::uint64_t>(answers.moment_ns + origin_ns);
    if (taken->events > 0 && taken->oldest_ns < moment_ns) row.reaches_ns = moment_ns - taken->oldest_ns;
    text.rows.push_back(std::move(row));
  }
  // What was taken before a disk was full is there.
  LT_CHECK(writer.finish());
  text.has_replaced = writer.has_replaced();
  LT_CHECK(failure);
  return text;
}

bool has_events(const Answers& answers) {
  return std::ranges::any_of(answers.hosts, [](const Fetched& one) { return one.end && one.end->events > 0; });
}

std::string nothing_text(const Answers& answers, const fleet::Order& order) {
  const bool has_answer = std::ranges::any_of(answers.hosts, [](const Fetched& one) { return one.end.has_value(); });
  if (!has_answer) return "nothing was written: no host had a snapshot";
  if (order.event.empty()) return "nothing was written: no event has happened since hosts began to record";
  return "nothing was written: hosts have recorded no event that matches " + order.event +
         " (`landtrace fleet orders` shows what they record)";
}

void complain_of(const SnapshotRow& row) {
  const auto say = [&](const std::string& what) { complain(visible(row.host + ": " + what, Lines::kNone)); };
  if (!row.problem.empty()) say(row.problem);
  if (row.events == 0 && row.later > 0) say("what it had of that moment was overwritten before it was read");
  if (row.left > 0) say(count_text(row.left) + " older events were too many to be sent");
  if (!row.left_out.empty())
    say(fmt::format("zeros stand for what is left out there: {}", fmt::join(row.left_out, ", ")));
}

int show(const SnapshotText& text, bool json) {
  TextOutput out;
  out.text() += json ? snapshot_json(text) : snapshot_text(text);
  out.flush();
  return out.status();
}

}  // namespace

int run_snapshot(const FleetHelper& fleet, const FleetOptions& options) {
  const auto order = order_of(options);
  if (!order) return fail_with(order.error());
  const auto patience_ns = parse_duration("--timeout", options.timeout);
  if (!patience_ns) return fail_with(patience_ns.error());
  const auto folder = PartsFolder::make(options.output);
  if (!folder) return fail_with(folder.error());
  const auto answers = fetch(fleet, *order, folder->path(), *patience_ns, options.sign);
  if (!answers) return answers.error().code == EIO ? kFailure : fail_with(kFailure, sentence(answers.error()));
  for (const Fetched& one : answers->hosts) {
    if (!one.problem.empty()) complain_of(row_of(one));
  }
  if (!has_events(*answers)) return fail_with(kFailure, nothing_text(*answers, *order));
  const auto text = merge(*answers, folder->path(), options.output);
  if (!text) return fail_with(kFailure, sentence(text.error(), options.output));
  for (const SnapshotRow& row : text->rows) complain_of(row);
  const int status = show(*text, options.json);
  if (text->has_replaced) complain(options.output + ": the older one is " + options.output + ".old now");
  const auto merged = output::TraceDatReader::open(options.output);
  if (!merged) return fail_with(kFailure, sentence(merged.error(), options.output));
  const auto patterns = fleet::patterns_of(order->event);
  const bool has_all = has_what_was_named(*patterns, merged->events(), options.output);
  return status != kSuccess ? status : has_all ? kSuccess : kFailure;
}

}  // namespace landtrace::cli
