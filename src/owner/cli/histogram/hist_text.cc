#include "cli/histogram/hist_text.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/input.hpp"

namespace landtrace::cli {
namespace {

constexpr std::string_view kRowBegin = "{ ";
constexpr std::string_view kRowEnd = "} hitcount:";

tl::unexpected<Error> no_row(std::string_view line) {
  return fail(EINVAL, fmt::format("this is no line of such a histogram: '{}'", line.substr(0, 200)));
}

Result<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return fail(EINVAL, "no number");
  return value;
}

// "hitcount:          3  v:        301": the numbers behind the colons.
Result<std::vector<std::uint64_t>> values_of(std::string_view text) {
  std::vector<std::uint64_t> values;
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':')) {
    text = text.substr(std::min(text.find_first_not_of(' ', colon + 1), text.size()));
    const std::string_view digits = text.substr(0, text.find(' '));
    LT_TRY(const std::uint64_t value, number(digits));
    values.push_back(value);
    text.remove_prefix(digits.size());
  }
  return values;
}

// "id:          3, name: c   ". Texts may hold anything, so the names are looked for from the end.
Result<std::vector<std::string>> keys_of(std::string_view text, const std::vector<std::string>& names) {
  std::vector<std::string> keys(names.size());
  for (std::size_t i = names.size(); i-- > 0;) {
    const std::string begin = (i == 0 ? "" : ", ") + names[i] + ":";
    const std::size_t at = i == 0 ? (text.starts_with(begin) ? 0 : std::string_view::npos) : text.rfind(begin);
    if (at == std::string_view::npos) return no_row(text);
    keys[i] = trimmed(text.substr(at + begin.size()));
    text = text.substr(0, at);
  }
  return keys;
}

Result<HistRow> read_row(std::string_view row, const std::vector<std::string>& names) {
  const std::size_t end = row.rfind(kRowEnd);
  LT_TRY(auto keys, keys_of(row.substr(kRowBegin.size(), end - kRowBegin.size()), names));
  LT_TRY(auto values, values_of(row.substr(end + 2)));
  return HistRow{std::move(keys), std::move(values)};
}

}  // namespace

Result<HistTable> parse_hist(std::string_view text, const std::vector<std::string>& keys) {
  HistTable table;
  std::size_t row_begin = std::string_view::npos;  // of a row that goes on: stacks have a line for each frame
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (row_begin == std::string_view::npos && line.starts_with(kRowBegin)) row_begin = at;
    if (row_begin != std::string_view::npos) {
      if (line.find(kRowEnd) != std::string_view::npos) {
        LT_TRY(HistRow row, read_row(text.substr(row_begin, end - row_begin), keys));
        table.rows.push_back(std::move(row));
        row_begin = std::string_view::npos;
      }
    } else if (const std::string_view total = trimmed(line); total.starts_with("Hits: ")) {
      LT_TRY(table.hits, number(total.substr(6)));
    } else if (total.starts_with("Dropped: ")) {
      LT_TRY(table.dropped, number(total.substr(9)));
    }
    at = end + 1;
  }
  if (row_begin != std::string_view::npos) return no_row(text.substr(row_begin));
  return table;
}

Result<unsigned> power_of(std::string_view key) {
  constexpr std::string_view kBegin = "~ 2^";
  if (!key.starts_with(kBegin)) return fail(EINVAL, "no power of two");
  LT_TRY(const std::uint64_t power, number(key.substr(kBegin.size())));
  if (power > 64) return fail(EINVAL, "no power of two");
  return static_cast<unsigned>(power);
}

}  // namespace landtrace::cli
