#include "reader/expression_filter.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "filter/evaluate.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::reader {

Result<void> ExpressionFilter::check(const std::string& what) const {
  if (is_empty()) return {};
  const auto checked = language::check_filter(expression_);
  if (!checked) return point_at_filter(what, expression_, expression_, checked.error());
  return {};
}

bool ExpressionFilter::know(const output::EventType& type, std::uint32_t cpus) {
  if (is_empty()) return true;
  auto program = language::compile_filter(expression_, {.fields = type.declaration.fields, .cpus = std::max(cpus, 1u)});
  if (program) {
    programs_.insert_or_assign(type.id, *std::move(program));
    return true;
  }
  if (!first_failure_ && type.system != "ftrace") first_failure_ = program.error();
  return false;
}

std::optional<Error> ExpressionFilter::mistake(const std::string& what) const {
  if (!first_failure_ || !programs_.empty()) return std::nullopt;
  return point_at_filter(what, expression_, expression_, *first_failure_).value();
}

bool ExpressionFilter::passes(const output::Record& record, const output::Task* task) const {
  if (is_empty()) return true;
  const auto program = programs_.find(record.event_id);
  if (program == programs_.end()) return false;
  std::array<char, filter::kCommSize> comm{};
  if (task != nullptr) std::memcpy(comm.data(), task->comm.data(), std::min(task->comm.size(), comm.size() - 1));
  const arch::Segment payload{record.payload.data(), record.payload.size()};
  return filter::passes(program->second.program(),
                        {.header = {record.event_id, 0, 0, record.tid}, .cpu = record.cpu, .comm = comm.data()},
                        &payload, 1);
}

}  // namespace landtrace::reader
