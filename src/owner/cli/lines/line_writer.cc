#include "cli/lines/line_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "cli/visible.hpp"
#include "output/text/line.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::cli {
namespace {

constexpr std::string_view kTimeColor = "\033[36m";
constexpr std::string_view kNameColor = "\033[1m";
constexpr std::string_view kStackColor = "\033[2m";
constexpr std::string_view kLostColor = "\033[1;31m";
constexpr std::string_view kPlain = "\033[0m";

bool prints_stack(const output::EventType& type) {
  const auto& fields = type.declaration.fields;
  return output::is_user_stack(type) || std::any_of(fields.begin(), fields.end(), [](const event::Field& field) {
           return field.kind == event::FieldKind::kDataLocStack;
         });
}

void color(std::string& text, std::size_t begin, std::size_t end, std::string_view how) {
  text.insert(end, kPlain);
  text.insert(begin, how);
}

// "… [000] .....    12.345678: ": where the time is, without its colon.
std::pair<std::size_t, std::size_t> place_of_time(const std::string& context) {
  const std::size_t end = context.rfind(':');
  const std::size_t space = context.rfind(' ', end);
  return {space == context.npos ? 0 : space + 1, end == context.npos ? context.size() : end};
}

}  // namespace

LineWriter::LineWriter(const LineStyle& style, bool time_in_ns) : style_(style) { columns_.time_in_ns = time_in_ns; }

LineWriter::LineWriter(const LineWriter& other)
    : style_(other.style_),
      columns_(other.columns_),
      wall_(other.wall_),
      symbols_(other.symbols_),
      names_(other.names_),
      text_(other.text_, &names_),
      has_stack_(other.has_stack_),
      cut_(other.cut_),
      field_names_(other.field_names_),
      is_first_(other.is_first_) {}

void LineWriter::set_wall_offset(std::int64_t offset_ns) {
  if (const auto zone = style_.zone()) wall_.emplace(*zone, offset_ns);
}

// In the order in which the user named them. The addresses of a probe's line are found by their place among the fields,
// the first, and are no fields there.
std::vector<event::Field> LineWriter::chosen_fields(const event::Declaration& declaration) const {
  std::vector<event::Field> chosen;
  for (const std::string& name : style_.fields) {
    for (const event::Field& field : declaration.fields) {
      if (field.name == name) chosen.push_back(field);
    }
  }
  if (chosen.empty() || style_.json || !event::is_probe(declaration.flavour)) return chosen;
  std::vector<event::Field> all;
  for (const event::Field& field : declaration.fields) {
    if (field.fetch.empty()) all.push_back(field);
  }
  all.insert(all.end(), chosen.begin(), chosen.end());
  return all;
}

void LineWriter::know(const output::EventType& type) {
  has_stack_[type.id] = prints_stack(type);
  json_.know(type);
  text_.know(type);
  if (style_.fields.empty() || output::is_of_ftrace(type)) return;
  output::EventType cut = type;
  cut.declaration.fields = chosen_fields(type.declaration);
  for (const event::Field& field : type.declaration.fields) field_names_.insert(field.name);
  text_.know(cut);
  cut_.insert_or_assign(type.id, std::move(cut));
}

std::vector<std::string> LineWriter::fields_nobody_has() const {
  std::vector<std::string> missing;
  for (const std::string& name : style_.fields) {
    if (!field_names_.contains(name)) missing.push_back(name);
  }
  return missing;
}

const output::EventType* LineWriter::cut(const output::EventType* type) const {
  if (type == nullptr || cut_.empty()) return type;
  const auto cut = cut_.find(type->id);
  return cut != cut_.end() ? &cut->second : type;
}

// Of times that are not those of the clock: since when they are.
void LineWriter::begin(const output::Record& record) {
  if (std::exchange(is_first_, false) && (style_.is_relative || style_.is_delta)) columns_.origin_ns = record.time_ns;
}

void LineWriter::event(std::string& out, const output::Record& record, const output::Task* who,
                       const output::EventType* type) {
  type = cut(type);
  begin(record);
  if (style_.json) {
    put_json(out, record, who, type);
  } else {
    put_context(out, record, who);
    put_body(out, record, type);
  }
  if (style_.is_delta) columns_.origin_ns = record.time_ns;
}

void LineWriter::event(event::TextBuffer& out, const output::Record& record, const output::Task* who,
                       const output::EventType* type) {
  const output::EventType* const wanted = cut(type);
  const bool has_fields = wanted == type || !wanted->declaration.fields.empty();
  if (style_.json || wall_ || style_.for_terminal || !has_fields) {
    line_.clear();
    event(line_, record, who, type);
    return out.append(line_);
  }
  begin(record);
  text_.append(out, record, who, wanted, columns_);
  if (style_.is_delta) columns_.origin_ns = record.time_ns;
}

void LineWriter::put_json(std::string& out, const output::Record& record, const output::Task* who,
                          const output::EventType* type) {
  const std::size_t begin = out.size();
  json_.append(out, record, who, type);
  if (!wall_) return;
  const std::size_t behind_time = out.find(',', begin);
  out.insert(behind_time, fmt::format(",\"{}\":\"{}\"", style_.is_utc ? "utc" : "local", wall_->text(record.time_ns)));
}

void LineWriter::put_context(std::string& out, const output::Record& record, const output::Task* who) {
  if (!wall_ && !style_.for_terminal) return output::append_context(out, record, who, columns_);
  std::string context;
  output::append_context(context, record, who, columns_);
  auto [begin, end] = place_of_time(context);
  if (wall_) {
    while (begin >= 2 && context[begin - 2] == ' ') --begin;  // what filled the column of a shorter time
    context.replace(begin, end - begin, wall_->text(record.time_ns));
  }
  if (style_.for_terminal) context = visible(context, Lines::kNone);
  if (style_.has_colors) {
    std::tie(begin, end) = place_of_time(context);
    color(context, begin, end, kTimeColor);
  }
  out += context;
}

// A text of a program cannot look like another line.
void LineWriter::put_body(std::string& out, const output::Record& record, const output::EventType* type) {
  // One that has none of the fields that are wanted.
  if (type != nullptr && type->declaration.fields.empty() && cut_.contains(type->id)) {
    out += style_.for_terminal ? visible(type->name, Lines::kNone) : type->name;
    out += ":\n";
    return;
  }
  if (!style_.for_terminal) return output::append_text_body(out, record, type, &names_);
  std::string body;
  output::append_text_body(body, record, type, &names_);
  body = visible_record(body, has_stack_[record.event_id]);
  if (style_.has_colors) {
    if (const std::size_t frames = body.find('\n'); frames + 1 < body.size()) {
      color(body, frames + 1, body.size() - 1, kStackColor);
    }
    if (type != nullptr && body.starts_with(type->name)) color(body, 0, type->name.size(), kNameColor);
  }
  out += body;
}

void LineWriter::lost(std::string& out, std::uint32_t cpu, std::uint64_t count) {
  if (style_.json) return output::append_json_lost(out, cpu, count);
  const std::size_t begin = out.size();
  output::append_text_lost(out, cpu, count);
  if (style_.has_colors) color(out, begin, out.size() - 1, kLostColor);
}

void LineWriter::lost(event::TextBuffer& out, std::uint32_t cpu, std::uint64_t count) {
  line_.clear();
  lost(line_, cpu, count);
  out.append(line_);
}

}  // namespace landtrace::cli
