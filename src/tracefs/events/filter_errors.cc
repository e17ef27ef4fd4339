#include "tracefs/events/filter_errors.hpp"

#include "tracefs/context.hpp"

namespace landtrace::tracefs {

Result<filter::Written> filter_in(std::string_view bytes) {
  if (bytes.size() > filter::kMaxExpression) return fail(EINVAL, "no filter is as long");
  return filter::read_written(bytes);
}

tl::unexpected<Error> refuse_filter(InstanceState& instance, std::string_view expression,
                                    const filter::Failure& failure, std::size_t before) {
  const auto parts = filter::error_log_parts(failure);
  if (failure.kind != filter::FailureKind::kUnspecified) {
    instance.context.refused_at = before + filter::index_of_mistake(failure, expression);
  }
  instance.errors.add(
      {std::string(filter::kErrorLogLocation), std::string(parts.message), std::string(expression), parts.caret});
  return fail(failure.code, std::string(parts.message));
}

}  // namespace landtrace::tracefs
