// What a host says of itself: who it is, what it lost, and what it made of its orders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "fleet/labels.hpp"

namespace landtrace::fleet {

// A part of an order that the host's domain does not take.
struct Refusal {
  std::string event;  // "": all of it
  std::string reason;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

struct OrderState {
  enum class Now : std::uint8_t { kApplied, kRefused, kEnded };
  std::string id;
  Now now = Now::kApplied;
  std::uint64_t events = 0;  // that were counted or recorded for it
  std::vector<Refusal> refusals;
  std::vector<std::string> missing = {};  // its events of which the host never had any
  std::vector<std::string> there = {};    // … and some that it has, SYSTEM:EVENT

  friend bool operator==(const OrderState&, const OrderState&) = default;
};

struct Status {
  std::string host = {};
  std::string boot = {};
  std::string domain = {};
  Labels labels = {};
  std::string version = {};   // of Landtrace
  std::uint64_t started = 0;  // when its agent began, in nanoseconds since 1970
  std::uint64_t sequence = 0;
  std::uint64_t time_ns = 0;  // since 1970
  std::uint64_t interval_ms = 0;
  std::uint64_t users = 0;
  std::uint64_t events = 0;  // that are registered
  std::uint64_t enabled = 0;
  std::uint64_t recorded = 0;
  std::uint64_t lost = 0;    // events: overwritten or without room
  std::uint64_t unsent = 0;  // frames that found no room while the transport was away, or were too large for it
  std::vector<OrderState> orders = {};

  friend bool operator==(const Status&, const Status&) = default;

  // Three intervals, ten seconds at least: without word for longer it is away.
  [[nodiscard]] std::uint64_t patience_ns() const;
  // By its own clock, beside this time.
  [[nodiscard]] bool is_away(std::uint64_t now_ns) const;
  // Its labels with those that every host has.
  [[nodiscard]] Labels all_labels() const;
};

std::string json_of(const Status& status);
// In so many bytes at most, where the rest leaves room for that: without most refusals of each order, and then without
// orders, the last ones first.
std::string json_within(Status status, std::size_t most_bytes);
// EINVAL with a sentence.
Result<Status> status_of(const std::string& json);

}  // namespace landtrace::fleet
