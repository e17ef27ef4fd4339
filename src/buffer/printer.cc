#include "buffer/printer.hpp"

#include "output/text/bare.hpp"
#include "output/text/line.hpp"

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
  output::append_text_body(out, record, type);
}

}  // namespace landtrace::buffer
