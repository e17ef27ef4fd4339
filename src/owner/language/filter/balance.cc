#include "language/filter/balance.hpp"

#include <cerrno>

#include "base/character.hpp"

namespace landtrace::language {
namespace {

bool is_quote(char c) { return c == '\'' || c == '"'; }

// The last '(' that nothing closes. The kernel looks from the end, so quotes are seen from their other side.
std::size_t last_open(std::string_view text) {
  std::size_t closed = 0;
  char quote = 0;
  for (std::size_t i = text.size() - 1; i > 0; --i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (is_quote(c)) {
      quote = c;
    } else if (c == ')') {
      ++closed;
    } else if (c == '(') {
      if (closed == 0) return i;
      --closed;
    }
  }
  return 0;
}

}  // namespace

FilterResult<void> check_balance(std::string_view text) {
  std::size_t open = 0;
  std::size_t quote_at = 0;
  char quote = 0;
  bool has_term = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_space(c)) continue;
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '(') {
      ++open;
      continue;
    }
    if (c == ')') {
      if (open == 0) return refuse_filter(EPERM, FilterFailureKind::kTooManyClose, i);
      --open;
      continue;
    }
    has_term = true;
    if (is_quote(c)) {
      quote = c;
      quote_at = i;
    }
  }
  if (quote != 0) return refuse_filter(ESRCH, FilterFailureKind::kMissingQuote, quote_at);
  if (open != 0) return refuse_filter(ENOENT, FilterFailureKind::kTooManyOpen, last_open(text));
  if (!has_term) return refuse_filter(EINVAL);
  return {};
}

}  // namespace landtrace::language
