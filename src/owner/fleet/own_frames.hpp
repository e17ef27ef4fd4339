// Histograms that this host's own users have set up, if it was started with --fleet-histograms: what they have counted
// travels as that of orders does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/pattern.hpp"
#include "fleet/address.hpp"
#include "fleet/frame.hpp"
#include "fleet/outbox.hpp"
#include "fleet/status.hpp"
#include "metrics/figures.hpp"

namespace landtrace::fleet {

class OwnFrames {
 public:
  // Both must outlive it. `started_ns`: when the agent began, as its status says.
  OwnFrames(const AgentOptions& options, const std::string& boot, std::uint64_t started_ns);

  [[nodiscard]] bool is_wanted() const { return !patterns_.empty(); }
  // Of what has changed since the last call: it costs reading them. A histogram that has gone is sent once more, empty.
  std::vector<Outbox::Letter> take(const std::vector<metrics::HistogramFigures>& histograms, std::uint64_t now_ns);
  // There was no room for what was taken: at the next time all are sent, also that some have gone.
  void send_all_again() {
    for (auto& [name, series] : series_) series.is_known = false;
  }

  [[nodiscard]] bool wants(std::string_view system, std::string_view name) const;
  // Which do not travel, and why. Of the last call.
  [[nodiscard]] const std::vector<Refusal>& refusals() const { return refusals_; }

  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostBytes = 4u << 20;  // of one call, and what is beyond that at the next

 private:
  struct Series {
    Frame last;  // without rows
    std::uint64_t dropped = 0;
    bool is_there = false;
    bool is_gone = false;
    bool is_known = true;  // as far as it was sent
  };
  // nullopt: it is as it was.
  std::optional<Outbox::Letter> letter_of(Series& series, const ipc::HistogramTable& table, std::uint64_t now_ns);
  Series* series_of(const metrics::HistogramFigures& histogram);
  void take_gone(std::uint64_t now_ns, std::vector<Outbox::Letter>& letters);

  const AgentOptions& options_;
  const std::string& boot_;
  std::vector<event::Pattern> patterns_;
  std::map<std::string, Series> series_;  // by own_event()
  std::vector<Refusal> refusals_;
  std::size_t first_ = 0;
  std::uint64_t newest_generation_;  // each is larger than those before it, also where the clock is set back
};

}  // namespace landtrace::fleet
