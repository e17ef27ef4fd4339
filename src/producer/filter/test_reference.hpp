// The filter language read a second time, slowly and plainly, for tests: a tree of closures over a copy of the entry.
// It shares with the real one only the table of fields and the lists of CPUs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "filter/evaluate.hpp"
#include "language/filter/predicate.hpp"

namespace landtrace::filter {

using namespace language;

// An entry as a filter sees it; what is not there is NUL.
struct ReferenceEntry {
  Context context;
  std::string bytes;  // common header and payload

  ReferenceEntry(const Context& context_in, std::string_view payload);
  [[nodiscard]] std::uint8_t byte(std::uint64_t position) const {
    return position < bytes.size() ? static_cast<std::uint8_t>(bytes[position]) : 0;
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t position, std::uint32_t size) const;
};

using ReferenceFilter = std::function<bool(const ReferenceEntry&)>;

// nullopt when the expression is refused.
std::optional<ReferenceFilter> reference_filter(std::string_view expression, const FilterNames& names);

}  // namespace landtrace::filter
