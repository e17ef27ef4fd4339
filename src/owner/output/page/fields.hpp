// How the fields of an event become columns of the page: numbers as numbers, all else as text. Members of a struct that
// was described are columns of their own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "event/declaration.hpp"
#include "output/page/column.hpp"
#include "output/page/strings.hpp"
#include "output/record.hpp"

namespace landtrace::output::page {

// The page knows them by these numbers.
enum class ValueKind : std::uint8_t { kSigned = 0, kUnsigned = 1, kHex = 2, kReal = 3, kText = 4, kBool = 5 };

struct FieldColumn {
  event::Field field;
  std::string name;  // of a member with its struct's: "request.status"
  ValueKind kind = ValueKind::kText;
};

std::vector<FieldColumn> columns_of(const EventType& type);

// Adds the value that the payload has; a missing one where it has none.
void add_value(Column& column, Strings& strings, const FieldColumn& field, std::span<const std::byte> payload);

}  // namespace landtrace::output::page
