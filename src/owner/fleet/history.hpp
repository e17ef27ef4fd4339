// What was counted in a period: the question that a collector is asked, and its answer.
//
// A question is JSON, sent to kStoreQuestions, where collectors with a store listen, or kMemoryQuestions, for what they
// have in memory. An answer is messages: each begins with a byte that says what it is, the rest of all is put together.
#pragma once

#include <string>
#include <vector>

#include "fleet/frame.hpp"
#include "fleet/period.hpp"
#include "fleet/slot_tables.hpp"

namespace landtrace::fleet {

inline constexpr const char* kStoreQuestions = "landtrace.ask.store";
inline constexpr const char* kMemoryQuestions = "landtrace.ask.memory";
inline constexpr char kMoreFollows = '+';
inline constexpr char kIsLast = '.';
inline constexpr char kIsError = '!';  // a sentence

struct HistoryQuestion {
  std::string order = {};  // "": which orders there are
  Period period = {};
  std::string where = {};             // which hosts
  std::vector<std::string> per = {};  // labels to group by
  std::uint64_t sequence = 0;         // what stands in the stream up to there is to be in the answer

  friend bool operator==(const HistoryQuestion&, const HistoryQuestion&) = default;
};
std::string json_of(const HistoryQuestion& question);
// EINVAL.
Result<HistoryQuestion> history_question_of(const std::string& json);

struct History {
  std::string source = {};  // "store", "memory"
  std::string note = {};    // why it is from memory, though there is a store
  std::uint64_t reaches_ns = 0;   // what was counted before is not known: 0 where a store says all that it has
  std::uint64_t resolution_ns = 0;  // slots begin and end at multiples of it
  std::uint64_t dropped_bytes = 0;  // of memory, for which there was no room
  std::uint64_t unclear = 0;      // events of which is known that they were counted by then, and not since when
  bool is_behind = false;         // frames are in the stream that are not in the answer
  std::vector<std::string> misfits = {};  // hosts with other fields than most
  std::vector<std::string> no_room = {};  // hosts that took so much memory that later minutes of theirs are gone, too

  // Of an order: for each of its events and each slot a frame: `generation` and `time_ns` are when the slot begins and
  // ends, `sequence` is its number. Without an order: for each order and event a frame without rows; `generation` and
  // `time_ns` are when its oldest and newest frame were made, `host` is how many hosts there were.
  std::vector<Frame> frames = {};
};
std::string bytes_of(const History& history);
// EPROTO.
Result<History> history_of(const std::string& bytes);

// A frame for each slot.
void append_frames(History& history, const std::string& order, const std::string& event, const Period& period,
                   const SlotTables& tables);

// What stands before the keys of a host's rows: its values of these labels.
std::vector<std::string> group_of(const std::string& host, const std::string& domain, const std::string& labels,
                                  const std::vector<std::string>& per);

}  // namespace landtrace::fleet
