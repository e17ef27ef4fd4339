#include "output/csv/writer.hpp"

#include <algorithm>
#include <cmath>

#include "base/digits.hpp"
#include "output/export/value.hpp"
#include "output/field_text.hpp"
#include "output/json/value.hpp"
#include "output/text/own_events.hpp"
#include "output/utf8.hpp"

namespace landtrace::output {

// Of a type that comes again the newest counts, as long as no row has been written.
void CsvWriter::type(const EventType& type) {
  if (!has_begun_) types_[type.id] = type;
}

void CsvWriter::begin() {
  has_begun_ = true;
  for (const auto& [id, type] : types_) {
    if (is_user_stack(type)) continue;  // a column of its own
    for (const event::Field& field : type.declaration.fields) {
      if (std::find(columns_.begin(), columns_.end(), field.name) == columns_.end()) columns_.push_back(field.name);
    }
  }
  for (const auto& [id, type] : types_) {
    Row& row = rows_[id];
    row.is_stack = is_user_stack(type);
    row.name = ",";
    put(row.name, type.system + ':' + type.name);
    row.name += ',';
    for (const std::string& column : columns_) {
      const auto& all = type.declaration.fields;
      const auto field = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == column; });
      row.fields.push_back(field == all.end() || row.is_stack ? nullptr : &*field);
    }
  }
  std::string& out = target_.bytes();
  out += "time,cpu,pid,tid,comm,event,lost";
  for (const std::string& column : columns_) {
    out += ',';
    put(column);
  }
  if (options_.has_stacks) out += ",stack";
  out += "\r\n";
}

void CsvWriter::put(std::string& out, std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (!std::all_of(text.begin(), text.end(), is_ascii)) return put_quoted(out, valid_utf8(text));
  put_quoted(out, text);
}

void CsvWriter::put_quoted(std::string& out, std::string_view text) {
  const auto is_special = [](char c) { return c == '"' || c == ',' || c == '\r' || c == '\n'; };
  if (std::none_of(text.begin(), text.end(), is_special)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

char* CsvWriter::put_time(char* at, std::uint64_t time_ns, std::uint32_t cpu) const {
  constexpr std::uint64_t kSecond_ns = 1'000'000'000;
  if (options_.time_in_ns) {
    at = put_decimal(at, time_ns / kSecond_ns);
    *at++ = '.';
    at = put_right(at, time_ns % kSecond_ns, 9, '0');
  } else {
    at = put_decimal(at, time_ns);
  }
  *at++ = ',';
  return put_decimal(at, cpu);
}

void CsvWriter::put_value(const event::Field& field, std::span<const std::byte> payload) {
  if (is_text(field)) return put(text_of(field, payload));
  std::string& value = value_;
  value.clear();
  json::append_value(value, field, payload);
  if (std::string_view(value) == "null") return put_no_number(field, payload);
  const bool is_hex = value.size() >= 2 && value.front() == '"';
  put(is_hex ? std::string_view(value).substr(1, value.size() - 2) : std::string_view(value));
}

// What JSON has no word for. Of a value that is missing nothing.
void CsvWriter::put_no_number(const event::Field& field, std::span<const std::byte> payload) {
  const FieldValue value = value_of(field, payload);
  const auto* const real = std::get_if<double>(&value);
  if (real == nullptr) return;
  put(std::isnan(*real) ? "nan" : *real < 0 ? "-inf" : "inf");
}

const std::string& CsvWriter::text_of_stack(const UserStack& stack) {
  const std::uint32_t number = frames_.number(stack);
  const auto [known, is_new] = stacks_.try_emplace(number);
  if (is_new) {
    const std::vector<Frame> frames = frames_.named(number);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (frame != frames.rbegin()) known->second += ';';
      known->second += frame->name;
    }
  }
  return known->second;
}

void CsvWriter::event(const ExportedEvent& event) {
  if (!has_begun_) begin();
  const Record& record = event.record;
  std::string& out = target_.bytes();
  char ids[5 * kMaxDigits];
  char* at = put_text(put_time(ids, record.time_ns, record.cpu), ",");
  if (event.task != nullptr && event.task->tgid != 0) at = put_decimal(at, event.task->tgid);
  at = put_text(put_decimal(put_text(at, ","), record.tid), ",");
  out.append(ids, static_cast<std::size_t>(at - ids));
  if (event.task != nullptr) put(event.task->comm);
  const Row& row = rows_[record.event_id];
  out += row.name;
  for (const event::Field* const field : row.fields) {
    out += ',';
    if (field != nullptr) put_value(*field, record.payload);
  }
  if (options_.has_stacks) {
    out += ',';
    if (event.stack != nullptr) {
      put(text_of_stack(*event.stack));
    } else if (row.is_stack) {
      UserStack own = parse_user_stack(record.payload);
      own.time_ns = record.time_ns;
      put(text_of_stack(own));
    }
  }
  out += "\r\n";
  target_.flush_if_full();
}

void CsvWriter::lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) {
  if (!has_begun_) begin();
  std::string& out = target_.bytes();
  char text[3 * kMaxDigits];
  out.append(text, static_cast<std::size_t>(put_time(text, time_ns, cpu) - text));
  out += ",,,,,";
  out += count == kLostUnknown ? "some" : std::to_string(count);
  out.append(columns_.size() + (options_.has_stacks ? 1 : 0), ',');
  out += "\r\n";
}

void CsvWriter::end() {
  if (!has_begun_) begin();
}

}  // namespace landtrace::output
