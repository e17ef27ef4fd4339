#include "output/perf_data/writer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "output/text/own_events.hpp"
#include "output/trace_dat/put.hpp"

namespace landtrace::output {
namespace {

using perf_data::Feature;
using perf_data::OwnRecord;
using perf_data::Section;
using trace_dat::put;

constexpr std::uint64_t kSampleType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
constexpr std::size_t kMostBytes = 65535;
// perf refuses chains that are longer than the system's usual limit of 127, its marker included.
constexpr std::size_t kMostFrames = 126;
constexpr std::size_t kRound = 1 << 20;

void pad(std::string& out, std::size_t begin) { out.append((begin - out.size()) % 8, '\0'); }

template <typename T>
void set(std::string& out, std::size_t at, T value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

void put_section(std::string& out, const Section& section) {
  put(out, section.offset);
  put(out, section.size);
}

}  // namespace

PerfDataWriter::PerfDataWriter(Target& target, const Options& options) : target_(target), options_(options) {
  metadata_.clock = options.clock;
  if (target_.can_go_back()) {
    target_.bytes().append(perf_data::kHeaderSize, '\0');  // until finish_file()
  } else {
    begin_pipe();
  }
}

void PerfDataWriter::type(const EventType& type) {
  metadata_.events[type.id] = names_.readable(type);
  has_untold_types_ = true;
}

std::size_t PerfDataWriter::begin_record(std::uint32_t type, std::uint16_t misc) {
  std::string& out = target_.bytes();
  const std::size_t begin = out.size();
  put(out, type);
  put(out, misc);
  put(out, std::uint16_t{0});
  return begin;
}

void PerfDataWriter::end_record(std::size_t begin) {
  std::string& out = target_.bytes();
  in_round_ += out.size() - begin;
  set(out, begin + offsetof(perf_event_header, size), static_cast<std::uint16_t>(out.size() - begin));
}

void PerfDataWriter::put_where(const Where& where, std::uint64_t id) {
  std::string& out = target_.bytes();
  put(out, where.pid);
  put(out, where.tid);
  put(out, where.time_ns);
  put(out, std::uint64_t{where.cpu});
  put(out, id);
}

std::string PerfDataWriter::attr_bytes(std::uint16_t event_id, bool is_first) const {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = perf_data::kAttrBytes;
  attr.config = event_id;
  attr.sample_period = 1;
  attr.sample_type = kSampleType | (options_.has_stacks ? std::uint64_t{PERF_SAMPLE_CALLCHAIN} : 0);
  attr.read_format = PERF_FORMAT_ID;
  attr.disabled = 1;
  attr.inherit = 1;
  attr.sample_id_all = 1;
  // One of them brings what is no sample.
  attr.mmap = attr.mmap2 = attr.comm = attr.task = is_first ? 1 : 0;
  return {reinterpret_cast<const char*>(&attr), perf_data::kAttrBytes};
}

std::uint64_t PerfDataWriter::know(std::uint16_t event_id) {
  const auto [known, is_new] = ids_.try_emplace(event_id, std::uint64_t{event_id} + 1);
  if (is_new) {
    const EventType& type = metadata_.events[event_id];
    attrs_.push_back({attr_bytes(type.id, attrs_.empty()), type.system + ':' + type.name, known->second});
    if (!target_.can_go_back()) {
      std::string bytes = attrs_.back().bytes;
      put(bytes, known->second);
      put_in_pipe(OwnRecord::kHeaderAttr, bytes);
      if (has_untold_types_) put_in_pipe(OwnRecord::kHeaderTracingData, tracing_data());
      has_untold_types_ = false;
    }
  }
  return known->second;
}

void PerfDataWriter::tell_name(std::int32_t tid, std::uint32_t pid, const Task& task, const Where& where) {
  const auto [told, is_new] = told_names_.try_emplace(tid, task.comm);
  if (!is_new && told->second == task.comm) return;
  told->second = task.comm;
  const std::size_t begin = begin_record(PERF_RECORD_COMM, 0);
  std::string& out = target_.bytes();
  put(out, pid);
  put(out, tid);
  constexpr std::size_t kMostName = 255;
  out.append(task.comm, 0, kMostName);
  out += '\0';
  pad(out, begin);
  put_where(where, attrs_.front().id);
  end_record(begin);
}

// What was first seen in a stack is older than that: it was there when the event happened.
void PerfDataWriter::tell_objects(std::uint64_t until_ns, std::uint64_t now_ns) {
  const auto later = std::partition(waiting_objects_.begin(), waiting_objects_.end(),
                                    [&](const MappedObject& object) { return object.first_seen <= until_ns; });
  for (auto object = waiting_objects_.begin(); object != later; ++object) {
    for (const perf_data::Mapping& mapping : perf_data::mappings_of(*object)) {
      tell_mapping(*object, mapping, std::min(object->first_seen, now_ns));
    }
  }
  waiting_objects_.erase(waiting_objects_.begin(), later);
}

void PerfDataWriter::tell_mapping(const MappedObject& object, const perf_data::Mapping& mapping,
                                  std::uint64_t time_ns) {
  constexpr std::size_t kBuildIdBytes = 20;
  const bool has_id = !object.build_id.empty() && object.build_id.size() <= kBuildIdBytes;
  const std::size_t begin =
      begin_record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (has_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
  std::string& out = target_.bytes();
  put(out, object.pid);
  put(out, object.pid);
  put(out, mapping.address);
  put(out, mapping.size);
  put(out, mapping.file_offset);
  put(out, static_cast<std::uint32_t>(has_id ? object.build_id.size() : 0));
  const std::size_t id_at = out.size();
  if (has_id) out += object.build_id;
  out.resize(id_at + kBuildIdBytes, '\0');  // else device, inode and generation
  put(out, std::uint32_t{PROT_READ | PROT_EXEC});
  put(out, std::uint32_t{MAP_PRIVATE});
  // Longer ones no system opens, perf has no room for, and the record's size has 16 bits.
  out.append(object.path, 0, PATH_MAX - 1);
  out += '\0';
  pad(out, begin);
  put_where({object.pid, object.pid, time_ns, 0}, attrs_.front().id);
  end_record(begin);
}

void PerfDataWriter::lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  // perf has no word for "some".
  waiting_lost_.push_back({count == kLostUnknown ? 1 : count, {0, 0, time_ns, cpu}});
}

void PerfDataWriter::tell_lost() {
  for (const Lost& lost : waiting_lost_) {
    const std::size_t begin = begin_record(PERF_RECORD_LOST, 0);
    put(target_.bytes(), attrs_.front().id);
    put(target_.bytes(), lost.count);
    put_where(lost.where, attrs_.front().id);
    end_record(begin);
  }
  waiting_lost_.clear();
}

std::size_t PerfDataWriter::frames_of(const ExportedEvent& event) const {
  return event.stack != nullptr && options_.has_stacks ? std::min(event.stack->caller.size(), kMostFrames) : 0;
}

void PerfDataWriter::put_sample(const ExportedEvent& event, const Where& where, std::uint64_t id) {
  std::string& out = target_.bytes();
  const std::size_t begin = begin_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  const std::size_t frames = frames_of(event);
  put(out, id);
  put(out, frames > 0 ? event.stack->caller.front() : std::uint64_t{0});
  put(out, where.pid);
  put(out, where.tid);
  put(out, where.time_ns);
  put(out, std::uint64_t{where.cpu});
  put(out, std::uint64_t{1});
  if (options_.has_stacks) {
    put(out, std::uint64_t{frames == 0 ? 0 : frames + 1});
    if (frames > 0) put(out, static_cast<std::uint64_t>(PERF_CONTEXT_USER));
    for (std::size_t i = 0; i < frames; ++i) put(out, event.stack->caller[i]);
  }
  const std::size_t raw_at = out.size();
  put(out, std::uint32_t{0});
  put(out, event.record.event_id);
  put(out, std::uint16_t{0});
  put(out, event.record.tid);
  out.append(reinterpret_cast<const char*>(event.record.payload.data()), event.record.payload.size());
  pad(out, begin);
  set(out, raw_at, static_cast<std::uint32_t>(out.size() - raw_at - sizeof(std::uint32_t)));
  end_record(begin);
}

void PerfDataWriter::event(const ExportedEvent& event) {
  // What a sample has besides its chain and its payload: the fields before them, and the head of the event.
  constexpr std::size_t kFixed = sizeof(perf_event_header) + 7 * sizeof(std::uint64_t) + sizeof(std::uint32_t) + 8;
  constexpr std::size_t kMostPadding = 7;
  const Record& record = event.record;
  const std::size_t chain = (frames_of(event) + 1) * sizeof(std::uint64_t);
  if (kFixed + chain + record.payload.size() + kMostPadding > kMostBytes) {
    ++too_long_;
    return lost(record.cpu, 1, record.time_ns);
  }
  const auto tid = static_cast<std::uint32_t>(record.tid);
  const std::uint32_t pid = event.task != nullptr && event.task->tgid != 0 ? event.task->tgid
                            : event.stack != nullptr                       ? event.stack->tgid
                                                                           : tid;
  const Where where{pid, tid, record.time_ns, record.cpu};
  const std::uint64_t id = know(event.record.event_id);
  if (!waiting_lost_.empty()) tell_lost();
  const std::uint64_t seen_ns = event.stack == nullptr ? 0 : event.stack->time_ns;
  if (!waiting_objects_.empty()) tell_objects(std::max(seen_ns, record.time_ns), record.time_ns);
  if (event.task != nullptr) {
    tell_name(record.tid, pid, *event.task, where);
    const auto leader = pid == tid ? metadata_.tasks.end() : metadata_.tasks.find(static_cast<std::int32_t>(pid));
    if (leader != metadata_.tasks.end()) {
      tell_name(leader->first, pid, leader->second, {pid, pid, where.time_ns, where.cpu});
    }
  }
  put_sample(event, where, id);
  first_ns_ = std::min(first_ns_, record.time_ns);
  last_ns_ = std::max(last_ns_, record.time_ns);
  if (in_round_ > kRound) finish_round();
  target_.flush_if_full();
}

// What came before is in the order of time: perf need not keep it to sort it.
void PerfDataWriter::finish_round() {
  end_record(begin_record(static_cast<std::uint32_t>(OwnRecord::kFinishedRound), 0));
  in_round_ = 0;
}

std::string PerfDataWriter::tracing_data() const { return trace_dat::encode_descriptions(metadata_, "0.6"); }

void PerfDataWriter::begin_pipe() {
  std::string& out = target_.bytes();
  out += perf_data::kMagic;
  put(out, perf_data::kPipeHeaderSize);
  for (const auto& [feature, bytes] : perf_data::machine_features()) {
    std::string record;
    put(record, std::uint64_t{static_cast<std::uint32_t>(feature)});
    put_in_pipe(OwnRecord::kHeaderFeature, record + bytes);
  }
}

// The descriptions of many events do not fit in a record, so they stand behind it.
void PerfDataWriter::put_in_pipe(OwnRecord type, const std::string& bytes) {
  const std::size_t begin = begin_record(static_cast<std::uint32_t>(type), 0);
  std::string& out = target_.bytes();
  if (type == OwnRecord::kHeaderTracingData) {
    put(out, static_cast<std::uint32_t>((bytes.size() + 7) / 8 * 8));
    pad(out, begin);
    set(out, begin + offsetof(perf_event_header, size), static_cast<std::uint16_t>(out.size() - begin));
    out += bytes;
    pad(out, begin);
  } else {
    out += bytes;
    pad(out, begin);
    end_record(begin);
  }
}

void PerfDataWriter::end() {
  if (attrs_.empty()) {
    for (const auto& [id, type] : metadata_.events) {
      if (!is_of_ftrace(type)) know(id);
    }
  }
  if (!attrs_.empty()) tell_lost();
  if (target_.can_go_back()) finish_file();
  target_.flush();
}

// Behind the data the features, as perf wants them, and then the attrs, which are known only now.
void PerfDataWriter::finish_file() {
  finish_round();  // perf takes a file without any record for a damaged one
  const Section data{perf_data::kHeaderSize, target_.size() - perf_data::kHeaderSize};
  std::vector<std::pair<Feature, std::string>> features = perf_data::machine_features();
  features.insert(features.begin(), {Feature::kTracingData, tracing_data()});
  features.emplace_back(Feature::kEventDescriptions, perf_data::event_descriptions_feature(attrs_));
  if (first_ns_ <= last_ns_) {
    features.emplace_back(Feature::kSampleTime, perf_data::sample_time_feature(first_ns_, last_ns_));
  }
  std::string bits(32, '\0');
  std::string table;
  std::uint64_t at = target_.size() + features.size() * sizeof(Section);
  for (const auto& [feature, bytes] : features) {
    const auto bit = static_cast<std::uint32_t>(feature);
    bits[bit / 8] = static_cast<char>(bits[bit / 8] | 1 << bit % 8);
    put_section(table, {at, bytes.size()});
    at += bytes.size();
  }
  std::string& out = target_.bytes();
  out += table;
  for (const auto& [feature, bytes] : features) out += bytes;
  const std::uint64_t ids_at = at;
  for (const perf_data::DescribedAttr& attr : attrs_) put(out, attr.id);
  const Section attrs{ids_at + attrs_.size() * sizeof(std::uint64_t),
                      attrs_.size() * (perf_data::kAttrBytes + sizeof(Section))};
  for (std::size_t i = 0; i < attrs_.size(); ++i) {
    out += attrs_[i].bytes;
    put_section(out, {ids_at + i * sizeof(std::uint64_t), sizeof(std::uint64_t)});
  }
  std::string header(perf_data::kMagic);
  put(header, perf_data::kHeaderSize);
  put(header, std::uint64_t{perf_data::kAttrBytes + sizeof(Section)});
  put_section(header, attrs);
  put_section(header, data);
  put_section(header, {});
  target_.overwrite(0, header + bits);
}

std::string PerfDataWriter::complaint() const {
  if (too_long_ == 0) return {};
  return fmt::format("{} events are longer than perf.data can hold, and counted as lost there", too_long_);
}

}  // namespace landtrace::output
