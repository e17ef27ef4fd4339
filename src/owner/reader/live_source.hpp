// The events of a running domain, as they happen, by a session of its own.
#pragma once

#include "consumer/collector.hpp"
#include "consumer/ordered_sink.hpp"
#include "reader/source.hpp"

namespace landtrace::reader {

class LiveSource : public Source, private consumer::OrderedSink {
 public:
  // The domain at `socket`. EINVAL: the filter can be none of any event. Else what consumer::DomainView::connect(),
  // consumer::Session::open() and select() say.
  static Result<std::unique_ptr<LiveSource>> open(const std::string& socket, Choice choice,
                                                  const consumer::Session::Options& rings);

  Result<Answer> next(Event& event) override;
  [[nodiscard]] std::uint64_t lost_so_far() const override { return lost_; }
  [[nodiscard]] const std::string& clock() const override { return clock_; }
  [[nodiscard]] std::optional<std::int64_t> wall_offset_ns() const override;
  std::vector<output::MappedObject> take_objects() override { return std::exchange(objects_, {}); }

 private:
  struct Kept {
    Event event;        // without its payload
    std::size_t begin;  // of that in bytes_
    std::size_t size;
  };

  LiveSource(consumer::DomainView view, Choice choice) : view_(std::move(view)), choice_(std::move(choice)) {}
  Result<void> listen(const consumer::Session::Options& rings);
  // Whether more waits in the rings.
  Result<bool> refill();
  Result<bool> end();

  void object(const unwind::MappedObject& object) override { objects_.push_back(object); }
  void knows_type(const output::EventType& type) override;
  void in_order(const output::Record& record, const output::Task* who, const output::EventType& type) override;
  void lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;

  consumer::DomainView view_;
  Choice choice_;
  std::string clock_ = "mono";
  std::optional<consumer::Session> session_;
  std::optional<consumer::Collector> collector_;
  std::vector<Kept> kept_;
  std::vector<std::byte> bytes_;
  std::size_t given_ = 0;  // of kept_
  std::vector<output::MappedObject> objects_;
  std::uint64_t lost_before_ = 0;  // the event that comes next
  std::uint64_t lost_ = 0;
  bool has_ended_ = false;
};

}  // namespace landtrace::reader
