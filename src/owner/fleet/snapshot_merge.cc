#include "fleet/snapshot_merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "output/text/own_events.hpp"

namespace landtrace::fleet {
namespace {

// Linux numbers no task so high.
constexpr std::int32_t kFirstNumber = 1 << 22;
constexpr std::uint16_t kFirstId = 1024;
// Numbers from kFirstId on are there for all of them, whichever they have already.
constexpr std::size_t kMostIds = 0x10000 - kFirstId;
constexpr std::uint64_t kMostShift_ns = 1ull << 62;

// Times of others may be anything.
std::uint64_t shifted(std::uint64_t time_ns, std::int64_t by_ns) {
  const auto time = static_cast<std::int64_t>(std::min(time_ns, kMostShift_ns));
  const std::int64_t sum =
      time + std::clamp(by_ns, -static_cast<std::int64_t>(kMostShift_ns), static_cast<std::int64_t>(kMostShift_ns - 1));
  return sum < 0 ? 0 : static_cast<std::uint64_t>(sum);
}

// A format as it is, but for the number.
std::string with_id(const std::string& format, std::uint16_t id) {
  constexpr std::string_view kId = "\nID: ";
  const std::size_t at = format.find(kId);
  if (at == std::string::npos) return format;
  const std::size_t end = std::min(format.find('\n', at + kId.size()), format.size());
  return format.substr(0, at + kId.size()) + std::to_string(id) + format.substr(end);
}

template <typename T>
void put(std::vector<std::byte>& bytes, T value) {
  bytes.resize(bytes.size() + sizeof value);
  std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
}

}  // namespace

// That of its process alone knows more than the number.
std::int32_t SnapshotMerge::new_number(std::int32_t tid) {
  if (tid > 0 && tid < kFirstNumber && tids_.insert(tid).second) return tid;
  while (!tids_.insert(next_tid_).second) ++next_tid_;
  return next_tid_++;
}

std::int32_t SnapshotMerge::number_of(Numbers& numbers, const Host& host, std::int32_t tid,
                                      const output::TraceDatReader& reader) {
  const auto known = numbers.tids.find(tid);
  if (known != numbers.tids.end()) return known->second;
  const std::int32_t number = new_number(tid);
  numbers.tids[tid] = number;
  const auto task = reader.tasks().find(tid);
  const bool is_known = task != reader.tasks().end();
  const std::int32_t tgid = is_known ? static_cast<std::int32_t>(task->second.tgid) : 0;
  // A process is its own first thread, and that number is its already.
  const std::int32_t process = tgid == 0 ? 0 : process_of(numbers, host, tgid, reader);
  writer_.set_task(number,
                   {host.host + ":" + (is_known ? task->second.comm : "<...>"), static_cast<std::uint32_t>(process)});
  return number;
}

// Whatever the file says of which process it is of: others may write endless chains there.
std::int32_t SnapshotMerge::process_of(Numbers& numbers, const Host& host, std::int32_t tgid,
                                       const output::TraceDatReader& reader) {
  const auto known = numbers.tids.find(tgid);
  if (known != numbers.tids.end()) return known->second;
  const std::int32_t number = new_number(tgid);
  numbers.tids[tgid] = number;
  const auto task = reader.tasks().find(tgid);
  const bool is_known = task != reader.tasks().end();
  writer_.set_task(number, {host.host + ":" + (is_known ? task->second.comm : "<...>"),
                            is_known ? static_cast<std::uint32_t>(number) : 0});
  return number;
}

std::optional<std::uint32_t> SnapshotMerge::cpu_of(Numbers& numbers, const Host& host, std::uint32_t cpu) {
  const auto known = numbers.cpus.find(cpu);
  if (known != numbers.cpus.end()) return known->second;
  if (cpus_ == most_cpus_ || numbers.cpus.size() >= host.most_cpus) {
    numbers.no_room =
        fmt::format("of the {} CPUs that a trace file holds {} are this host's: choose fewer hosts by --where",
                    most_cpus_, numbers.cpus.size());
    return std::nullopt;
  }
  return numbers.cpus[cpu] = cpus_++;
}

// ftrace's own have the same number everywhere, by which trace-cmd knows them.
std::optional<std::uint16_t> SnapshotMerge::type_of(Numbers& numbers, const output::EventType& type) {
  const auto known = numbers.types.find(type.id);
  if (known != numbers.types.end()) return known->second;
  const std::string format = output::trace_dat::format_of(type);
  const std::tuple name{type.system, type.name, with_id(format, 0), type.description};
  if (const auto there = types_.find(name); there != types_.end()) return numbers.types[type.id] = there->second;
  if (numbers.new_types >= kMostHostTypes || ids_.size() >= kMostIds) {
    numbers.no_room = fmt::format(
        "a host has room for {} kinds of events of its own, and a trace file for {}: narrow "
        "them by -e",
        kMostHostTypes, kMostIds);
    return std::nullopt;
  }
  ++numbers.new_types;
  std::uint16_t id = type.id;
  for (std::uint16_t next = kFirstId; !ids_.insert(id).second; ++next) id = next;
  types_.emplace(name, id);
  numbers.types[type.id] = id;
  output::EventType own = type;
  own.id = id;
  own.format = with_id(format, id);
  writer_.add_event(std::move(own));
  return id;
}

Result<std::uint16_t> SnapshotMerge::own_type() {
  output::EventType type{.id = kFirstId, .system = "landtrace", .name = "fleet_host", .declaration = {}, .format = {}};
  LT_TRY(type.declaration,
         event::parse_declaration(
             "fleet_host s64 clock_ns; s64 bound_ns; u64 events; u64 missing; u64 left; u32 first_cpu; "
             "u32 cpus; __rel_loc char[] host; __rel_loc char[] domain"));
  Numbers none;
  return type_of(none, type).value();
}

Result<void> SnapshotMerge::add_event(Numbers& numbers, const Host& host, output::TraceDatReader& reader,
                                      output::Record record) {
  const output::EventType& type = reader.events().at(record.event_id);
  record.event_id = numbers.types.at(record.event_id);
  record.tid = number_of(numbers, host, record.tid, reader);
  std::uint32_t tgid = 0;
  if (output::is_user_stack(type) && record.payload.size() >= sizeof tgid) {
    std::memcpy(&tgid, record.payload.data(), sizeof tgid);
    tgid = static_cast<std::uint32_t>(number_of(numbers, host, static_cast<std::int32_t>(tgid), reader));
    payload_.assign(record.payload.begin(), record.payload.end());
    std::memcpy(payload_.data(), &tgid, sizeof tgid);
    record.payload = payload_;
  }
  return writer_.append(record);
}

// Of processes that have events alone.
void SnapshotMerge::add_objects(Numbers& numbers, const Host& host, const output::TraceDatReader& reader) {
  for (const output::MappedObject& object : reader.objects()) {
    const auto known = numbers.tids.find(static_cast<std::int32_t>(object.pid));
    if (known == numbers.tids.end()) continue;
    output::MappedObject own = object;
    own.pid = static_cast<std::uint32_t>(known->second);
    own.first_seen = shifted(object.first_seen, host.to_file_ns);
    writer_.add_object(std::move(own));
  }
}

// Behind its events. A bound of -1: nobody knows.
Result<void> SnapshotMerge::add_host_event(Numbers& numbers, const Host& host, const Taken& taken,
                                           std::uint64_t time_ns) {
  if (numbers.cpus.empty() && !cpu_of(numbers, host, 0)) return {};
  std::uint32_t first = ~0u;
  for (const auto& [theirs, own] : numbers.cpus) first = std::min(first, own);
  LT_TRY(const std::uint16_t id, own_type());
  const std::int32_t tid = new_number(0);
  writer_.set_task(tid, {host.host, static_cast<std::uint32_t>(tid)});
  std::vector<std::byte> bytes;
  put(bytes, host.to_file_ns);
  put(bytes, host.bound_ns ? static_cast<std::int64_t>(std::min(*host.bound_ns, kMostShift_ns)) : std::int64_t{-1});
  put(bytes, taken.events);
  put(bytes, taken.lost);
  put(bytes, host.left);
  put(bytes, first);
  put(bytes, static_cast<std::uint32_t>(numbers.cpus.size()));
  const std::string name = host.host.substr(0, 1024);
  const std::string domain = host.domain.substr(0, 1024);
  const auto name_size = static_cast<std::uint32_t>(name.size() + 1);
  const auto domain_size = static_cast<std::uint32_t>(domain.size() + 1);
  put(bytes, name_size << 16 | 4u);  // from behind this number on, over the next one
  put(bytes, domain_size << 16 | name_size);
  for (const std::string* const text : {&name, &domain}) {
    for (const char c : *text) bytes.push_back(static_cast<std::byte>(c));
    bytes.push_back(std::byte{0});
  }
  return writer_.append({.time_ns = time_ns, .cpu = first, .tid = tid, .event_id = id, .payload = bytes});
}

Result<SnapshotMerge::Taken> SnapshotMerge::add(const Host& host, output::TraceDatReader& reader) {
  Numbers numbers;
  Taken taken;
  std::uint64_t last_ns = until_ns_;
  LT_CHECK(own_type());  // before hosts have taken all numbers
  const auto lose = [&](std::uint32_t cpu, std::uint64_t count) {
    if (const auto own = cpu_of(numbers, host, cpu)) writer_.lost(*own, count);
    if (count != output::kLostUnknown) taken.lost += count;
  };
  std::map<std::uint32_t, std::uint64_t> told;  // lost events by CPU
  for (;;) {
    const auto item = reader.next();
    if (!item) {
      taken.damage = item.error().message;
      continue;
    }
    if (!*item) break;
    output::Record record = (*item)->record;
    if ((*item)->lost > 0) {
      lose(record.cpu, (*item)->lost);
      told[record.cpu] += (*item)->lost;
    }
    if (!reader.events().contains(record.event_id)) continue;
    record.time_ns = shifted(record.time_ns, host.to_file_ns);
    if (host.bound_ns && record.time_ns > until_ns_) {
      ++taken.later;
      continue;
    }
    const auto cpu = cpu_of(numbers, host, record.cpu);
    if (!cpu || !type_of(numbers, reader.events().at(record.event_id))) {
      ++taken.without_room;
      continue;
    }
    if (taken.events++ == 0) taken.oldest_ns = record.time_ns;
    last_ns = std::max(last_ns, record.time_ns);
    record.cpu = *cpu;
    LT_CHECK(add_event(numbers, host, reader, record));
  }
  // Behind a CPU's last event.
  for (std::uint32_t cpu = 0; cpu < reader.stats().size(); ++cpu) {
    const std::uint64_t all = reader.stats()[cpu].overrun + reader.stats()[cpu].dropped;
    if (all > told[cpu]) lose(cpu, all - told[cpu]);
  }
  add_objects(numbers, host, reader);
  LT_CHECK(add_host_event(numbers, host, taken, last_ns));
  taken.no_room = numbers.no_room;
  return taken;
}

}  // namespace landtrace::fleet
