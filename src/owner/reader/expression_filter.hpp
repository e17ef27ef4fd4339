// A filter expression for the events of a recording or a domain. The kernel's language is for one event: another one
// may have none of the fields. Such events do not pass.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "language/filter/program_buffer.hpp"
#include "output/record.hpp"
#include "reader/filter_mistake.hpp"

namespace landtrace::reader {

class ExpressionFilter {
 public:
  // Empty: everything passes.
  explicit ExpressionFilter(std::string expression = {}) : expression_(std::move(expression)) {}

  [[nodiscard]] bool is_empty() const { return expression_.empty(); }
  [[nodiscard]] const std::string& expression() const { return expression_; }
  // Before any event is known: EINVAL for what can be true of none. `what` as pointed_at() has it.
  [[nodiscard]] Result<void> check(const std::string& what) const;
  // Before an event of that type, of a machine with so many CPUs. Whether the expression fits it.
  bool know(const output::EventType& type, std::uint32_t cpus);
  [[nodiscard]] bool fits(std::uint16_t event_id) const { return is_empty() || programs_.contains(event_id); }
  // Why it fits none of the types that are known; none: it fits one, or there is none yet. `what` as pointed_at() has
  // it.
  [[nodiscard]] std::optional<Error> mistake(const std::string& what) const;

  // `task` may be nullptr.
  [[nodiscard]] bool passes(const output::Record& record, const output::Task* task) const;

 private:
  std::string expression_;
  std::unordered_map<std::uint16_t, language::ProgramBuffer> programs_;  // by id
  std::optional<language::FilterFailure> first_failure_;                 // of an event that a program has declared
};

}  // namespace landtrace::reader
