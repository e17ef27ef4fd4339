// A record without fields that do not travel: of these there are zeros.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "output/record.hpp"

namespace landtrace::fleet {

// Whether the event has one of these fields.
bool has_one_of(const output::EventType& type, const std::vector<std::string>& names);

// A payload of the same length. What is no field's is left out, too: only what the other fields are made of is there.
std::vector<std::byte> without_fields(const output::EventType& type, std::span<const std::byte> payload,
                                      const std::vector<std::string>& left_out);

}  // namespace landtrace::fleet
