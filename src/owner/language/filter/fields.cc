#include "language/filter/fields.hpp"

#include <algorithm>
#include <array>

namespace landtrace::language {
namespace {

struct CommonField {
  std::string_view name;
  FilterField view;
};

constexpr std::array<CommonField, 11> kCommonFields{{
    {"CPU", {FilterFieldClass::kCpu, true, 0, 0}},
    {"cpu", {FilterFieldClass::kCpu, true, 0, 0}},
    {"common_cpu", {FilterFieldClass::kCpu, true, 0, 0}},
    {"COMM", {FilterFieldClass::kComm, false, 0, 0}},
    {"comm", {FilterFieldClass::kComm, false, 0, 0}},
    {"stacktrace", {FilterFieldClass::kStackTrace, false, 0, 0}},
    {"STACKTRACE", {FilterFieldClass::kStackTrace, false, 0, 0}},
    {"common_type", {FilterFieldClass::kHeader, false, 0, 2}},
    {"common_flags", {FilterFieldClass::kHeader, false, 2, 1}},
    {"common_preempt_count", {FilterFieldClass::kHeader, false, 3, 1}},
    {"common_pid", {FilterFieldClass::kHeader, true, 4, 4}},
}};

FilterFieldClass class_of(const event::Field& field) {
  // Of several texts, the first.
  if (field.kind == event::FieldKind::kArray && field.type.starts_with("__data_loc char")) {
    return FilterFieldClass::kDataLocText;
  }
  switch (field.kind) {
    case event::FieldKind::kCharArray:
      return FilterFieldClass::kText;
    case event::FieldKind::kDataLocString:
      return FilterFieldClass::kDataLocText;
    case event::FieldKind::kRelLocString:
      return FilterFieldClass::kRelLocText;
    case event::FieldKind::kDataLocBytes:
      return field.type.find("cpumask_t") == std::string::npos ? FilterFieldClass::kNumber : FilterFieldClass::kCpuMask;
    case event::FieldKind::kInteger:
    case event::FieldKind::kRelLocBytes:
    case event::FieldKind::kStruct:
    case event::FieldKind::kDataLocStack:
    case event::FieldKind::kArray:
      break;
  }
  return FilterFieldClass::kNumber;  // to the kernel, whatever is not text is a number
}

}  // namespace

std::optional<FilterField> find_filter_field(std::span<const event::Field> fields, std::string_view name) {
  const auto own = std::find_if(fields.begin(), fields.end(), [&](const event::Field& f) { return f.name == name; });
  if (own != fields.end()) {
    return FilterField{class_of(*own), own->is_signed, own->offset - abi::kEntryHeaderSize, own->size};
  }
  const auto* common =
      std::find_if(kCommonFields.begin(), kCommonFields.end(), [&](const CommonField& f) { return f.name == name; });
  if (common != kCommonFields.end()) return common->view;
  return std::nullopt;
}

}  // namespace landtrace::language
