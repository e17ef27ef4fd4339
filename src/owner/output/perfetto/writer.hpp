// Perfetto's own trace format, for ui.perfetto.dev and trace_processor: a track for each process and thread, an instant
// an event with its fields and its stack, spans (--span) with arrows where they end in another thread, counters
// (--counter), and a track of what was lost.
//
// A file is a sequence of packets, each a TracePacket of the public perfetto_trace.proto, in the order of time but for
// spans, which are written when they end.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/export/counters.hpp"
#include "output/export/exporter.hpp"
#include "output/export/spans.hpp"
#include "output/export/target.hpp"
#include "output/perfetto/fields.hpp"
#include "output/perfetto/interning.hpp"

namespace landtrace::output::perfetto {

class PerfettoWriter : public Exporter {
 public:
  struct Options {
    std::vector<SpanRule> spans;
    std::vector<CounterRule> counters;
    std::optional<std::int64_t> wall_offset_ns;  // to nanoseconds since 1970
  };
  PerfettoWriter(Target& target, Options options);

  void type(const EventType& type) override { types_.erase(type.id); }
  void task(std::int32_t tid, const Task& task) override { tasks_[tid] = task; }
  void object(const MappedObject& object) override { interning_.add(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  [[nodiscard]] std::string complaint() const override;

 private:
  using Type = track_event::Type;
  struct Lane {
    std::uint64_t track;
    std::uint64_t busy_until_ns;
  };

  // Of a type's events, what is the same in all of them.
  struct TypeTexts {
    std::string names;                       // the event's, as they stand in its message
    std::vector<std::uint64_t> field_names;  // the numbers that its fields' names have
    bool is_stack = false;
  };

  void begin(std::uint64_t time_ns);
  void put_packet(std::string& packet);  // adds to it what each has
  const TypeTexts& texts_of(const EventType& type);
  void add_fields(std::string& body, const ExportedEvent& event, const TypeTexts& texts);
  void put_track_event(std::uint64_t time_ns, const std::string& body);
  void put_track(std::uint64_t track, std::uint64_t parent, const std::string& name);
  // In body_, until the next one begins.
  [[nodiscard]] std::string& begin_body(Type type, std::uint64_t track);
  void add_name(std::string& body, const std::string& category, const std::string& name);
  template <typename Value>
  void add_annotation(std::string& body, const std::string& name, const Value& value);

  std::uint64_t process_track(std::uint32_t pid, const ExportedEvent& event);
  std::uint64_t thread_track(std::uint32_t pid, const ExportedEvent& event);
  std::uint64_t span_track(const Span& span);
  void put_instant(const ExportedEvent& event, std::uint64_t track, const std::vector<Span>& ended);
  void put_span(const Span& span, const ExportedEvent& last);
  void put_counters(const ExportedEvent& event, std::uint32_t pid);

  Target& target_;
  Options options_;
  SpanFinder spans_;
  Interning interning_;
  std::unordered_map<std::uint16_t, TypeTexts> types_;  // by id
  std::string body_;                                    // kept for its room
  bool has_begun_ = false;
  std::unordered_map<std::int32_t, Task> tasks_;
  std::unordered_map<std::int32_t, std::string> told_;  // names of threads
  std::set<std::uint32_t> told_processes_;
  std::set<std::uint64_t> told_tracks_;
  std::map<std::pair<std::uint32_t, const SpanRule*>, std::vector<Lane>> lanes_;  // beside the threads of a process
  std::uint64_t lanes_made_ = 0;
};

}  // namespace landtrace::output::perfetto

namespace landtrace::output {
using perfetto::PerfettoWriter;
}
