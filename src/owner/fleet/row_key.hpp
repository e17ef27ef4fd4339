// The keys of a row as a store has them: the last one, where it is a bucket, as the number it begins with, and the
// others as one text with tabs between them, so that people's own queries can take it apart.
#pragma once

#include <string>
#include <string_view>

#include "ipc/histogram_table.hpp"

namespace landtrace::fleet {

// Whether the last key is a number that says a bucket.
bool has_steps(const ipc::HistogramTable& shape);

// Numbers are decimal, of signed ones with their sign; in texts a tab is \t, a backslash \\.
std::string key_text(const ipc::HistogramTable& shape, const ipc::HistogramRow& row);
// The number of the last key, 0 where it is no bucket.
std::uint64_t step_of(const ipc::HistogramTable& shape, const ipc::HistogramRow& row);

// The reverse. False: the text has other keys.
bool read_keys(const ipc::HistogramTable& shape, std::string_view text, std::uint64_t step, ipc::HistogramRow& row);

}  // namespace landtrace::fleet
