#include "output/page/strings.hpp"

#include "output/page/column.hpp"

namespace landtrace::output::page {

std::uint32_t Strings::number(std::string_view text) {
  if (const auto found = known_.find(text); found != known_.end()) return found->second;
  if (known_bytes_ > kMostBytes || known_.size() >= kMostTexts) {
    known_.clear();
    known_bytes_ = 0;
  }
  known_.emplace(text, ++count_);
  known_bytes_ += text.size();
  append_varint(new_, text.size());
  new_ += text;
  ++new_count_;
  return count_;
}

void Strings::append_new(std::string& out) {
  append_varint(out, new_count_);
  out += new_;
  new_.clear();
  new_count_ = 0;
}

}  // namespace landtrace::output::page
