// The rows of the table: what the bars are, and what is compared with what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results.hpp"
#include "setting.hpp"

namespace landtrace::bench {

inline constexpr double kNsPerMs = 1e6;

// What was not measured is none.
using Figure = std::optional<double>;

inline Figure quotient(const Figure& a, const Figure& b) { return a && b && *b != 0 ? Figure(*a / *b) : std::nullopt; }

enum class Verdict { kMet, kNotMet, kPeerAbsent, kNotRun, kNoBar };

struct Row {
  std::string what;
  std::optional<double> ours;
  const char* unit;
  std::string peer_name;  // empty: there is none
  std::optional<double> peer;
  // Compared with the bar: ours / peer where there is a peer, else ours in `unit`.
  std::optional<double> ratio;
  std::optional<double> bar;
  bool at_least;  // the bar is a lower one
  Verdict verdict;
  std::string note;  // empty, or a remark
};

std::vector<Row> make_rows(const Results& results, const Setting& setting);
std::vector<Row> make_probe_rows(const Results& results, const Setting& setting);
std::vector<Row> make_fleet_rows(const Results& results);

}  // namespace landtrace::bench
