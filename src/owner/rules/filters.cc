#include "rules/filters.hpp"

#include <utility>

#include "language/filter/compile.hpp"

namespace landtrace::rules {

Result<void> Filters::replace(Instance& instance, Event& event, EventFilter shown, std::uint32_t program) {
  EventFile& file = event.files[instance.index];
  std::uint32_t gone = std::exchange(file.filter_program, program);
  Result<void> published;
  if (gone != program && event.listeners[instance.index]) published = plans_.publish(event);
  if (published) {
    rules_of(event, instance).filter = std::move(shown);
  } else {
    std::swap(file.filter_program, gone);
  }
  if (gone != 0) grace_.after_readers([&control = control_, gone] { control.free(gone); });
  return published;
}

language::FilterResult<std::uint32_t> Filters::store(const Event& event, std::string_view expression) {
  const auto declaration = event.declaration();
  const auto compiled =
      language::compile_filter(expression, {declaration->fields, control_.segment().cpus, &functions_});
  if (!compiled) return tl::unexpected<language::FilterFailure>(compiled.error());
  const auto stored = control_.store(compiled->bytes());
  if (!stored) return language::refuse_filter(stored.error().code);
  return *stored;
}

language::FilterResult<void> Filters::set(Instance& instance, Event& event, std::string_view expression,
                                          const std::optional<language::FilterFailure>& shown) {
  const auto program = store(event, expression);
  std::optional<language::FilterFailure> failure;
  if (!program) failure = shown ? *shown : program.error();
  const auto replaced = replace(instance, event, {std::string(expression), failure}, program.value_or(0));
  if (!program) return tl::unexpected<language::FilterFailure>(program.error());
  if (!replaced) return language::refuse_filter(replaced.error().code);
  return {};
}

void Filters::clear(Instance& instance, Event& event) {
  if (find_rules(event, instance) != nullptr) std::ignore = replace(instance, event, {}, 0);
}

bool Filters::uses_functions(std::uint32_t program) const {
  if (program == 0) return false;
  const auto* const stored = reinterpret_cast<const filter::Program*>(control_.at(program));
  return (stored->uses & filter::Program::kUsesProcess) != 0;
}

void Filters::refresh_functions(Instance& instance, Event& event) {
  const EventFile* const file = event.file(instance.index);
  if (file == nullptr || !uses_functions(file->filter_program)) return;
  // Where it is found no more the old one stays: its programs may have ended, and judge nothing.
  const std::string expression = rules_of(event, instance).filter.expression;
  if (const auto program = store(event, expression)) {
    std::ignore = replace(instance, event, {expression, {}}, *program);
  }
}

}  // namespace landtrace::rules
