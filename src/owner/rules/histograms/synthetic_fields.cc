#include "rules/histograms/synthetic_fields.hpp"

#include <algorithm>

namespace landtrace::rules {
namespace {

bool is_dynamic_text(const event::Field& field) { return field.kind == event::FieldKind::kDataLocString; }
bool is_stack(const event::Field& field) { return field.kind == event::FieldKind::kDataLocStack; }
bool is_static_text(const event::Field& field) { return field.kind == event::FieldKind::kCharArray; }

}  // namespace

bool fits_synthetic_field(const Event& synthetic, std::size_t index, const HistogramField& value) {
  const auto declaration = synthetic.declaration();
  if (index >= declaration->fields.size()) return false;
  const event::Field& field = declaration->fields[index];
  if (is_dynamic_text(field)) return value.is_text();
  if (is_stack(field)) return value.is_stack();
  if (is_static_text(field)) return value.is_text() && field.size == value.size;
  if (value.value_type != hist::ValueType::kNumber) return false;
  return field.type == value.type || (field.size == value.size && field.is_signed == value.is_signed);
}

void place_params(const Event& synthetic, language::HistActionDescription& action) {
  const auto declaration = synthetic.declaration();
  const auto& fields = declaration->fields;
  for (std::size_t i = 0; i < action.params.size() && i < fields.size(); ++i) {
    language::HistParamDescription& param = action.params[i];
    param.at = fields[i].offset - abi::kEntryHeaderSize;
    param.size = fields[i].size;
    param.is_dynamic = is_dynamic_text(fields[i]) || is_stack(fields[i]);
    const std::uint32_t size = param.is_dynamic ? 8 : (param.size + 7) / 8 * 8;
    action.fixed_size = std::max(action.fixed_size, param.at + size);
  }
}

}  // namespace landtrace::rules
