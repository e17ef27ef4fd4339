// Parameters, types and lines of functions.
#include <fcntl.h>
#include <unistd.h>

#include <map>

#include "base/fd.hpp"
#include "cli/functions/rows.hpp"
#include "dwarf/reader.hpp"

namespace landtrace::cli {

Result<void> add_sources(std::vector<FunctionRow>& rows, const std::string& path) {
  // Of a large program all of it is read.
  constexpr std::chrono::seconds kPatience(120);
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return fail_errno(path);
  const dwarf::Reader reader(file.get(), path, {::geteuid(), ::getegid()}, kPatience);
  LT_TRY(std::vector<dwarf::DescribedFunction> functions, reader.functions());
  std::map<std::uint64_t, dwarf::DescribedFunction*> by_offset;
  for (dwarf::DescribedFunction& function : functions) by_offset.emplace(function.offset, &function);
  for (FunctionRow& row : rows) {
    const auto found = by_offset.find(row.offset);
    if (found != by_offset.end()) row.source = std::move(*found->second);
  }
  return {};
}

}  // namespace landtrace::cli
