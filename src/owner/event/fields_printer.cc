#include "event/fields_printer.hpp"

#include <cstring>
#include <optional>

#include "event/print.hpp"
#include "event/put_field.hpp"

namespace landtrace::event {
namespace {

constexpr std::uint32_t kNowhere = ~0u;
// Names are copied in pieces of this size: with a length that is known, a copy is one instruction.
constexpr std::size_t kPiece = 16;

char* put_pieces(char* to, const char* from, std::size_t size) {
  for (std::size_t done = 0; done < size; done += kPiece) std::memcpy(to + done, from + done, kPiece);
  return to + size;
}

// Of a field whose bytes are in the payload: where the data is that it names.
std::optional<Bytes> data_of(FieldKind kind, const std::byte* word_at, std::uint64_t behind, Bytes payload) {
  const auto word = abi::load<std::uint32_t>(word_at);
  const bool is_relative = kind == FieldKind::kRelLocBytes || kind == FieldKind::kRelLocString;
  return abi::bytes_at(payload, is_relative ? abi::rel_location(word, behind) : abi::data_location(word));
}

void put_terminated(TextBuffer& out, Bytes bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  if (!bytes.empty()) out.append({text, ::strnlen(text, bytes.size())});
}

}  // namespace

FieldsPrinter::FieldsPrinter(const Declaration& declaration)
    : declaration_(declaration), is_of_program_(declaration.flavour == Flavour::kUser && !declaration.fields.empty()) {
  if (!is_of_program_) return;
  for (const Field& field : declaration.fields) {
    const bool is_in_payload = field.offset >= abi::kEntryHeaderSize;
    steps_.push_back({.kind = field.kind,
                      .at = is_in_payload ? field.offset - abi::kEntryHeaderSize : kNowhere,
                      .size = field.size,
                      .name_at = static_cast<std::uint32_t>(names_.size()),
                      .name_size = static_cast<std::uint32_t>(field.name.size() + 2)});
    names_.append(1, ' ').append(field.name).append(1, '=');
  }
  names_.append(kPiece, ' ');
}

void FieldsPrinter::print(TextBuffer& out, Bytes payload) const {
  if (is_of_program_) {
    for (const Step& step : steps_) print_step(out, step, payload);
    return;
  }
  std::string text;
  print_fields(text, declaration_, payload);
  out.append(text);
}

void FieldsPrinter::print_step(TextBuffer& out, const Step& step, Bytes payload) const {
  char* at = out.room(step.name_size + kPiece + kHexAndDecimal);
  at = put_pieces(at, names_.data() + step.name_at, step.name_size);
  out.end(at);
  const std::uint64_t end = std::uint64_t{step.at} + step.size;
  if (end > payload.size()) return print_other(out, step, payload);
  const std::byte* const bytes = payload.data() + step.at;
  switch (step.kind) {
    case FieldKind::kInteger:
      at = put_number(at, bytes, step.size);
      return at != nullptr ? out.end(at) : print_other(out, step, payload);
    case FieldKind::kCharArray:
      return put_terminated(out, payload.subspan(step.at, step.size));
    case FieldKind::kDataLocString:
    case FieldKind::kRelLocString:
    case FieldKind::kDataLocBytes:
    case FieldKind::kRelLocBytes: {
      if (step.size != sizeof(std::uint32_t)) return print_other(out, step, payload);
      const auto data = data_of(step.kind, bytes, end + abi::kEntryHeaderSize, payload);
      if (!data) return out.append(kOverflow);
      const bool is_text = step.kind == FieldKind::kDataLocString || step.kind == FieldKind::kRelLocString;
      return is_text ? put_terminated(out, *data) : put_bytes(out, *data);
    }
    default:
      return print_other(out, step, payload);
  }
}

void FieldsPrinter::print_other(TextBuffer& out, const Step& step, Bytes payload) const {
  std::string text;
  print_value(text, declaration_.fields[static_cast<std::size_t>(&step - steps_.data())], payload);
  out.append(text);
}

}  // namespace landtrace::event
