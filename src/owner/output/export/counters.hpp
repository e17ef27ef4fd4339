// A track of a field's values: `--counter SYSTEM:EVENT.FIELD`.
#pragma once

#include <algorithm>
#include <string>

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

}  // namespace landtrace::output
