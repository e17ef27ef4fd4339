// What a host is told apart by: "role=web,zone=a".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::fleet {

using Labels = std::map<std::string, std::string>;

// Labels that every host has, and nobody gives it.
inline constexpr const char* kHostLabel = "host";
inline constexpr const char* kDomainLabel = "domain";

// EINVAL with a sentence for a name that is no name, a name that is there twice, and the two that every host has.
Result<Labels> parse_labels(std::string_view text);
// The reverse.
std::string text_of(const Labels& labels);

// Whether an expression can name it: letters, digits, '_', '-' and '.', the first a letter.
bool is_label_name(std::string_view name);

// What a host may have: 64 labels of 4 KB, and names that are some. EINVAL with a sentence.
inline constexpr std::size_t kMostLabels = 64;
inline constexpr std::size_t kMostLabelBytes = 4096;
Result<void> check_labels(const Labels& labels);

}  // namespace landtrace::fleet
