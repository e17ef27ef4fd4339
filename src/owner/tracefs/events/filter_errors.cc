#include "tracefs/events/filter_errors.hpp"

#include "tracefs/context.hpp"

namespace landtrace::tracefs {

Result<language::WrittenFilter> filter_in(std::string_view bytes) {
  if (bytes.size() > language::kMaxFilter) return fail(EINVAL, "no filter is as long");
  return language::read_written_filter(bytes);
}

tl::unexpected<Error> refuse_filter(InstanceState& instance, std::string_view expression,
                                    const language::FilterFailure& failure, std::size_t before) {
  const auto parts = language::filter_error_parts(failure);
  instance.errors.add(
      {std::string(language::kFilterErrorLocation), std::string(parts.message), std::string(expression), parts.caret});
  const bool is_named = failure.kind != language::FilterFailureKind::kUnspecified;
  if (is_named) instance.context.refused_at = before + language::index_of_mistake(failure, expression);
  return fail(failure.code, is_named ? std::string(parts.message) : "this is no filter expression");
}

}  // namespace landtrace::tracefs
