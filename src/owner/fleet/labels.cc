#include "fleet/labels.hpp"

#include <algorithm>
#include <cctype>

namespace landtrace::fleet {
namespace {

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

Result<void> add(Labels& labels, std::string_view part) {
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string name(part.substr(0, equals));
  if (equals == part.size() || !is_label_name(name)) {
    return fail(EINVAL, "labels: want NAME=VALUE, not '" + std::string(part) + "'");
  }
  if (name == kHostLabel || name == kDomainLabel) {
    return fail(EINVAL, "labels: every host has '" + name + "' of its own");
  }
  if (!labels.emplace(name, part.substr(equals + 1)).second) {
    return fail(EINVAL, "labels: '" + name + "' is there twice");
  }
  return {};
}

}  // namespace

bool is_label_name(std::string_view name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), is_name_part);
}

Result<void> check_labels(const Labels& labels) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : labels) {
    if (!is_label_name(name)) return fail(EINVAL, "labels: '" + name.substr(0, 64) + "' is no name");
    bytes += name.size() + value.size();
  }
  if (labels.size() > kMostLabels || bytes > kMostLabelBytes) {
    return fail(EINVAL, "labels: a host has " + std::to_string(kMostLabels) + " of them and " +
                            std::to_string(kMostLabelBytes) + " bytes at most");
  }
  return {};
}

Result<Labels> parse_labels(std::string_view text) {
  Labels labels;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    LT_CHECK(add(labels, part));
  }
  LT_CHECK(check_labels(labels));
  return labels;
}

std::string text_of(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text.append(text.empty() ? "" : ",").append(name).append("=").append(value);
  }
  return text;
}

}  // namespace landtrace::fleet
