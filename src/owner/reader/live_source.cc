#include "reader/live_source.hpp"

#include <time.h>

namespace landtrace::reader {

Result<std::unique_ptr<LiveSource>> LiveSource::open(const std::string& socket, Choice choice,
                                                     const consumer::Session::Options& rings) {
  LT_TRY(consumer::DomainView view, consumer::DomainView::connect(socket));
  std::unique_ptr<LiveSource> source(new LiveSource(std::move(view), std::move(choice)));
  LT_CHECK(source->listen(rings));
  return source;
}

Result<void> LiveSource::listen(const consumer::Session::Options& rings) {
  LT_CHECK(choice_.filter.check("filter"));
  LT_TRY(session_, consumer::Session::open(view_, rings));
  std::vector<std::string> patterns;
  for (const event::Pattern& pattern : choice_.events.patterns()) patterns.push_back(pattern.text());
  if (patterns.empty()) patterns.emplace_back("*:*");
  for (const std::string& pattern : patterns) {
    LT_CHECK(session_->select({.pattern = pattern, .filter = choice_.filter.expression()}));
  }
  collector_.emplace(view_, *session_, static_cast<consumer::Sink&>(*this));
  return collector_->look();
}

Result<Source::Answer> LiveSource::next(Event& event) {
  bool has_more = false;
  if (given_ == kept_.size() && !has_ended_) {
    LT_TRY(has_more, refill());
  }
  if (given_ == kept_.size()) return has_ended_ ? Answer::kEnd : has_more ? Answer::kAgain : Answer::kNothingYet;
  const Kept& next = kept_[given_++];
  event = next.event;
  event.record.payload = std::span(bytes_).subspan(next.begin, next.size);
  return Answer::kEvent;
}

Result<bool> LiveSource::refill() {
  kept_.clear();
  bytes_.clear();
  given_ = 0;
  auto more = collector_->drain();
  return !more && more.error().code == EPIPE ? end() : more;
}

// Nobody serves the domain any more: what the rings hold is the rest.
Result<bool> LiveSource::end() {
  has_ended_ = true;
  auto read = collector_->finish();
  LT_CHECK(finish());
  lost_ += collector_->totals().placeless;
  if (!read && read.error().code != EPIPE) return tl::unexpected<Error>(std::move(read).error());
  return false;
}

void LiveSource::knows_type(const output::EventType& type) {
  if (choice_.events.wants(type)) choice_.filter.know(type, view_.cpus());
}

// Producers have evaluated the filter, where it fits. Of other events the domain records all.
void LiveSource::in_order(const output::Record& record, const output::Task* who, const output::EventType& type) {
  if (!choice_.filter.fits(type.id)) return;
  kept_.push_back({{std::exchange(lost_before_, 0), record, who, &type}, bytes_.size(), record.payload.size()});
  bytes_.insert(bytes_.end(), record.payload.begin(), record.payload.end());
}

void LiveSource::lost_in_order(std::uint32_t /*cpu*/, std::uint64_t count, std::uint64_t /*time_ns*/) {
  lost_before_ += count;
  lost_ += count;
}

std::optional<std::int64_t> LiveSource::wall_offset_ns() const {
  timespec wall{};
  timespec now{};
  if (::clock_gettime(CLOCK_REALTIME, &wall) != 0 || ::clock_gettime(CLOCK_MONOTONIC, &now) != 0) return std::nullopt;
  constexpr std::int64_t kSecond_ns = 1'000'000'000;
  return (wall.tv_sec - now.tv_sec) * kSecond_ns + (wall.tv_nsec - now.tv_nsec);
}

}  // namespace landtrace::reader
