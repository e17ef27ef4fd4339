// The fields of an event as a JSON object.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "event/declaration.hpp"

namespace landtrace::output::json {

// Names of fields are more of the text than their values, and the same in all events of a type: they are made once.
class FieldNames {
 public:
  explicit FieldNames(const event::Declaration& declaration);

  // {"id":7,"name":"x"}, of the declaration that the names are of.
  void append_object(std::string& out, const event::Declaration& declaration, std::span<const std::byte> payload) const;

 private:
  std::vector<std::string> names_;  // "id": and, behind the first one, ,"name":
};

}  // namespace landtrace::output::json
