#include "cli/export/rename.hpp"

#include <fmt/format.h>

#include "output/trace_dat/names.hpp"

namespace landtrace::cli {

Result<std::string> keep_killed(const std::string& path) {
  constexpr int kMost = 1000;
  for (int i = 1; i <= kMost; ++i) {
    std::string killed = path + (i == 1 ? ".killed" : fmt::format(".killed.{}", i));
    auto renamed = output::trace_dat::rename_to_free(path + ".partial", killed);
    if (renamed) return killed;
    if (renamed.error().code != EEXIST) return tl::unexpected<Error>(std::move(renamed).error());
  }
  return fail(EEXIST, fmt::format("{0}.killed to {0}.killed.{1} are there, of recorders that were killed: remove them, "
                                  "or move them elsewhere",
                                  path, kMost));
}

}  // namespace landtrace::cli
