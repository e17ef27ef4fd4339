// Pairs of events as spans, `--span FROM,TO,KEY`: from an event to the next that has the same key. Without KEY those of
// a thread are nested like calls: an end ends the innermost that is open.
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
  // Which have begun and have not ended, or began again before; those that came when too many were open are not among
  // them.
  [[nodiscard]] std::uint64_t begins_without_end() const { return count_ + replaced_; }
  [[nodiscard]] std::uint64_t ends_without_begin() const { return unmatched_; }
  // Both as a sentence; empty: each span has its begin and its end.
  [[nodiscard]] std::string complaint() const;

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

  struct Open {
    std::vector<Span> spans;     // the innermost last; with a KEY one
    std::uint64_t left_out = 0;  // within those: too many were open
  };

  std::optional<Span> take(const Key& key, std::int32_t tid);
  void begin(const Key& key, const ExportedEvent& event, std::uint32_t pid);

  std::vector<SpanRule> rules_;
  std::unordered_map<Key, Open, Hash> open_;
  std::uint64_t count_ = 0;  // of all that are open
  std::unordered_map<std::int32_t, std::vector<std::uint64_t>>
      lanes_;  // open spans' numbers, by thread, in their order
  std::uint64_t numbers_ = 0;
  std::uint64_t unmatched_ = 0;
  std::uint64_t replaced_ = 0;
};

}  // namespace landtrace::output
