#include "output/chrome/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "output/decimal.hpp"
#include "output/json/string.hpp"
#include "output/json/value.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output {
namespace {

constexpr std::size_t kLongestNumber = kMaxDigits + 1;  // with a point in it

}  // namespace

ChromeWriter::ChromeWriter(Target& target, Options options)
    : target_(target), options_(std::move(options)), spans_(options_.spans) {
  target_.bytes() += kBegin;
}

ChromeWriter::TypeTexts::TypeTexts(const EventType& type) : names(type.declaration), is_stack(is_user_stack(type)) {
  behind_ids = ",\"s\":\"t\",\"cat\":";
  json::append_string(behind_ids, type.system);
  behind_ids += ",\"name\":";
  json::append_string(behind_ids, type.name);
}

// Times are in microseconds.
void ChromeWriter::begin(char phase, std::uint64_t time_ns, std::uint32_t pid, std::int32_t tid) {
  char text[3 * (kLongestNumber + 10) + 10];  // of names and numbers
  char* at = put_text(text, is_first_ ? "{\"ph\":\"" : ",\n{\"ph\":\"");
  is_first_ = false;
  *at++ = phase;
  at = put_us(put_text(at, "\",\"ts\":"), time_ns);
  at = put_decimal(put_text(at, ",\"pid\":"), pid);
  at = put_decimal(put_text(at, ",\"tid\":"), tid);
  target_.bytes().append(text, static_cast<std::size_t>(at - text));
}

void ChromeWriter::put_name(const char* what, std::uint32_t pid, std::int32_t tid, const std::string& name) {
  begin('M', 0, pid, tid);
  target_.bytes() += fmt::format(",\"name\":\"{}\",\"args\":{{\"name\":", what);
  json::append_string(target_.bytes(), name);
  target_.bytes() += '}';
  finish();
}

void ChromeWriter::tell_names(std::uint32_t pid, const ExportedEvent& event) {
  if (event.task == nullptr) return;
  const std::int32_t tid = event.record.tid;
  const auto [told, is_new] = told_.try_emplace(tid, event.task->comm);
  if (!is_new && told->second == event.task->comm) return;
  told->second = event.task->comm;
  put_name("thread_name", pid, tid, event.task->comm);
  if (!told_processes_.insert(pid).second) return;
  const auto leader = tasks_.find(static_cast<std::int32_t>(pid));
  put_name("process_name", pid, tid, leader == tasks_.end() ? event.task->comm : leader->second.comm);
}

// In the thread's own lane if nothing overlaps there, else in a lane beside it.
void ChromeWriter::put_span(const Span& span, const ExportedEvent& last, std::uint32_t pid) {
  const auto put_rest = [&] {
    std::string& out = target_.bytes();
    out += ",\"cat\":\"span\",\"name\":";
    json::append_string(out, span.rule->from);
  };
  const auto put_key = [&] {
    std::string& out = target_.bytes();
    out += ",\"args\":{";
    json::append_string(out, span.rule->key.empty() ? "tid" : span.rule->key);
    out += ':';
    json::append_string(out, span.key);
    out += '}';
  };
  if (span.is_nested) {
    begin('X', span.begin_ns, span.pid, span.tid);
    char text[kLongestNumber + 10];
    char* const end = put_us(put_text(text, ",\"dur\":"), span.end_ns - span.begin_ns);
    target_.bytes().append(text, static_cast<std::size_t>(end - text));
    put_rest();
    put_key();
    return finish();
  }
  // Where it goes on in another thread, an arrow leads there.
  const bool moves = span.tid != last.record.tid;
  for (const char phase : {'b', 's', 'f', 'e'}) {
    const bool is_flow = phase == 's' || phase == 'f';
    if (is_flow && !moves) continue;
    const bool is_begin = phase == 'b' || phase == 's';
    begin(phase, is_begin ? span.begin_ns : span.end_ns, is_begin || !is_flow ? span.pid : pid,
          is_begin || !is_flow ? span.tid : last.record.tid);
    target_.bytes() += ",\"id\":";
    append_decimal(target_.bytes(), span.number);
    if (phase == 'f') target_.bytes() += ",\"bp\":\"e\"";
    put_rest();
    if (phase == 'b') put_key();
    finish();
  }
}

void ChromeWriter::put_counters(const ExportedEvent& event, std::uint32_t pid) {
  for (const CounterRule& rule : options_.counters) {
    const event::Field* const field = rule.field_of(event.type);
    const auto value = field == nullptr ? std::nullopt : counter_value(*field, event.record.payload);
    if (!value) continue;
    begin('C', event.record.time_ns, pid, event.record.tid);
    std::string& out = target_.bytes();
    out += ",\"name\":";
    json::append_string(out, rule.event + '.' + rule.field);
    out += ",\"args\":{\"value\":";
    // Of a bool 0 or 1; of a float no more digits than it has.
    if (const auto* number = std::get_if<std::uint64_t>(&*value)) {
      append_decimal(out, *number);
    } else {
      json::append_value(out, *field, event.record.payload);
    }
    out += '}';
    finish();
  }
}

void ChromeWriter::event(const ExportedEvent& event) {
  const Record& record = event.record;
  const std::uint32_t pid = event.task != nullptr && event.task->tgid != 0 ? event.task->tgid
                            : event.stack != nullptr                       ? event.stack->tgid
                                                                           : static_cast<std::uint32_t>(record.tid);
  tell_names(pid, event);
  begin('i', record.time_ns, pid, record.tid);
  std::string& out = target_.bytes();
  const TypeTexts& texts = types_.of(event.type);
  out += texts.behind_ids;
  if (!texts.is_stack) {
    out += ",\"args\":";
    texts.names.append_object(out, event.type.declaration, record.payload);
  }
  if (event.stack != nullptr) {
    const std::uint32_t number = frames_.number(*event.stack);
    stacks_ = std::max(stacks_, number + 1);
    out += ",\"sf\":\"s";
    append_decimal(out, number);
    out += '"';
  }
  finish();
  put_counters(event, pid);
  for (const Span& span : spans_.add(event, pid)) put_span(span, event, pid);
  target_.flush_if_full();
}

void ChromeWriter::lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  begin('i', time_ns, 0, 0);
  target_.bytes() +=
      fmt::format(",\"s\":\"g\",\"cat\":\"landtrace\",\"name\":\"lost\",\"args\":{{\"cpu\":{},\"events\":{}}}", cpu,
                  count == kLostUnknown ? "null" : std::to_string(count));
  finish();
}

// Frames are nodes of a tree; a stack is its innermost frame.
void ChromeWriter::put_frames() {
  std::string& out = target_.bytes();
  std::map<std::pair<std::string, std::string>, std::string> nodes;  // by parent and name
  bool is_first = true;
  const auto put = [&](const std::string& id, const std::string& parent, const Frame& frame) {
    if (!is_first) out += ",\n";
    is_first = false;
    json::append_string(out, id);
    out += ":{\"name\":";
    json::append_string(out, frame.name);
    out += ",\"category\":";
    json::append_string(out, frame.file);
    if (!parent.empty()) {
      out += ",\"parent\":";
      json::append_string(out, parent);
    }
    out += '}';
    target_.flush_if_full();
  };
  for (std::uint32_t stack = 0; stack < stacks_; ++stack) {
    const std::vector<Frame> frames = frames_.named(stack);
    std::string parent;
    for (std::size_t i = frames.size(); i-- > 1;) {
      const auto [node, is_new] = nodes.try_emplace({parent, frames[i].name}, "");
      if (is_new) {
        node->second = 'f' + std::to_string(nodes.size());
        put(node->second, parent, frames[i]);
      }
      parent = node->second;
    }
    put('s' + std::to_string(stack), parent, frames.empty() ? Frame{"?", ""} : frames.front());
  }
}

void ChromeWriter::end() {
  target_.bytes() += "\n],\n\"stackFrames\":{";
  put_frames();
  target_.bytes() += "}}\n";
}

std::string ChromeWriter::complaint() const { return spans_.complaint(); }

}  // namespace landtrace::output
