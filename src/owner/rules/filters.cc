#include "rules/filters.hpp"

#include <utility>

#include "rules/triggers.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::rules {
namespace {

Result<void> replace_filter(Domain& domain, Instance& instance, Event& event, EventFilter next) {
  EventFile& file = event.files[instance.index];
  EventFilter gone = std::exchange(file.filter, std::move(next));
  Result<void> published;
  if (gone.program != file.filter.program && event.listeners[instance.index]) published = domain.publish(event);
  if (!published) std::swap(file.filter, gone);
  if (gone.program != 0) {
    domain.grace().after_readers([&domain, program = gone.program] { domain.control().free(program); });
  }
  return published;
}

}  // namespace

language::FilterResult<std::uint32_t> store_program(Domain& domain, const Event& event, std::string_view expression) {
  const auto compiled = language::compile_filter(
      expression, {event.declaration.fields, domain.control().segment().cpus, &domain.functions()});
  if (!compiled) return tl::unexpected<language::FilterFailure>(compiled.error());
  const auto stored = domain.control().store(compiled->bytes());
  if (!stored) return language::refuse_filter(stored.error().code);
  return *stored;
}

language::FilterResult<void> set_filter(Domain& domain, Instance& instance, Event& event, std::string_view expression,
                                        const std::optional<language::FilterFailure>& shown) {
  const auto program = store_program(domain, event, expression);
  std::optional<language::FilterFailure> failure;
  if (!program) failure = shown ? *shown : program.error();
  const auto replaced =
      replace_filter(domain, instance, event, {std::string(expression), failure, program.value_or(0)});
  if (!program) return tl::unexpected<language::FilterFailure>(program.error());
  if (!replaced) return language::refuse_filter(replaced.error().code);
  return {};
}

bool uses_functions(Domain& domain, std::uint32_t program) {
  if (program == 0) return false;
  const auto* const stored = reinterpret_cast<const filter::Program*>(domain.control().at(program));
  return (stored->uses & filter::Program::kUsesProcess) != 0;
}

void refresh_functions(Domain& domain) {
  for (Event* const event : domain.events().all()) {
    if (event->files.empty()) continue;
    for (Instance* const instance : domain.instances().all()) {
      const EventFile* const file = event->file(instance->index);
      if (file == nullptr) continue;
      if (uses_functions(domain, file->filter.program)) {
        // Where it is found no more the old one stays: its programs may have ended, and judge nothing.
        const std::string expression = file->filter.expression;
        if (const auto program = store_program(domain, *event, expression)) {
          std::ignore = replace_filter(domain, *instance, *event, {expression, {}, *program});
        }
      }
      refresh_trigger_functions(domain, *instance, *event);
    }
  }
}

void clear_filter(Domain& domain, Instance& instance, Event& event) {
  if (event.file(instance.index) != nullptr) std::ignore = replace_filter(domain, instance, event, {});
}

}  // namespace landtrace::rules
