#include "buffer/printer.hpp"

#include <algorithm>

#include "output/text/bare.hpp"
#include "output/text/line.hpp"
#include "output/text/own_events.hpp"
#include "output/utf8.hpp"

namespace landtrace::buffer {
namespace {

constexpr std::size_t kCommColumn = 16;

}  // namespace

void Printer::prepare(bool anew) {
  types_.refresh();
  clock_.sample();
  if (anew) tasks_.renew();
}

void Printer::append_context(std::string& out, const output::Record& record, const output::Task* task,
                             const TextStyle& style, const output::LinePlace& place) {
  output::Task plain;
  if (style.whole_lines && task != nullptr) {
    plain = *task;
    plain.comm.resize(std::min(plain.comm.size(), kCommColumn));
    std::replace_if(
        plain.comm.begin(), plain.comm.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; },
        '?');
    task = &plain;
  }
  if (style.columns.latency) {
    output::append_latency_context(out, record, task, place, style.columns);
  } else {
    output::append_context(out, record, task, style.columns);
  }
}

void Printer::append(std::string& out, const Found& found, std::uint32_t user, const TextStyle& style,
                     const output::LinePlace& place) {
  const auto& [record, type] = found;
  const bool context = style.columns.context;
  switch (style.body) {
    case TextStyle::Body::kRaw:
      return output::append_raw_line(out, record, type, context);
    case TextStyle::Body::kHex:
      return output::append_hex_line(out, record, type, context);
    case TextStyle::Body::kBin:
      return output::append_bin_line(out, record, type, context);
    case TextStyle::Body::kText:
    case TextStyle::Body::kFields:
      break;
  }
  if (context) append_context(out, record, task_of(found, user, style), style, place);
  output::StackNames* const names = type != nullptr && output::is_user_stack(*type) ? &names_of(user) : nullptr;
  const std::size_t begin = out.size();
  if (style.whole_lines && type != nullptr && !output::is_of_ftrace(*type)) out.append(type->system).append(1, ':');
  if (style.body == TextStyle::Body::kFields) {
    output::append_fields_body(out, record, type);
  } else {
    output::append_text_body(out, record, type, names, style.stack);
  }
  if (!style.whole_lines || names != nullptr) return;
  out.pop_back();  // the end of the line
  output::escape_controls(out, begin);
  out += '\n';
}

output::StackNames& Printer::names_of(std::uint32_t user) {
  const domain::User& who = users_.all()[user];
  symbols::Symbols* const symbols = may_open_files_of(who.uid) ? &symbols_ : nullptr;
  const auto found = objects_.try_emplace(user, UserObjects{MappedObjects(who.uid), output::StackNames(symbols)}).first;
  MappedObjects& table = found->second.table;
  output::StackNames& names = found->second.names;
  table.refresh(who.data(), [&](unwind::MappedObject object) {
    object.first_seen = clock_.shown(object.first_seen);
    names.objects().add(std::move(object));
  });
  return names;
}

}  // namespace landtrace::buffer
