#include "output/json/object.hpp"

#include "output/json/string.hpp"
#include "output/json/value.hpp"

namespace landtrace::output::json {

FieldNames::FieldNames(const event::Declaration& declaration) {
  for (const event::Field& field : declaration.fields) {
    std::string& name = names_.emplace_back(names_.empty() ? "" : ",");
    append_string(name, field.name);
    name += ':';
  }
}

void FieldNames::append_object(std::string& out, const event::Declaration& declaration,
                               std::span<const std::byte> payload) const {
  out += '{';
  for (std::size_t i = 0; i < names_.size(); ++i) {
    out += names_[i];
    append_value(out, declaration.fields[i], payload);
  }
  out += '}';
}

}  // namespace landtrace::output::json
