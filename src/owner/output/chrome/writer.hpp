// Trace events in JSON, as chrome://tracing, ui.perfetto.dev and speedscope read them: lanes of processes and threads,
// an instant an event, spans (--span), counters (--counter), and stacks as a tree of frames.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/export/by_type.hpp"
#include "output/export/counters.hpp"
#include "output/export/exporter.hpp"
#include "output/export/frames.hpp"
#include "output/export/spans.hpp"
#include "output/export/target.hpp"
#include "output/json/object.hpp"

namespace landtrace::output {

class ChromeWriter : public Exporter {
 public:
  // What a file begins with, and ends with where the frames of stacks are not known.
  static constexpr std::string_view kBegin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  static constexpr std::string_view kEndWithoutFrames = "\n],\n\"stackFrames\":{}}\n";

  struct Options {
    std::vector<SpanRule> spans;
    std::vector<CounterRule> counters;
  };
  ChromeWriter(Target& target, Options options);

  void type(const EventType& type) override { types_.forget(type.id); }
  void task(std::int32_t tid, const Task& task) override { tasks_[tid] = task; }
  void object(const MappedObject& object) override { frames_.add(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void end() override;
  [[nodiscard]] std::string complaint() const override;

 private:
  struct TypeTexts {
    explicit TypeTexts(const EventType& type);
    std::string behind_ids;  // ,"s":"t","cat":"user_events","name":"job"
    json::FieldNames names;
    bool is_stack;
  };

  void begin(char phase, std::uint64_t time_ns, std::uint32_t pid, std::int32_t tid);
  void finish() { target_.bytes() += '}'; }
  void put_name(const char* what, std::uint32_t pid, std::int32_t tid, const std::string& name);
  void tell_names(std::uint32_t pid, const ExportedEvent& event);
  void put_span(const Span& span, const ExportedEvent& last, std::uint32_t pid);
  void put_counters(const ExportedEvent& event, std::uint32_t pid);
  void put_frames();

  Target& target_;
  Options options_;
  SpanFinder spans_;
  ByType<TypeTexts> types_;
  std::unordered_map<std::int32_t, Task> tasks_;
  std::unordered_map<std::int32_t, std::string> told_;  // names of threads
  std::set<std::uint32_t> told_processes_;
  Frames frames_;
  std::uint32_t stacks_ = 0;
  bool is_first_ = true;
};

}  // namespace landtrace::output
