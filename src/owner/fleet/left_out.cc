#include "fleet/left_out.hpp"

#include <algorithm>
#include <cstring>

#include "abi/entry.hpp"
#include "event/probe_fields.hpp"

namespace landtrace::fleet {
namespace {

using event::FieldKind;
using Bytes = std::span<const std::byte>;

bool is_left_out(const std::vector<std::string>& names, const event::Field& field) {
  return std::ranges::find(names, field.name) != names.end();
}

// Calls visit(place in the payload) with the field's own bytes, and with those that it says are its.
template <typename Visit>
void for_each_place(const event::Field& field, Bytes payload, Visit visit) {
  constexpr std::uint64_t kWord = sizeof(std::uint32_t);
  const auto take = [&](abi::Location where) {
    const abi::Location part = abi::in_payload(abi::cut(where, payload.size()));
    if (part.length > 0) visit(part);
  };
  const auto take_located = [&](std::uint64_t place, bool is_relative) {
    if (place < abi::kEntryHeaderSize || place - abi::kEntryHeaderSize + kWord > payload.size()) return;
    const auto word = abi::load<std::uint32_t>(payload.data() + (place - abi::kEntryHeaderSize));
    take(is_relative ? abi::rel_location(word, place + kWord) : abi::data_location(word));
  };
  take({field.offset, field.size});
  switch (field.kind) {
    case FieldKind::kDataLocString:
    case FieldKind::kDataLocBytes:
    case FieldKind::kDataLocStack:
      return take_located(field.offset, false);
    case FieldKind::kRelLocString:
    case FieldKind::kRelLocBytes:
      return take_located(field.offset, true);
    case FieldKind::kArray: {
      const event::FetchType* const type = event::find_fetch_type(field.fetch);
      if (type == nullptr || !type->is_text) return;
      for (std::uint64_t at = 0; at + type->size <= field.size; at += type->size)
        take_located(field.offset + at, false);
      return;
    }
    case FieldKind::kInteger:
    case FieldKind::kCharArray:
    case FieldKind::kStruct:
      return;
  }
}

}  // namespace

bool has_one_of(const output::EventType& type, const std::vector<std::string>& names) {
  return std::ranges::any_of(type.declaration.fields,
                             [&](const event::Field& field) { return is_left_out(names, field); });
}

std::vector<std::byte> without_fields(const output::EventType& type, Bytes payload,
                                      const std::vector<std::string>& left_out) {
  std::vector<std::byte> bytes(payload.size());
  for (const event::Field& field : type.declaration.fields) {
    if (is_left_out(left_out, field)) continue;
    for_each_place(field, payload,
                   [&](abi::Location at) { std::memcpy(&bytes[at.begin], &payload[at.begin], at.length); });
  }
  // Another field may say, by mistake or in bad faith, that its data is there.
  for (const event::Field& field : type.declaration.fields) {
    if (!is_left_out(left_out, field)) continue;
    for_each_place(field, payload, [&](abi::Location at) { std::memset(&bytes[at.begin], 0, at.length); });
  }
  return bytes;
}

}  // namespace landtrace::fleet
