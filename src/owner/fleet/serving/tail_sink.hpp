// Events as lines for people elsewhere: time of day, host, thread, event.
#pragma once

#include <string>
#include <vector>

#include "consumer/ordered_sink.hpp"

namespace landtrace::fleet {

class TailSink : public consumer::OrderedSink {
 public:
  // Fields of `left_out` are not shown.
  TailSink(std::string host, std::vector<std::string> left_out);

  // What found no room is told behind them.
  std::string take();

 private:
  void in_order(const output::Record& record, const output::Task* who, const output::EventType& type) override;
  void lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void begin_line(std::uint64_t time_ns);
  void append_body(const output::Record& record, const output::EventType& type);

  std::string host_;
  std::vector<std::string> left_out_;
  std::uint64_t to_wall_ns_;  // is added to times of records
  std::string lines_;
  std::uint64_t without_room_ = 0;
  std::uint32_t last_cpu_ = 0;  // of those
  std::uint64_t last_ns_ = 0;
};

}  // namespace landtrace::fleet
