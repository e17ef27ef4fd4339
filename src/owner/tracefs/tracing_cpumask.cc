#include "tracefs/tracing_cpumask.hpp"

#include "language/words.hpp"

namespace landtrace::tracefs {

Result<std::size_t> TracingCpumask::store(const Caller&, std::string_view bytes) {
  if (bytes.empty()) return fail(EINVAL, "a set of CPUs was expected");
  LT_CHECK(instance_->cpus.parse(language::until_nul(bytes)));
  return bytes.size();
}

}  // namespace landtrace::tracefs
