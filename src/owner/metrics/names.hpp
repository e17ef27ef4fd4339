// Names as the field takes them.
#pragma once

#include <string>
#include <string_view>

namespace landtrace::metrics {

// What names of metrics and labels may consist of.
std::string sound_name(std::string_view text);
// The same for a label, and none of ours, of a scraper's or of a format's: "key_job" of "job".
std::string label_name(std::string_view field);

}  // namespace landtrace::metrics
