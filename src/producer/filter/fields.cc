#include "filter/fields.hpp"

#include <algorithm>
#include <array>

namespace landtrace::filter {
namespace {

struct CommonField {
  std::string_view name;
  FieldView view;
};

constexpr std::array<CommonField, 11> kCommonFields{{
    {"CPU", {FieldClass::kCpu, true, 0, 0}},
    {"cpu", {FieldClass::kCpu, true, 0, 0}},
    {"common_cpu", {FieldClass::kCpu, true, 0, 0}},
    {"COMM", {FieldClass::kComm, false, 0, 0}},
    {"comm", {FieldClass::kComm, false, 0, 0}},
    {"stacktrace", {FieldClass::kStackTrace, false, 0, 0}},
    {"STACKTRACE", {FieldClass::kStackTrace, false, 0, 0}},
    {"common_type", {FieldClass::kHeader, false, 0, 2}},
    {"common_flags", {FieldClass::kHeader, false, 2, 1}},
    {"common_preempt_count", {FieldClass::kHeader, false, 3, 1}},
    {"common_pid", {FieldClass::kHeader, true, 4, 4}},
}};

FieldClass class_of(const event::Field& field) {
  switch (field.kind) {
    case event::FieldKind::kCharArray:
      return FieldClass::kText;
    case event::FieldKind::kDataLocString:
      return FieldClass::kDataLocText;
    case event::FieldKind::kRelLocString:
      return FieldClass::kRelLocText;
    case event::FieldKind::kDataLocBytes:
      return field.type.find("cpumask_t") == std::string::npos ? FieldClass::kNumber : FieldClass::kCpuMask;
    case event::FieldKind::kInteger:
    case event::FieldKind::kRelLocBytes:
    case event::FieldKind::kStruct:
    case event::FieldKind::kDataLocStack:
    case event::FieldKind::kArray:
      break;
  }
  return FieldClass::kNumber;  // to the kernel, whatever is not text is a number
}

}  // namespace

std::optional<FieldView> find_field(std::span<const event::Field> fields, std::string_view name) {
  const auto own = std::find_if(fields.begin(), fields.end(), [&](const event::Field& f) { return f.name == name; });
  if (own != fields.end()) {
    return FieldView{class_of(*own), own->is_signed, own->offset - event::kCommonHeaderSize, own->size};
  }
  const auto* common =
      std::find_if(kCommonFields.begin(), kCommonFields.end(), [&](const CommonField& f) { return f.name == name; });
  if (common != kCommonFields.end()) return common->view;
  return std::nullopt;
}

}  // namespace landtrace::filter
