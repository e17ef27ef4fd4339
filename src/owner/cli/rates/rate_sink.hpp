// Counts events, and shows the counts now and then: what `landtrace top` does with its session.
#pragma once

#include <bitset>
#include <functional>
#include <unordered_map>

#include "cli/rates/keyboard.hpp"
#include "cli/rates/rate_table.hpp"
#include "consumer/recorder_sink.hpp"

namespace landtrace::cli {

class RateSink : public consumer::RecorderSink {
 public:
  struct Options {
    RateView view;
    std::uint64_t interval_ns = 1'000'000'000;
    std::uint64_t count = 0;  // tables; 0: without end
    bool json = false;
  };
  // `keyboard` may be nullptr: the tables stand one behind the other.
  RateSink(Options options, Keyboard* keyboard);

  void type(const output::EventType& type) override { names_[type.id] = type.system + ':' + type.name; }
  void task(std::int32_t tid, const output::Task& task) override;
  void event(const output::Record& record, const output::EventType& type) override;
  void lost(std::uint32_t /*cpu*/, std::uint64_t count) override { totals_.lost += count; }
  void settled(std::uint64_t horizon_ns) override;
  Result<void> finish() override;

  [[nodiscard]] const std::optional<Error>& failure() const override { return failure_; }
  [[nodiscard]] std::uint64_t written() const override { return totals_.all.events; }

 private:
  void answer(const std::string& typed);
  void answer_key(char key);
  void end_without_a_word() { failure_ = Error(EPIPE); }
  void begin_interval(std::uint64_t now_ns);
  void draw();
  void print();
  [[nodiscard]] std::string help_line() const;

  Options options_;
  Keyboard* keyboard_;
  std::unordered_map<std::uint16_t, std::string> names_;    // of events, by id
  std::unordered_map<std::int32_t, std::string> programs_;  // by thread
  std::unordered_map<std::uint16_t, RateCounts*> event_counts_;
  std::unordered_map<std::int32_t, RateCounts*> program_counts_;
  RateTotals totals_;
  RateTotals before_, shown_;  // at the beginning and the end of the last whole interval
  std::uint64_t before_ns_, shown_ns_;
  Screen screen_;
  bool is_typing_ = false;  // what to search for
  std::uint64_t printed_ = 0;
  std::optional<Error> failure_;
};

}  // namespace landtrace::cli
