#include "daemon/mount_table.hpp"

#include "base/fd.hpp"

namespace landtrace::daemon {
namespace {

std::string_view next_word(std::string_view& line) {
  const std::size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return word;
}

bool is_octal(std::string_view digits) { return digits.find_first_not_of("01234567") == std::string_view::npos; }

// mountinfo writes white space and backslashes as "\040".
std::string unescaped(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 3 < word.size() && is_octal(word.substr(i + 1, 3))) {
      text += static_cast<char>((word[i + 1] - '0') * 64 + (word[i + 2] - '0') * 8 + (word[i + 3] - '0'));
      i += 3;
    } else {
      text += word[i];
    }
  }
  return text;
}

// "36 35 98:0 /root /folder options [tags...] - type source super-options"
std::optional<MountLine> parse_line(std::string_view line) {
  MountLine mount;
  next_word(line);
  next_word(line);
  mount.device = next_word(line);
  next_word(line);
  mount.folder = unescaped(next_word(line));
  while (!line.empty() && next_word(line) != "-") {
  }
  mount.type = next_word(line);
  mount.source = unescaped(next_word(line));
  if (mount.folder.empty() || mount.type.empty()) return std::nullopt;
  return mount;
}

}  // namespace

std::vector<MountLine> parse_mountinfo(std::string_view text) {
  std::vector<MountLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (auto line = parse_line(text.substr(0, end))) lines.push_back(*std::move(line));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

Result<std::vector<MountLine>> mounts_of(const std::string& process) {
  LT_TRY(const std::string text, read_file("/proc/" + process + "/mountinfo"));
  return parse_mountinfo(text);
}

std::optional<MountLine> find_mount(const std::vector<MountLine>& lines, std::string_view folder) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (line->folder == folder) return *line;
  }
  return std::nullopt;
}

}  // namespace landtrace::daemon
