// What `landtrace top` shows: events or programs, by how often they occur.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/terminal.hpp"

namespace landtrace::cli {

struct RateCounts {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;  // of payloads
};

// What has been counted since the beginning.
struct RateTotals {
  std::map<std::string, RateCounts> by_event;
  std::map<std::string, RateCounts> by_program;
  RateCounts all;
  std::uint64_t lost = 0;
};

struct RateView {
  enum class By : std::uint8_t { kEvents, kPrograms };
  enum class Sort : std::uint8_t { kRate, kCount, kBytes, kName };
  By by = By::kEvents;
  Sort sort = Sort::kRate;
  std::string match;     // only rows that have this in their names; upper and lower case are the same
  std::size_t rows = 0;  // at most; 0: all

  static Result<By> parse_by(const std::string& text);
  static Result<Sort> parse_sort(const std::string& text);
  [[nodiscard]] const char* by_text() const;
  [[nodiscard]] const char* sort_text() const;
};

class RateTable {
 public:
  // Of what was counted between the two, which are this far apart.
  RateTable(const RateTotals& before, const RateTotals& now, std::uint64_t ns, const RateView& view);

  // For people, as wide as the columns allow.
  [[nodiscard]] std::string text(std::size_t columns) const;
  // One line.
  [[nodiscard]] std::string json() const;

 private:
  struct Row {
    std::string name;
    RateCounts since;
    RateCounts all;
  };
  [[nodiscard]] std::uint64_t rate(std::uint64_t count) const;
  void sort_rows();
  [[nodiscard]] std::string head(std::size_t columns) const;

  const RateView& view_;
  std::uint64_t ns_;
  std::vector<Row> rows_;
  std::size_t hidden_ = 0;  // rows that found no room
  RateCounts since_;
  std::uint64_t lost_ = 0;
  std::uint64_t lost_since_ = 0;
};

}  // namespace landtrace::cli
