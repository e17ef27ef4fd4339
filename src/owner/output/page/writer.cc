#include "output/page/writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "output/page/base64.hpp"
#include "output/page/parts.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

using page::append_varint;

// Sections, as the page's decoder knows them.
struct PagePart {
  enum : char { kStrings = 1, kType, kEvents, kSpans, kLost, kThreads, kFrames, kStacks, kRules, kCounters, kAbout };
};

constexpr std::size_t kMostRows = 1 << 16;  // of a block

std::uint32_t pid_of(const ExportedEvent& event) {
  if (event.task != nullptr && event.task->tgid != 0) return event.task->tgid;
  if (event.stack != nullptr) return event.stack->tgid;
  return static_cast<std::uint32_t>(event.record.tid);
}

}  // namespace

template <std::size_t N>
void PageWriter::Rows<N>::append_to(std::string& out) const {
  append_varint(out, size());
  if (size() == 0) return;
  for (const page::Column& each : column) each.append_to(out);
}

template <std::size_t N>
void PageWriter::Rows<N>::clear() {
  for (page::Column& each : column) each.clear();
}

PageWriter::PageWriter(Target& target, Options options)
    : target_(target), options_(std::move(options)), spans_(options_.spans) {
  target_.bytes() += page::page_begin();
}

std::int64_t PageWriter::since_base(std::uint64_t time_ns) {
  if (!has_base_) base_ns_ = time_ns;
  has_base_ = true;
  return static_cast<std::int64_t>(time_ns - base_ns_);
}

// A recording can say later what a type is, or take its id for another.
PageWriter::Table& PageWriter::table_of(const EventType& type) {
  Table& table = tables_[type.id];
  if (table.type == &type) return table;
  std::vector<page::FieldColumn> fields = page::columns_of(type);
  const std::string name = type.system + ':' + type.name;
  const auto is_same = [](const page::FieldColumn& a, const page::FieldColumn& b) { return a.field == b.field; };
  if (table.type != nullptr && table.name == name &&
      std::equal(fields.begin(), fields.end(), table.fields.begin(), table.fields.end(), is_same)) {
    table.type = &type;
    return table;
  }
  if (table.rows > 0) put_block();
  table = Table();
  table.number = types_told_++;
  table.name = name;
  table.type = &type;
  table.fields = std::move(fields);
  for (const page::FieldColumn& field : table.fields) table.columns.emplace_back(field.kind == page::ValueKind::kReal);
  tell_type(table);
  return table;
}

void PageWriter::tell_type(const Table& table) {
  block_ += PagePart::kType;
  append_varint(block_, table.number);
  append_varint(block_, strings_.number(table.type->system));
  append_varint(block_, strings_.number(table.type->name));
  append_varint(block_, table.fields.size());
  for (const page::FieldColumn& field : table.fields) {
    append_varint(block_, strings_.number(field.name));
    append_varint(block_, strings_.number(field.field.type));
    append_varint(block_, static_cast<std::uint64_t>(field.kind));
  }
}

std::uint32_t PageWriter::thread_of(const ExportedEvent& event, std::uint32_t pid) {
  const std::int32_t tid = event.record.tid;
  const auto [known, is_new] = thread_numbers_.try_emplace({tid, pid}, static_cast<std::uint32_t>(threads_.size()));
  if (is_new) threads_.push_back({tid, pid, ""});
  // The last name counts.
  Thread& thread = threads_[known->second];
  if (event.task != nullptr && thread.name != event.task->comm) thread.name = event.task->comm;
  return known->second;
}

// It began in an event, so its thread is known.
std::uint32_t PageWriter::thread_of(const Span& span) { return thread_numbers_.at({span.tid, span.pid}); }

std::uint32_t PageWriter::stack_of(const ExportedEvent& event) {
  std::uint32_t number = 0;
  if (event.stack != nullptr) {
    number = frames_.number(*event.stack);
  } else if (is_user_stack(event.type)) {
    UserStack own = parse_user_stack(event.record.payload);
    own.time_ns = event.record.time_ns;
    number = frames_.number(own);
  } else {
    return 0;
  }
  stacks_ = std::max(stacks_, number + 1);
  return number + 1;
}

void PageWriter::add_fields(Table& table, const ExportedEvent& event) {
  if (table.rows++ == 0) used_.push_back(event.type.id);
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    page::add_value(table.columns[i], strings_, table.fields[i], event.record.payload);
  }
}

std::int64_t PageWriter::number_of(const SpanRule& rule) const {
  const auto is_it = [&](const SpanRule& other) {
    return other.from == rule.from && other.to == rule.to && other.key == rule.key;
  };
  return std::find_if(options_.spans.begin(), options_.spans.end(), is_it) - options_.spans.begin();
}

void PageWriter::put_spans(const ExportedEvent& event, std::uint32_t pid, std::uint32_t thread) {
  for (const Span& span : spans_.add(event, pid)) {
    auto& column = span_rows_.column;
    column[0].add(number_of(*span.rule));
    column[1].add(since_base(span.begin_ns));
    column[2].add(since_base(span.end_ns));
    column[3].add(thread_of(span));
    column[4].add(thread);
    column[5].add(strings_.number(span.key));
    column[6].add(span.is_nested ? 1 : 0);
  }
}

void PageWriter::event(const ExportedEvent& event) {
  const Record& record = event.record;
  last_ns_ = std::max(last_ns_, record.time_ns);
  if (events_ >= options_.limit) {
    ++more_;
    return;
  }
  const std::uint32_t pid = pid_of(event);
  const std::uint32_t thread = thread_of(event, pid);
  Table& table = table_of(event.type);
  rows_.column[0].add(since_base(record.time_ns));
  rows_.column[1].add(table.number);
  rows_.column[2].add(thread);
  rows_.column[3].add(record.cpu);
  rows_.column[4].add(stack_of(event));
  add_fields(table, event);
  ++events_;
  put_spans(event, pid, thread);
  if (rows_.size() >= kMostRows) put_block();
}

void PageWriter::lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  if (events_ >= options_.limit && more_ > 0) {
    more_lost_ += count == kLostUnknown ? 1 : count;
    return;
  }
  auto& column = lost_rows_.column;
  column[0].add(cpu);
  column[1].add(count == kLostUnknown ? 0 : static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX)));
  column[2].add(since_base(time_ns));
  column[3].add(static_cast<std::int64_t>(events_));
}

void PageWriter::damaged(const std::string& why, std::uint64_t read) {
  options_.about["damaged"] = why;
  options_.about["read"] = std::to_string(read);
}

template <std::size_t N>
void PageWriter::put_rows(char section, Rows<N>& rows) {
  if (rows.size() == 0) return;
  block_ += section;
  rows.append_to(block_);
  rows.clear();
}

void PageWriter::put_tables() {
  append_varint(block_, used_.size());
  for (const std::uint16_t id : used_) {
    Table& table = tables_[id];
    append_varint(block_, table.number);
    append_varint(block_, table.rows);
    for (page::Column& column : table.columns) {
      column.append_to(block_);
      column.clear();
    }
    table.rows = 0;
  }
  used_.clear();
}

void PageWriter::put_block() {
  if (rows_.size() > 0) {
    put_rows(PagePart::kEvents, rows_);
    put_tables();
  }
  put_rows(PagePart::kSpans, span_rows_);
  put_rows(PagePart::kLost, lost_rows_);
  std::string bytes;
  if (strings_.has_new()) {
    bytes += PagePart::kStrings;
    strings_.append_new(bytes);
  }
  bytes += block_;
  block_.clear();
  if (bytes.empty()) return;
  std::string& out = target_.bytes();
  out += page::kDataBegin;
  page::append_base64(out, bytes);
  out += page::kDataEnd;
  target_.flush_if_full();
}

void PageWriter::put_stacks() {
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers;  // of frames
  Rows<2> frames;
  page::Column lengths;
  page::Column all;
  for (std::uint32_t stack = 0; stack < stacks_; ++stack) {
    const std::vector<Frame> named = frames_.named(stack);
    lengths.add(static_cast<std::int64_t>(named.size()));
    for (const Frame& frame : named) {
      const auto [known, is_new] =
          numbers.try_emplace({frame.name, frame.file}, static_cast<std::uint32_t>(numbers.size()));
      all.add(known->second);
      if (!is_new) continue;
      frames.column[0].add(strings_.number(frame.name));
      frames.column[1].add(frame.file.empty() ? page::Strings::kNone : strings_.number(frame.file));
    }
  }
  if (stacks_ == 0) return;
  put_rows(PagePart::kFrames, frames);
  block_ += PagePart::kStacks;
  append_varint(block_, lengths.size());
  lengths.append_to(block_);
  append_varint(block_, all.size());
  if (all.size() > 0) all.append_to(block_);
}

void PageWriter::put_threads() {
  Rows<3> rows;
  for (const Thread& thread : threads_) {
    rows.column[0].add(thread.tid);
    rows.column[1].add(thread.pid);
    rows.column[2].add(strings_.number(thread.name));
  }
  put_rows(PagePart::kThreads, rows);
}

void PageWriter::put_rules() {
  Rows<3> rules;
  for (const SpanRule& rule : options_.spans) {
    rules.column[0].add(strings_.number(rule.from));
    rules.column[1].add(strings_.number(rule.to));
    rules.column[2].add(rule.key.empty() ? page::Strings::kNone : strings_.number(rule.key));
  }
  put_rows(PagePart::kRules, rules);
  Rows<2> counters;
  for (const CounterRule& rule : options_.counters) {
    counters.column[0].add(strings_.number(rule.event));
    counters.column[1].add(strings_.number(rule.field));
  }
  put_rows(PagePart::kCounters, counters);
}

void PageWriter::put_about() {
  auto about = options_.about;
  about["base"] = std::to_string(base_ns_);
  about["last"] = std::to_string(last_ns_);
  about["events"] = std::to_string(events_);
  about["more"] = std::to_string(more_);
  about["more_lost"] = std::to_string(more_lost_);
  about["open_spans"] = std::to_string(spans_.begins_without_end());
  about["unmatched_ends"] = std::to_string(spans_.ends_without_begin());
  block_ += PagePart::kAbout;
  append_varint(block_, about.size());
  for (const auto& [name, value] : about) {
    append_varint(block_, strings_.number(name));
    append_varint(block_, strings_.number(value));
  }
}

void PageWriter::end() {
  put_block();
  put_threads();
  put_rules();
  put_stacks();
  put_about();
  put_block();
  target_.bytes() += page::page_end();
}

std::string PageWriter::complaint() const { return spans_.complaint(); }

}  // namespace landtrace::output
