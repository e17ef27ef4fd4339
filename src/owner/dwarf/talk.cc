#include "dwarf/talk.hpp"

namespace landtrace::dwarf {
namespace {

constexpr std::size_t kLongestField = 1000;

bool is_shown(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

}  // namespace

void add_line(std::string& out, std::initializer_list<std::string_view> fields) {
  bool is_first = true;
  for (const std::string_view field : fields) {
    if (!is_first) out += '\t';
    is_first = false;
    for (const char c : field.substr(0, kLongestField)) out += is_shown(c) ? c : '?';
  }
  out += '\n';
}

std::vector<std::string_view> fields_of_line(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

}  // namespace landtrace::dwarf
