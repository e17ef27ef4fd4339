// The fields that an expression may name: the event's own, then those that every event has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "event/declaration.hpp"

namespace landtrace::language {

// How a filter sees a field: which values it may be compared with.
enum class FilterFieldClass : std::uint8_t {
  kNumber,
  kText,  // char[N]
  kDataLocText,
  kRelLocText,
  kCpuMask,  // __data_loc cpumask_t
  kHeader,   // a number in the common header
  kCpu,
  kComm,
  kStackTrace,  // has a name and no value
};

struct FilterField {
  FilterFieldClass kind;
  bool is_signed;
  std::uint32_t offset;  // in the payload; in the common header for kHeader
  std::uint32_t size;
};

// nullopt when there is no such field. An event's field hides a common one of the same name.
std::optional<FilterField> find_filter_field(std::span<const event::Field> fields, std::string_view name);

inline bool is_text(FilterFieldClass kind) {
  return kind == FilterFieldClass::kText || kind == FilterFieldClass::kDataLocText ||
         kind == FilterFieldClass::kRelLocText || kind == FilterFieldClass::kComm;
}

}  // namespace landtrace::language
