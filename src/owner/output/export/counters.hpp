// A track of a field's values: `--counter SYSTEM:EVENT.FIELD`.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "output/export/value.hpp"
#include "output/record.hpp"

namespace landtrace::output {

struct CounterRule {
  std::string event;  // SYSTEM:EVENT
  std::string field;

  // The field of such an event; nullptr: it is none, or has none.
  [[nodiscard]] const event::Field* field_of(const EventType& type) const {
    if (event != type.system + ':' + type.name) return nullptr;
    const auto& fields = type.declaration.fields;
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& each) { return each.name == field; });
    return found == fields.end() ? nullptr : &*found;
  }
};

// A sample of the track; nullopt: there is none, as of NaN and infinities.
inline std::optional<FieldValue> counter_value(const event::Field& field, std::span<const std::byte> payload) {
  FieldValue value = value_of(field, payload);
  const auto* const real = std::get_if<double>(&value);
  if (std::holds_alternative<std::string>(value) || (real != nullptr && !std::isfinite(*real))) return std::nullopt;
  return value;
}

}  // namespace landtrace::output
