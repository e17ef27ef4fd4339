// A session of a recorder: an instance with rings of its own in the domain. It lives as long as the connection.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/clock.hpp"
#include "consumer/domain_view.hpp"
#include "ipc/histogram_table.hpp"
#include "ring/layout.hpp"

namespace landtrace::consumer {

class Session {
 public:
  struct Options {
    std::uint64_t ring_bytes = 4u << 20;  // per CPU and user; rounded up to a power of two
    bool overwrite = false;               // keep the newest events instead of the oldest
    // Rings of this size will do where larger ones would leave little room for other sessions; 0: none but ring_bytes.
    std::uint64_t least_ring_bytes = 0;
  };
  // Opens the session on the connection of the view, which must outlive it and stay in its place. EPERM
  // unless the caller runs the domain or is root, EBUSY when the connection has a session, ENOSPC when the
  // domain has no room for the rings.
  static Result<Session> open(DomainView& view, const Options& options);

  // Listens to the events that match, now and as they register. EINVAL with a sentence for a bad pattern.
  Result<void> listen(std::string_view pattern) { return select({.pattern = std::string(pattern)}); }

  // What the events that match are recorded with: from the first on, and evaluated in the programs that emit them.
  struct Selection {
    std::string pattern;
    std::string filter = {};                 // "": everything passes
    std::vector<std::string> triggers = {};  // as an event's `trigger` file takes them
  };
  // The same with a filter and triggers; an event that several selections match has the filter of the last that has
  // one. EINVAL with a sentence for what can be no filter or trigger of any event.
  Result<void> select(const Selection& selection);

  // A filter that does not fit an event, so that all of the event is recorded, or a trigger that the event does not
  // take.
  struct Unfit {
    std::string event;
    std::string rule;
    bool is_trigger;
    std::string reason;
  };
  struct State {
    bool recording = true;  // false: a traceoff trigger has ended it
    std::vector<Unfit> unfit;
  };
  Result<State> state();

  // Whether events go into the rings. Triggers and histograms do not need that.
  Result<void> record(bool on);
  // What the event's histograms in this session have counted; `event` is SYSTEM:EVENT. ENOENT: there is no such event
  // (yet).
  Result<std::vector<ipc::HistogramTable>> histograms(const std::string& event);

  // Takes no events of these threads from here on, and again of those that were left out before.
  Result<void> leave_out(std::span<const std::uint32_t> threads);

  // Stops listening. When it returns no producer is in the middle of an event any more, but for one that is
  // stopped.
  Result<void> stop();
  // Makes room in rings up to these positions. Nothing to do when overwriting.
  Result<void> publish(std::span<const ipc::ConsumedPosition> positions);

  [[nodiscard]] ring::Geometry geometry() const { return geometry_; }
  [[nodiscard]] bool overwrite() const { return overwrite_; }
  [[nodiscard]] arch::RawClock raw_clock() const { return raw_clock_; }
  // The raw time before which the session did not exist.
  [[nodiscard]] std::uint64_t started() const { return started_; }
  // The session's ring `index` of a user, within its data segment.
  [[nodiscard]] const std::byte* ring(const User& user, std::uint32_t index) const {
    return user.mapping.data() + rings_ + index * geometry_.stride();
  }

 private:
  explicit Session(DomainView& view);

  DomainView* view_;
  arch::RawClock raw_clock_;
  std::uint64_t started_;
  std::uint64_t rings_ = 0;
  ring::Geometry geometry_;
  bool overwrite_ = false;
};

}  // namespace landtrace::consumer
