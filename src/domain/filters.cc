#include "domain/filters.hpp"

#include <utility>

#include "filter/compile.hpp"

namespace landtrace::domain {
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

filter::Parsed<std::uint32_t> store_program(Domain& domain, const Event& event, std::string_view expression) {
  const auto compiled = filter::compile(expression, {event.declaration.fields, domain.control().segment().cpus});
  if (!compiled) return tl::unexpected<filter::Failure>(compiled.error());
  const auto stored = domain.control().store(compiled->bytes());
  if (!stored) return filter::refuse(stored.error().code);
  return *stored;
}

filter::Parsed<void> set_filter(Domain& domain, Instance& instance, Event& event, std::string_view expression,
                                const std::optional<filter::Failure>& shown) {
  const auto program = store_program(domain, event, expression);
  std::optional<filter::Failure> failure;
  if (!program) failure = shown ? *shown : program.error();
  const auto replaced =
      replace_filter(domain, instance, event, {std::string(expression), failure, program.value_or(0)});
  if (!program) return tl::unexpected<filter::Failure>(program.error());
  if (!replaced) return filter::refuse(replaced.error().code);
  return {};
}

void clear_filter(Domain& domain, Instance& instance, Event& event) {
  if (event.file(instance.index) != nullptr) std::ignore = replace_filter(domain, instance, event, {});
}

}  // namespace landtrace::domain
