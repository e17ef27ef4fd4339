// Prints events as they come: what `landtrace tail` does with its session.
#pragma once

#include "cli/lines/line_writer.hpp"
#include "consumer/ordered_sink.hpp"
#include "cli/selection.hpp"
#include "cli/text_output.hpp"

namespace landtrace::cli {

class LineSink : public consumer::OrderedSink {
 public:
  // `style` must outlive it.
  LineSink(const LineStyle& style, Selection selection);

  void object(const unwind::MappedObject& object) override { lines_.objects().add(object); }
  [[nodiscard]] const LineWriter& lines() const { return lines_; }

 private:
  void knows_type(const output::EventType& type) override;
  void in_order(const output::Record& record, const output::Task* who, const output::EventType& type) override;
  void lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;
  void round_is_over() override { flush(); }
  void all_is_over() override { flush(); }
  void flush();

  Selection selection_;
  LineWriter lines_;
  TextOutput out_{false};
};

}  // namespace landtrace::cli
