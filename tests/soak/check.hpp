// What a soak holds against what its producers say: every event that was recorded is whole, comes once and in order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "consumer/sink.hpp"
#include "progress.hpp"

namespace landtrace::soak {

class Check : public consumer::Sink {
 public:
  explicit Check(const Progress& progress) : progress_(progress) {}

  void type(const output::EventType&) override {}
  void task(std::int32_t, const output::Task&) override {}
  void event(const output::Record& record, const output::EventType& type) override;
  void lost(std::uint32_t, std::uint64_t count) override { lost_ += count; }

  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] const std::map<Kind, std::uint64_t>& by_kind() const { return by_kind_; }
  // The first things that were wrong; empty: none.
  [[nodiscard]] const std::vector<std::string>& mistakes() const { return mistakes_; }

 private:
  struct Seen {
    std::vector<bool> sequences;                   // that have come
    std::map<std::uint32_t, std::uint64_t> next;   // by ring: the least that may come
    std::map<std::uint64_t, std::uint64_t> times;  // of every 4096th
  };
  void wrong(const std::string& what);
  void check_time(Seen& seen, const Payload& payload, std::uint64_t time_ns);

  const Progress& progress_;
  std::map<std::uint32_t, Seen> seen_;
  std::map<Kind, std::uint64_t> by_kind_;
  std::uint64_t events_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<std::string> mistakes_;
};

}  // namespace landtrace::soak
