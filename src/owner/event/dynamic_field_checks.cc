#include "abi/validator.hpp"

#include "event/declaration.hpp"

namespace landtrace::event {

std::vector<abi::DynamicFieldCheck> dynamic_field_checks(const Declaration& declaration) {
  std::vector<abi::DynamicFieldCheck> checks;
  for (const Field& field : declaration.fields) {
    const auto kind = field.kind;
    const bool is_text = kind == FieldKind::kDataLocString || kind == FieldKind::kRelLocString;
    const bool is_relative = kind == FieldKind::kRelLocBytes || kind == FieldKind::kRelLocString;
    if (!is_text && !is_relative && kind != FieldKind::kDataLocBytes) continue;
    const std::uint32_t offset = field.offset - abi::kEntryHeaderSize;
    if (offset > UINT16_MAX) break;  // no record is so long
    abi::DynamicFieldCheck check{static_cast<std::uint16_t>(offset), 0};
    if (is_relative) check.flags |= abi::DynamicFieldCheck::kRelative;
    if (is_text) check.flags |= abi::DynamicFieldCheck::kTerminated;
    checks.push_back(check);
  }
  return checks;
}

}  // namespace landtrace::event
