#include "language/histogram/table_rows.hpp"

#include <utility>

namespace landtrace::language {

void TableRows::select(const std::vector<std::uint32_t>& rows) {
  constexpr std::size_t kAhead = 16;
  std::vector<std::uint64_t> words;
  reserve_large(words, rows.size() * row_words_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) prefetch(rows[i + kAhead]);
    const std::uint64_t* const row = words_.data() + rows[i] * row_words_;
    words.insert(words.end(), row, row + row_words_);
  }
  words_ = std::move(words);
  if (!has_parts_) return;
  std::vector<RowParts> parts;
  parts.reserve(rows.size());
  for (const std::uint32_t row : rows) parts.push_back(std::move(parts_[row]));
  parts_ = std::move(parts);
}

}  // namespace landtrace::language
