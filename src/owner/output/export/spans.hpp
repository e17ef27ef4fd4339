// Pairs of events as spans: from an event to the next one that has the same key, `--span FROM,TO,KEY`.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/export/exporter.hpp"

namespace landtrace::output {

struct SpanRule {
  std::string from;  // SYSTEM:EVENT
  std::string to;
  std::string key;  // a field of both; empty: the thread
};

struct Span {
  const SpanRule* rule = nullptr;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  // Where it began; it ends in the thread of the event that ended it.
  std::int32_t tid = 0;
  std::uint32_t pid = 0;
  std::string key;  // as text
  std::uint64_t number = 0;
  // No other span of its thread that began within it is open: it can be drawn in the thread's own lane.
  bool is_nested = false;
};

class SpanFinder {
 public:
  explicit SpanFinder(std::vector<SpanRule> rules) : rules_(std::move(rules)) {}

  // The spans that this event ends. Of one that is both, it ends one and begins the next.
  std::vector<Span> add(const ExportedEvent& event, std::uint32_t pid);
  // Which are begun and have not ended; those that came when too many were open are not among them.
  [[nodiscard]] std::uint64_t open() const { return open_.size(); }
  [[nodiscard]] std::uint64_t ends_without_begin() const { return unmatched_; }

 private:
  static constexpr std::size_t kMostOpen = 1 << 20;

  struct Key {
    const SpanRule* rule;
    std::string value;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string>()(key.value) ^ std::hash<const void*>()(key.rule);
    }
  };

  std::vector<SpanRule> rules_;
  std::unordered_map<Key, Span, Hash> open_;
  std::unordered_map<std::int32_t, std::vector<std::uint64_t>>
      lanes_;  // open spans' numbers, by thread, in their order
  std::uint64_t numbers_ = 0;
  std::uint64_t unmatched_ = 0;
};

}  // namespace landtrace::output
