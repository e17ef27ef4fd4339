#include "cli/near_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace landtrace::cli {
namespace {

constexpr std::size_t kMost = 3;
// Nobody types longer ones, and the cost is the product of the lengths.
constexpr std::size_t kLongest = 256;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// How many letters must be put in, left out, exchanged for another or for their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool is_same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (is_same ? 0 : 1)});
      const bool is_swap = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// One mistake in three letters, and at least one.
bool is_near(std::size_t distance, std::string_view word) {
  return distance <= std::max<std::size_t>(1, word.size() / 3) && distance < word.size();
}

// work.constprop.0, work.isra.0, work.part.0: what compilers make of `work`.
bool is_copy_of(std::string_view word, std::string_view name) {
  return !word.empty() && name.size() > word.size() && name.starts_with(word) && name[word.size()] == '.';
}

}  // namespace

std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : names) {
    if (std::max(name.size(), word.size()) > kLongest) continue;
    const std::size_t mistakes = is_copy_of(word, name) ? 0 : distance(word, name);
    if (is_near(mistakes, word)) found.emplace_back(mistakes, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i) nearest.push_back(found[i].second);
  return nearest;
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 < names.size() ? ", " : " or ";
    text += names[i];
  }
  return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string> nearest = near_names(word, names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", alternatives(nearest));
}

}  // namespace landtrace::cli
