#include "output/trace_dat/object_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace landtrace::output::trace_dat {
namespace {

// Takes a word and the blank behind it off the front.
std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

template <typename T>
bool take_number(std::string_view& line, int base, T& number) {
  const std::string_view word = take_word(line);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, base);
  return error == std::errc() && end == word.data() + word.size();
}

bool take_build_id(std::string_view& line, std::string& id) {
  const std::string_view word = take_word(line);
  if (word == "-") return true;
  if (word.empty() || word.size() % 2 != 0 || word.size() > 2 * unwind::kMaxBuildId) return false;
  for (std::size_t i = 0; i < word.size(); i += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(word.data() + i, word.data() + i + 2, byte, 16);
    if (error != std::errc() || end != word.data() + i + 2) return false;
    id += static_cast<char>(byte);
  }
  return true;
}

bool parse_line(std::string_view line, MappedObject& object) {
  const bool is_good = take_number(line, 10, object.pid) && take_number(line, 16, object.start) &&
                       take_number(line, 16, object.end) && take_number(line, 16, object.bias) &&
                       take_number(line, 10, object.first_seen) && take_build_id(line, object.build_id);
  object.path = line;
  return is_good && object.start < object.end && !line.empty();
}

}  // namespace

std::string object_line(const MappedObject& object) {
  std::string id;
  for (const char c : object.build_id) id += fmt::format("{:02x}", static_cast<unsigned char>(c));
  std::string path = object.path;
  std::replace(path.begin(), path.end(), '\n', '?');
  return fmt::format("{} {:x} {:x} {:x} {} {} {}\n", object.pid, object.start, object.end, object.bias,
                     object.first_seen, id.empty() ? "-" : id, path);
}

std::vector<MappedObject> parse_object_lines(std::string_view text) {
  std::vector<MappedObject> objects;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    MappedObject object;
    if (parse_line(line, object)) objects.push_back(std::move(object));
  }
  return objects;
}

}  // namespace landtrace::output::trace_dat
