// A frame as a row of a store's table: one row is one frame, so that it is there as a whole or not at all. A frame that
// is inserted again is the same row again.
//
//   schema      kSchema; `stored` when it was inserted, by which partitions are dropped
//   order_id, event, time_ns, host, domain, boot, generation, sequence, is_last, labels      of the frame
//   shape       the histogram's keys and values, as bytes of a frame without rows
//   total, dropped, starts, ends, lost                                                       of all its rows
//   name        keys but for a last one that is a bucket, as key_text()
//   step, hits  for each name an array: the buckets' numbers, and how many events each has
//   sums        for each value, and there for each name, an array: its sums by bucket
#pragma once

#include <cstdint>
#include <string>

#include "fleet/frame.hpp"

namespace landtrace::fleet {

inline constexpr std::uint16_t kSchema = 1;

// In RowBinary, behind `out`. `stored_s`: now, in seconds since 1970.
void append_row(std::string& out, const Frame& frame, std::uint32_t stored_s);

// What the column `shape` has, and the reverse. EPROTO.
std::string shape_bytes(const ipc::HistogramTable& table);
Result<ipc::HistogramTable> shape_of_bytes(std::string_view bytes);

}  // namespace landtrace::fleet
