#include "output/perfetto/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "output/export/value.hpp"
#include "output/perfetto/proto.hpp"
#include "output/text/own_events.hpp"
#include "output/utf8.hpp"

namespace landtrace::output::perfetto {
namespace {

// Tracks have numbers of their own: a kind, and what it is the track of.
enum class TrackKind : std::uint64_t { kProcess = 1, kThread, kCounter, kLane, kLost };

std::uint64_t track_of(TrackKind kind, std::uint64_t number) { return static_cast<std::uint64_t>(kind) << 48 | number; }

constexpr std::uint64_t kSequence = 1;

std::string clock_text(std::uint64_t id, std::uint64_t time_ns) {
  std::string clock;
  proto::put(clock, clock::kClockId, id);
  proto::put(clock, clock::kTimestamp, time_ns);
  return clock;
}

void put_value(std::string& out, std::uint64_t value) { proto::put(out, annotation::kUint, value); }
void put_value(std::string& out, const std::string& value) { proto::put(out, annotation::kString, value); }

// The same of a number; of a text nothing.
char* put_number(char* at, const FieldValue& value) {
  using proto::Wire;
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    return proto::put_head(at, annotation::kUint, Wire::kVarint, *number);
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return proto::put_head(at, annotation::kInt, Wire::kVarint, static_cast<std::uint64_t>(*number));
  }
  if (const auto* number = std::get_if<double>(&value)) {
    return proto::put_fixed(at, annotation::kDouble, std::bit_cast<std::uint64_t>(*number));
  }
  return at;
}

}  // namespace

PerfettoWriter::PerfettoWriter(Target& target, Options options)
    : target_(target), options_(std::move(options)), spans_(options_.spans) {}

void PerfettoWriter::put_packet(std::string& packet) {
  proto::put(packet, packet::kTrustedPacketSequenceId, kSequence);
  proto::put(target_.bytes(), trace::kPacket, packet);
  target_.flush_if_full();
}

// Times are of the monotonic clock, and stay so; a reader that wants the time of day has it from here.
void PerfettoWriter::begin(std::uint64_t time_ns) {
  if (std::exchange(has_begun_, true)) return;
  std::string snapshot;
  proto::put(snapshot, clock::kClocks, clock_text(clock::kMonotonic, time_ns));
  if (options_.wall_offset_ns) {
    const std::uint64_t wall_ns = time_ns + static_cast<std::uint64_t>(*options_.wall_offset_ns);
    proto::put(snapshot, clock::kClocks, clock_text(clock::kRealtime, wall_ns));
  }
  proto::put(snapshot, clock::kPrimaryTraceClock, clock::kMonotonic);
  std::string packet;
  proto::put(packet, packet::kClockSnapshot, snapshot);
  put_packet(packet);

  std::string defaults;
  proto::put(defaults, defaults::kTimestampClockId, clock::kMonotonic);
  std::string first;
  proto::put(first, packet::kTracePacketDefaults, defaults);
  proto::put(first, packet::kSequenceFlags, packet::kIncrementalStateCleared);
  put_packet(first);
}

void PerfettoWriter::put_track_event(std::uint64_t time_ns, const std::string& body) {
  using proto::put_head, proto::Wire;
  std::string new_names;
  if (const std::string data = interning_.take_new(); !data.empty()) {
    proto::put(new_names, packet::kInternedData, data);
  }
  char before[2 * proto::kLongestHead];
  char* const middle = put_head(before, packet::kTimestamp, Wire::kVarint, time_ns);
  char* const end = put_head(middle, packet::kTrackEvent, Wire::kLength, body.size());
  char behind[2 * proto::kLongestHead];
  char* at = put_head(behind, packet::kSequenceFlags, Wire::kVarint, packet::kNeedsIncrementalState);
  at = put_head(at, packet::kTrustedPacketSequenceId, Wire::kVarint, kSequence);

  const auto size =
      static_cast<std::size_t>(end - before) + new_names.size() + body.size() + static_cast<std::size_t>(at - behind);
  std::string& out = target_.bytes();
  char head[3 * proto::kLongestHead];
  char* begin = put_head(head, trace::kPacket, Wire::kLength, size);
  std::memcpy(begin, before, static_cast<std::size_t>(middle - before));
  begin += middle - before;
  if (!new_names.empty()) {
    proto::append(out, head, begin);
    out += new_names;
    begin = head;
  }
  std::memcpy(begin, middle, static_cast<std::size_t>(end - middle));
  proto::append(out, head, begin + (end - middle));
  out += body;
  proto::append(out, behind, at);
  target_.flush_if_full();
}

std::string& PerfettoWriter::begin_body(Type type, std::uint64_t track) {
  char head[2 * proto::kLongestHead];
  char* at = proto::put_head(head, track_event::kType, proto::Wire::kVarint, static_cast<std::uint64_t>(type));
  at = proto::put_head(at, track_event::kTrackUuid, proto::Wire::kVarint, track);
  body_.assign(head, static_cast<std::size_t>(at - head));
  return body_;
}

const PerfettoWriter::TypeTexts& PerfettoWriter::texts_of(const EventType& type) {
  const auto [place, is_new] = types_.try_emplace(type.id);
  TypeTexts& texts = place->second;
  if (!is_new) return texts;
  texts.is_stack = is_user_stack(type);
  add_name(texts.names, type.system, type.name);
  for (const event::Field& field : type.declaration.fields) {
    texts.field_names.push_back(interning_.text(interned::kDebugAnnotationNames, field.name));
  }
  return texts;
}

void PerfettoWriter::add_fields(std::string& body, const ExportedEvent& event, const TypeTexts& texts) {
  if (texts.is_stack) return;
  using proto::put_head, proto::Wire;
  constexpr std::size_t kOne = 3 * proto::kLongestHead;
  char fields[8 * kOne];
  char* at = fields;
  for (std::size_t i = 0; i < texts.field_names.size(); ++i) {
    const FieldValue value = value_of(event.type.declaration.fields[i], event.record.payload);
    char message[2 * proto::kLongestHead];
    char* const end = put_number(put_head(message, annotation::kNameIid, Wire::kVarint, texts.field_names[i]), value);
    std::string text;
    if (const auto* const own = std::get_if<std::string>(&value)) put_value(text, *own);
    const auto size = static_cast<std::size_t>(end - message);
    at = put_head(at, track_event::kDebugAnnotations, Wire::kLength, size + text.size());
    std::memcpy(at, message, size);
    at += size;
    if (text.empty() && static_cast<std::size_t>(at - fields) + kOne <= sizeof fields) continue;
    proto::append(body, fields, at);
    body += text;
    at = fields;
  }
  proto::append(body, fields, at);
}

void PerfettoWriter::add_name(std::string& body, const std::string& category, const std::string& name) {
  proto::put(body, track_event::kCategoryIids, interning_.text(interned::kEventCategories, category));
  proto::put(body, track_event::kNameIid, interning_.text(interned::kEventNames, name));
}

template <typename Value>
void PerfettoWriter::add_annotation(std::string& body, const std::string& name, const Value& value) {
  std::string annotation;
  proto::put(annotation, annotation::kNameIid, interning_.text(interned::kDebugAnnotationNames, name));
  put_value(annotation, value);
  proto::put(body, track_event::kDebugAnnotations, annotation);
}

void PerfettoWriter::put_track(std::uint64_t track, std::uint64_t parent, const std::string& name) {
  std::string descriptor;
  proto::put(descriptor, track::kUuid, track);
  if (parent != 0) proto::put(descriptor, track::kParentUuid, parent);
  proto::put(descriptor, track::kName, valid_utf8(name));
  if (track >> 48 == static_cast<std::uint64_t>(TrackKind::kCounter)) proto::put(descriptor, track::kCounter, "");
  std::string packet;
  proto::put(packet, packet::kTrackDescriptor, descriptor);
  put_packet(packet);
}

std::uint64_t PerfettoWriter::process_track(std::uint32_t pid, const ExportedEvent& event) {
  const std::uint64_t track = track_of(TrackKind::kProcess, pid);
  if (!told_processes_.insert(pid).second) return track;
  const auto leader = tasks_.find(static_cast<std::int32_t>(pid));
  std::string process;
  proto::put(process, track::kProcessPid, pid);
  if (leader != tasks_.end()) {
    proto::put(process, track::kProcessName, valid_utf8(leader->second.comm));
  } else if (event.task != nullptr) {
    proto::put(process, track::kProcessName, valid_utf8(event.task->comm));
  }
  std::string descriptor;
  proto::put(descriptor, track::kUuid, track);
  proto::put(descriptor, track::kProcess, process);
  std::string packet;
  proto::put(packet, packet::kTrackDescriptor, descriptor);
  put_packet(packet);
  return track;
}

std::uint64_t PerfettoWriter::thread_track(std::uint32_t pid, const ExportedEvent& event) {
  const std::int32_t tid = event.record.tid;
  const std::uint64_t track = track_of(TrackKind::kThread, static_cast<std::uint32_t>(tid));
  static const std::string kNoName;
  const std::string& name = event.task != nullptr ? event.task->comm : kNoName;
  const auto [told, is_new] = told_.try_emplace(tid, name);
  if (!is_new && told->second == name) return track;
  told->second = name;
  const std::uint64_t process = process_track(pid, event);
  std::string thread;
  proto::put(thread, track::kThreadPid, pid);
  proto::put(thread, track::kThreadTid, static_cast<std::uint32_t>(tid));
  if (!name.empty()) proto::put(thread, track::kThreadName, valid_utf8(name));
  std::string descriptor;
  proto::put(descriptor, track::kUuid, track);
  proto::put(descriptor, track::kParentUuid, process);
  proto::put(descriptor, track::kThread, thread);
  std::string packet;
  proto::put(packet, packet::kTrackDescriptor, descriptor);
  put_packet(packet);
  return track;
}

// Spans that overlap cannot share a track. They come in the order of their ends.
std::uint64_t PerfettoWriter::span_track(const Span& span) {
  auto& lanes = lanes_[{span.pid, span.rule}];
  auto lane =
      std::find_if(lanes.begin(), lanes.end(), [&](const Lane& each) { return each.busy_until_ns <= span.begin_ns; });
  if (lane == lanes.end()) {
    const std::uint64_t track = track_of(TrackKind::kLane, ++lanes_made_);
    put_track(track, track_of(TrackKind::kProcess, span.pid), span.rule->from);
    lanes.push_back({track, 0});
    lane = std::prev(lanes.end());
  }
  lane->busy_until_ns = span.end_ns;
  return lane->track;
}

void PerfettoWriter::put_span(const Span& span, const ExportedEvent& last) {
  const std::uint64_t track =
      span.is_nested ? track_of(TrackKind::kThread, static_cast<std::uint32_t>(span.tid)) : span_track(span);
  std::string& begin = begin_body(Type::kSliceBegin, track);
  add_name(begin, "span", span.rule->from);
  add_annotation(begin, span.rule->key.empty() ? "tid" : span.rule->key, valid_utf8(span.key));
  if (span.tid != last.record.tid) proto::put_fixed(begin, track_event::kFlowIds, span.number);
  put_track_event(span.begin_ns, begin);
  put_track_event(span.end_ns, begin_body(Type::kSliceEnd, track));
}

void PerfettoWriter::put_counters(const ExportedEvent& event, std::uint32_t pid) {
  for (std::size_t i = 0; i < options_.counters.size(); ++i) {
    const CounterRule& rule = options_.counters[i];
    const event::Field* const field = rule.field_of(event.type);
    const auto value = field == nullptr ? std::nullopt : counter_value(*field, event.record.payload);
    if (!value) continue;
    const std::uint64_t track = track_of(TrackKind::kCounter, static_cast<std::uint64_t>(i) << 32 | pid);
    if (told_tracks_.insert(track).second) {
      put_track(track, process_track(pid, event), rule.event + '.' + rule.field);
    }
    std::string& body = begin_body(Type::kCounter, track);
    if (const auto* real = std::get_if<double>(&*value)) {
      proto::put_double(body, track_event::kDoubleCounterValue, *real);
    } else if (const auto* number = std::get_if<std::int64_t>(&*value)) {
      proto::put_signed(body, track_event::kCounterValue, *number);
    } else {
      proto::put(body, track_event::kCounterValue, std::get<std::uint64_t>(*value));
    }
    put_track_event(event.record.time_ns, body);
  }
}

void PerfettoWriter::put_instant(const ExportedEvent& event, std::uint64_t track, const std::vector<Span>& ended) {
  const TypeTexts& texts = texts_of(event.type);
  std::string& body = begin_body(Type::kInstant, track);
  body += texts.names;
  add_fields(body, event, texts);
  if (event.stack != nullptr) proto::put(body, track_event::kCallstackIid, interning_.stack(*event.stack));
  // Where a span has gone on in this thread, an arrow leads here.
  for (const Span& span : ended) {
    if (span.tid != event.record.tid) proto::put_fixed(body, track_event::kTerminatingFlowIds, span.number);
  }
  put_track_event(event.record.time_ns, body);
}

void PerfettoWriter::event(const ExportedEvent& event) {
  begin(event.record.time_ns);
  const std::uint32_t pid = event.task != nullptr && event.task->tgid != 0 ? event.task->tgid
                            : event.stack != nullptr                       ? event.stack->tgid
                                                     : static_cast<std::uint32_t>(event.record.tid);
  const std::uint64_t track = thread_track(pid, event);
  const std::vector<Span> ended = spans_.add(event, pid);
  for (const Span& span : ended) put_span(span, event);
  put_instant(event, track, ended);
  put_counters(event, pid);
}

void PerfettoWriter::lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  begin(time_ns);
  const std::uint64_t track = track_of(TrackKind::kLost, cpu);
  if (told_tracks_.insert(track).second) put_track(track, 0, fmt::format("Lost events, CPU {}", cpu));
  std::string& body = begin_body(Type::kInstant, track);
  add_name(body, "landtrace", "lost");
  add_annotation(body, "cpu", std::uint64_t{cpu});
  if (count != kLostUnknown) add_annotation(body, "events", count);
  put_track_event(time_ns, body);
}

std::string PerfettoWriter::complaint() const { return spans_.complaint(); }

}  // namespace landtrace::output::perfetto
