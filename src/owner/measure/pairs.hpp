// What `landtrace latency` counts: events that begin something wait under their key until one comes that ends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ipc/histogram_table.hpp"

namespace landtrace::measure {

class Pairs {
 public:
  // For each power of two: percentiles are within 3 %.
  static constexpr std::uint64_t kSteps = 32;

  struct Limits {
    std::size_t rows = 2048;         // of the table; the steps of a power of two are one
    std::size_t waiting = 1u << 20;  // starts; the oldest are given up for newer ones
  };
  explicit Pairs(Limits limits) : limits_(limits) {}

  // Both in the order of time. Of several starts with one key the last one counts, and each is used once.
  void start(std::string key, std::uint64_t time_ns);
  // How long it took; nullopt: it has no start.
  std::optional<std::uint64_t> end(const std::string& key, std::uint64_t time_ns,
                                   std::vector<ipc::HistogramKeyValue> by);

  // What the step of this time begins with, as .log2=32 of histograms has it.
  static std::uint64_t step_of(std::uint64_t ns);

  // A row for each group and each step that its times have: the values of `by`, then the step's beginning; their sum.
  [[nodiscard]] ipc::HistogramTable table(const std::vector<ipc::HistogramKey>& by, const std::string& name) const;

  // Including those that wait.
  [[nodiscard]] std::uint64_t starts_without_end() const { return given_up_ + waiting_.size(); }
  [[nodiscard]] std::uint64_t ends_without_start() const { return ends_without_start_; }

 private:
  struct Start {
    std::uint64_t time_ns;
    std::list<std::string>::iterator place;
  };
  bool has_room(const std::vector<ipc::HistogramKeyValue>& by, std::uint64_t ns);
  void count(std::uint64_t ns, std::vector<ipc::HistogramKeyValue> by);

  Limits limits_;
  std::unordered_map<std::string, Start> waiting_;  // by key
  std::list<std::string> order_;                    // their keys, the oldest first
  std::unordered_map<std::string, ipc::HistogramRow> rows_;
  std::unordered_set<std::string> powers_;  // names of rows as they would be with a power of two each
  std::uint64_t hits_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t given_up_ = 0;
  std::uint64_t ends_without_start_ = 0;
};

}  // namespace landtrace::measure
