#include "tracefs/command_lines.hpp"

#include "language/words.hpp"

namespace landtrace::tracefs {

Result<std::size_t> run_lines(std::string_view bytes, const std::function<Result<void>(std::string_view)>& run,
                              const domain::Turn& turn) {
  constexpr std::size_t kMaxLine = 4094;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t before = bytes.size() - rest.size();
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (line.size() > kMaxLine) return fail(EINVAL, "the line is too long");
    line = language::until_nul(line);
    const auto done = run(line.substr(0, line.find('#')));
    if (!done && done.error().code == kNotYet) return before;
    LT_CHECK(done);
    if (turn.is_over()) return bytes.size() - rest.size();
  }
  return bytes.size();
}

}  // namespace landtrace::tracefs
