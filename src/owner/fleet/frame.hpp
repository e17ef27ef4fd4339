// What a host sends of one histogram: all that it has counted so far. A frame that is lost, comes twice or late changes
// nothing: the one with the highest sequence says all.
//
// As bytes it is a message of protocol buffers, docs/fleet.proto. Fields that are not known here are passed over;
// kFrameVersion changes only where an older reader would read something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fleet/labels.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::fleet {

inline constexpr std::uint64_t kFrameVersion = 1;

// Events of a latency that are in no pair.
struct Unpaired {
  std::uint64_t starts = 0;
  std::uint64_t ends = 0;
  std::uint64_t lost = 0;

  friend bool operator==(const Unpaired&, const Unpaired&) = default;
};

// Of a latency: the slowest that came of a group and a power of two of its times.
struct Slow {
  std::string host = {};                         // in a sum; of a frame the frame's
  std::vector<ipc::HistogramKeyValue> keys = {};  // of its row
  std::uint64_t ns = 0;                          // how long it took
  std::uint64_t time_ns = 0;                     // when it ended, since 1970
  std::int32_t tid = 0;                          // the thread that it ended in
  std::string task = {};
  std::string fields = {};              // of the event that ended it, an object of JSON
  std::vector<std::string> stack = {};  // … where that was: functions, the nearest first

  friend bool operator==(const Slow&, const Slow&) = default;
};
// What a frame may have of them: more is not encoded, and not taken.
inline constexpr std::size_t kMostSlow = 32;
inline constexpr std::size_t kMostSlowBytes = 64 * 1024;

// Of the host's texts below, and of the names of keys and values, each: as much as all labels with what is between.
inline constexpr std::size_t kMostFrameText = kMostLabelBytes + 2 * kMostLabels;
// In memory a key takes much more than the byte that it may be here: numbers and texts of all rows.
inline constexpr std::size_t kMostCells = 1u << 20;

struct Frame {
  std::string host;
  std::string boot;    // the kernel's boot_id
  std::string domain;  // which one of the host's
  std::string labels;  // as text_of() has them
  std::string order;   // that wanted the histogram
  std::string event;   // SYSTEM:EVENT; of a latency "FROM -> TO"
  // Of the histogram: counts of different ones are added. The host's nanoseconds since 1970 when it began.
  std::uint64_t generation = 0;
  std::uint64_t sequence = 0;  // in the generation, from 1 on
  std::uint64_t time_ns = 0;   // since 1970
  bool is_last = false;
  Unpaired unpaired;
  ipc::HistogramTable table;  // portable
  std::vector<Slow> slowest = {};

  friend bool operator==(const Frame&, const Frame&) = default;
};

// Of the times from one event to another.
inline bool is_of_latency(const Frame& frame) { return frame.event.find(" -> ") != std::string::npos; }

// Of a histogram that is not there any more.
inline bool has_gone(const Frame& frame) { return frame.is_last && frame.table.keys.empty(); }

// The table has to be portable().
std::string encode(const Frame& frame);
// Of one host. EPROTO with a sentence for bytes that encode() of no version gives, for a version that is too new, and
// for texts or a table larger than a host's may be.
Result<Frame> decode_frame(std::string_view bytes);
// The same without the table and what is slowest, which are not looked at.
Result<Frame> decode_head(std::string_view bytes);

// Its table's keys and values alone.
Result<ipc::HistogramTable> decode_shape(std::string_view bytes);

// Several sums, one behind the other, as the repeated field 1 of a message.
std::string encode(const std::vector<Frame>& frames);
Result<std::vector<Frame>> decode_frames(std::string_view bytes);

}  // namespace landtrace::fleet
