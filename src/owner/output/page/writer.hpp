// A recording as one page: an HTML file that needs nothing else and asks nobody. Its data are blocks, each an element
// with base64 of sections one behind the other; what refers to something stands behind it. All numbers are varints
// (column.hpp), all texts are numbers of texts (strings.hpp), all times are since kAbout's `base`.
//
//     kStrings   count, then of each its length and bytes
//     kType      an event: its number, system, name, count of columns, then of each its name, type, kind (fields.hpp)
//     kEvents    count; columns: time, type, thread, CPU, stack + 1 (0: none); count of types among them, then of each
//                its number, count, and its columns
//     kSpans     count; columns: rule, begin, end, thread of the begin, of the end, key (a text), 1 if it is nested
//     kLost      count; columns: CPU, how many (0: not known), time, how many events stand before
//     kThreads   count; columns: tid, pid, name (a text)
//     kFrames    count; columns: function (a text), file (a text; 0: not known)
//     kStacks    count; column: how many frames; count of all; column: frames, the innermost first
//     kRules     count; columns: from, to, key (texts; 0: the thread)
//     kCounters  count; columns: event, field (texts)
//     kAbout     count; then of each a name and a value, both texts
//
// Memory: a block, the texts of late (Strings), threads, and each different stack once.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/chrome/writer.hpp"
#include "output/export/exporter.hpp"
#include "output/export/frames.hpp"
#include "output/export/spans.hpp"
#include "output/export/target.hpp"
#include "output/page/column.hpp"
#include "output/page/fields.hpp"
#include "output/page/strings.hpp"

namespace landtrace::output {

class PageWriter : public Exporter {
 public:
  struct Options {
    std::vector<SpanRule> spans = {};
    std::vector<CounterRule> counters = {};
    std::uint64_t limit = ~0ull;                    // events in the page; those behind are counted
    std::map<std::string, std::string> about = {};  // what the page says of the recording: "file", "clock", …
  };
  PageWriter(Target& target, Options options);

  void task(std::int32_t tid, const Task& task) override { tasks_[tid] = task; }
  void object(const MappedObject& object) override { frames_.add(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void damaged(const std::string& why, std::uint64_t read) override;
  void end() override;
  [[nodiscard]] std::string complaint() const override;

  [[nodiscard]] std::uint64_t shown() const { return events_; }
  // Behind the limit.
  [[nodiscard]] std::uint64_t not_shown() const { return more_; }

 private:
  // What is known of a type that the page has been told of.
  struct Table {
    std::uint32_t number = 0;
    std::string name;  // SYSTEM:EVENT
    const EventType* type = nullptr;
    std::vector<page::FieldColumn> fields;
    std::vector<page::Column> columns;
    std::size_t rows = 0;  // in this block
  };
  // Columns of a section that is the same for all events.
  template <std::size_t N>
  struct Rows {
    page::Column column[N];
    [[nodiscard]] std::size_t size() const { return column[0].size(); }
    void append_to(std::string& out) const;
    void clear();
  };
  struct Thread {
    std::int32_t tid = 0;
    std::uint32_t pid = 0;
    std::string name;
  };

  Table& table_of(const EventType& type);
  void tell_type(const Table& table);
  std::uint32_t thread_of(const ExportedEvent& event, std::uint32_t pid);
  std::uint32_t thread_of(const Span& span);
  void add_fields(Table& table, const ExportedEvent& event);
  std::uint32_t stack_of(const ExportedEvent& event);
  std::int64_t since_base(std::uint64_t time_ns);
  [[nodiscard]] std::int64_t number_of(const SpanRule& rule) const;
  void put_spans(const ExportedEvent& event, std::uint32_t pid, std::uint32_t thread);
  template <std::size_t N>
  void put_rows(char section, Rows<N>& rows);
  void put_tables();
  void put_block();
  void put_stacks();
  void put_threads();
  void put_rules();
  void put_about();

  Target& target_;
  Options options_;
  SpanFinder spans_;
  Frames frames_;
  std::uint32_t stacks_ = 0;
  std::unordered_map<std::int32_t, Task> tasks_;
  page::Strings strings_;
  std::unordered_map<std::uint16_t, Table> tables_;  // by event id
  std::vector<std::uint16_t> used_;                  // ids of those with rows in this block
  std::uint32_t types_told_ = 0;
  std::vector<Thread> threads_;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::uint32_t> thread_numbers_;  // by tid and pid
  std::string block_;                                                               // sections, behind their texts
  Rows<5> rows_;
  Rows<7> span_rows_;
  Rows<4> lost_rows_;
  std::uint64_t base_ns_ = 0;
  bool has_base_ = false;
  std::uint64_t last_ns_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t more_ = 0;
  std::uint64_t more_lost_ = 0;
};

}  // namespace landtrace::output
