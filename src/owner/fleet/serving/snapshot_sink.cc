#include "fleet/serving/snapshot_sink.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "arch/clock.hpp"
#include "base/fd.hpp"
#include "fleet/left_out.hpp"
#include "fleet/order.hpp"
#include "output/text/own_events.hpp"
#include "output/trace_dat/writer.hpp"

namespace landtrace::fleet {
namespace {

// A record in a file, besides its payload.
constexpr std::uint64_t kRecordHead = 16;
constexpr std::uint16_t kNone = 0xffff;

// A folder that goes with this.
class Folder {
 public:
  // ENOENT and others: nowhere is room for one.
  static Result<Folder> make() {
    const char* const named = std::getenv("TMPDIR");
    Error error(ENOENT);
    for (const char* const parent : {named == nullptr ? "" : named, "/var/tmp", "/tmp", "/dev/shm"}) {
      if (parent[0] != '/') continue;
      std::string path = std::string(parent) + "/landtrace-fleet-XXXXXX";
      if (::mkdtemp(path.data()) != nullptr) return Folder(std::move(path));
      error = fail_errno("make " + path).value();
    }
    return tl::unexpected<Error>(error);
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace

void SnapshotSink::begin_order() { orders_.emplace_back(); }

bool SnapshotSink::wants(const output::EventType& type) const {
  return patterns_.empty() || std::ranges::any_of(patterns_, [&](const event::Pattern& pattern) {
           return pattern.matches(type.system, type.name);
         });
}

// A stack goes with the event before it of its thread.
void SnapshotSink::event(const output::Record& record, const output::EventType& type) {
  OfOrder& of = order();
  const bool is_stack = output::is_user_stack(type);
  std::uint16_t& last = of.last.try_emplace(record.tid, kNone).first->second;
  if (!is_stack) last = wants(type) ? type.id : kNone;
  if (is_stack ? last == kNone && !patterns_.empty() : last == kNone) return;
  types_.try_emplace(type.id, type);
  Kept kept{record, bytes_.size(), record.payload.size(), std::exchange(of.lost[record.cpu], 0)};
  kept.record.payload = {};
  if (has_one_of(type, left_out_)) {
    const std::vector<std::byte> rest = without_fields(type, record.payload, left_out_);
    bytes_.insert(bytes_.end(), rest.begin(), rest.end());
  } else {
    bytes_.insert(bytes_.end(), record.payload.begin(), record.payload.end());
  }
  of.events.push_back(kept);
  if (!is_stack) ++of.counts[type.id];
}

std::vector<SnapshotSink::Kept> SnapshotSink::chosen() {
  std::map<std::uint16_t, const OfOrder*> richest;  // by event
  for (const OfOrder& of : orders_) {
    for (const auto& [id, count] : of.counts) {
      const OfOrder*& best = richest[id];
      if (best == nullptr || count > best->counts.at(id)) best = &of;
    }
  }
  std::vector<Kept> events;
  for (const OfOrder& of : orders_) {
    std::unordered_map<std::int32_t, bool> is_last_taken;
    std::map<std::uint32_t, std::uint64_t> lost;
    for (Kept kept : of.events) {
      const bool is_stack = output::is_user_stack(types_.at(kept.record.event_id));
      bool& is_taken = is_last_taken.try_emplace(kept.record.tid, true).first->second;
      if (!is_stack) is_taken = richest.at(kept.record.event_id) == &of;
      lost[kept.record.cpu] += kept.lost;
      if (!is_taken) continue;
      kept.lost = std::exchange(lost[kept.record.cpu], 0);
      events.push_back(kept);
    }
  }
  std::ranges::stable_sort(events, {}, [](const Kept& kept) { return kept.record.time_ns; });
  return events;
}

// The index from which on they fit.
std::uint64_t SnapshotSink::begin_within(const std::vector<Kept>& events, std::uint64_t most_bytes) const {
  std::uint64_t bytes = 0;
  std::size_t begin = events.size();
  while (begin > 0 && bytes + events[begin - 1].size + kRecordHead <= most_bytes) {
    bytes += events[--begin].size + kRecordHead;
  }
  return begin;
}

Result<std::string> SnapshotSink::file(std::uint32_t cpus, std::uint64_t most_bytes, SnapshotEnd& end) {
  const std::vector<Kept> events = chosen();
  const std::uint64_t begin = begin_within(events, most_bytes);
  end.left = begin;
  end.events = events.size() - begin;
  if (end.events > 0) end.oldest_ns = events[begin].record.time_ns;
  LT_TRY(const Folder folder, Folder::make());
  const std::string path = folder.path() + "/trace.dat";
  LT_TRY(output::TraceDatWriter writer,
         output::TraceDatWriter::create(path, {.cpus = cpus,
                                               .wall_offset_ns = static_cast<std::int64_t>(wall_ns()) -
                                                                 static_cast<std::int64_t>(arch::monotonic_ns())}));
  std::set<std::uint16_t> ids;
  std::set<std::int32_t> threads;
  std::set<std::uint32_t> processes;
  for (std::size_t i = 0; i < events.size(); ++i) {
    output::Record record = events[i].record;
    if (events[i].lost > 0) writer.lost(record.cpu, events[i].lost);
    if (i < begin) {
      writer.lost(record.cpu, 1);
      continue;
    }
    record.payload = std::span(bytes_).subspan(events[i].begin, events[i].size);
    if (ids.insert(record.event_id).second) writer.add_event(types_.at(record.event_id));
    threads.insert(record.tid);
    LT_CHECK(writer.append(record));
  }
  for (const std::int32_t tid : threads) {
    const auto task = tasks_.find(tid);
    if (task == tasks_.end()) continue;
    writer.set_task(tid, task->second);
    processes.insert(task->second.tgid);
  }
  for (const unwind::MappedObject& object : objects_) {
    if (processes.contains(object.pid)) writer.add_object(object);
  }
  for (const OfOrder& of : orders_) {
    for (const auto& [cpu, count] : of.lost) writer.lost(cpu, count);
  }
  if (end.events == 0) return std::string();
  LT_CHECK(writer.finish());
  return read_file(path, 2 * kMostSnapshotBytes);
}

}  // namespace landtrace::fleet
