#include "buffer/printer.hpp"

#include <unistd.h>

#include "output/text/bare.hpp"
#include "output/text/line.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::buffer {

void Printer::prepare(bool anew) {
  types_.refresh();
  clock_.sample();
  if (anew) tasks_.renew();
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
  if (context) {
    const output::Task* const task = task_of(found, user, style);
    if (style.columns.latency) {
      output::append_latency_context(out, record, task, place, style.columns);
    } else {
      output::append_context(out, record, task, style.columns);
    }
  }
  if (style.body == TextStyle::Body::kFields) return output::append_fields_body(out, record, type);
  output::StackNames* const names = type != nullptr && output::is_user_stack(*type) ? &names_of(user) : nullptr;
  output::append_text_body(out, record, type, names, style.stack);
}

// The files of other users' programs are not opened: the owner may be root, and a file system of theirs could keep it
// waiting for ever. Their frames are shown by object.
output::StackNames& Printer::names_of(std::uint32_t user) {
  const domain::User& who = users_.all()[user];
  symbols::Symbols* const symbols = who.uid == ::geteuid() ? &symbols_ : nullptr;
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
