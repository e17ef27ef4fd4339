#include "tracefs/cpu_mask.hpp"

#include <algorithm>

namespace landtrace::tracefs {
namespace {

constexpr std::size_t kGroupDigits = 8;

bool is_separator(char c) { return c == ',' || c == ' ' || (c >= '\t' && c <= '\r'); }

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The groups, each as its digits from the lowest; the last group first.
Result<std::vector<std::vector<unsigned>>> groups_of(std::string_view text) {
  std::vector<std::vector<unsigned>> groups;
  bool in_group = false;
  for (auto at = text.rbegin(); at != text.rend(); ++at) {
    if (is_separator(*at)) {
      in_group = false;
      continue;
    }
    const int digit = digit_of(*at);
    if (digit < 0) return fail(EINVAL, "hexadecimal digits and commas were expected");
    if (!in_group) groups.emplace_back();
    in_group = true;
    groups.back().push_back(static_cast<unsigned>(digit));
    if (groups.back().size() > kGroupDigits) return fail(EOVERFLOW, "a group of more than 32 CPUs");
  }
  return groups;
}

}  // namespace

void CpuMask::trim() {
  if (cpus_ % 4 != 0) digits_.back() &= (1u << (cpus_ % 4)) - 1;
}

Result<void> CpuMask::parse(std::string_view text) {
  LT_TRY(const auto groups, groups_of(text.substr(0, text.find('\n'))));
  if (groups.size() > (cpus_ + 31) / 32) return fail(EOVERFLOW, "more groups than the machine has CPUs for");
  std::vector<unsigned> next(digits_.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::size_t i = 0; i < groups[group].size(); ++i) {
      const std::size_t at = group * kGroupDigits + i;
      const unsigned digit = groups[group][i];
      const unsigned beyond = at * 4 >= cpus_ ? 0xf : at * 4 + 4 > cpus_ ? 0xf & ~0u << (cpus_ - at * 4) : 0;
      if ((digit & beyond) != 0) return fail(EOVERFLOW, "the machine has no such CPU");
      if (at < next.size()) next[at] = digit;
    }
  }
  digits_ = std::move(next);
  return {};
}

std::string CpuMask::text() const {
  std::string text;
  for (std::size_t i = digits_.size(); i-- > 0;) {
    text += "0123456789abcdef"[digits_[i]];
    if (i > 0 && i % kGroupDigits == 0) text += ',';
  }
  return text;
}

}  // namespace landtrace::tracefs
