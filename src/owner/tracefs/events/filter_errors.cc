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
  instance.errors.add(
      {std::string(filter::kErrorLogLocation), std::string(parts.message), std::string(expression), parts.caret});
  const bool is_named = failure.kind != filter::FailureKind::kUnspecified;
  if (is_named) instance.context.refused_at = before + filter::index_of_mistake(failure, expression);
  return fail(failure.code, is_named ? std::string(parts.message) : "this is no filter expression");
}

}  // namespace landtrace::tracefs
