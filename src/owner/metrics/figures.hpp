// What a domain tells of itself at one moment: the numbers behind its metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumer/session.hpp"
#include "event/pattern.hpp"
#include "ipc/histogram_table.hpp"
#include "ipc/tree_client.hpp"
#include "output/cpu_stats.hpp"

namespace landtrace::metrics {

// A ring: of a CPU, in an instance ("": the top one).
struct RingFigures {
  std::string instance;
  std::uint32_t cpu = 0;
  output::CpuStats stats;
};

struct HistogramFigures {
  std::string instance;
  std::string event;  // SYSTEM:EVENT
  ipc::HistogramTable table;
};

struct ProbeFigures {
  std::string event;  // as uprobe_profile has it
  std::uint64_t hits = 0;
};

// How often an event happened since it is counted.
struct EventFigures {
  std::string event;  // SYSTEM:EVENT
  std::uint64_t count = 0;
};

struct Figures {
  std::uint64_t events = 0;   // that are registered
  std::uint64_t enabled = 0;  // … and that somebody listens to
  std::uint64_t users = 0;
  std::vector<RingFigures> rings;
  std::vector<HistogramFigures> histograms;
  std::vector<ProbeFigures> probes;
  std::vector<EventFigures> counted;  // those that the asker counts
};

// Who asks a domain for them. One thread at a time.
class Asker {
 public:
  // ENOENT or ECONNREFUSED where no domain runs at `socket`, EPERM for who may not record it. Counts the events that
  // match one of the patterns, as long as it is connected; EINVAL with a sentence for what is no pattern.
  static Result<Asker> connect(const std::string& socket, const std::vector<std::string>& patterns = {});

  // EPIPE when the owner is gone.
  Result<Figures> ask();
  // Events, users and rings alone: histograms may be large.
  Result<Figures> ask_rings();

  // The histograms of events that `wants` says yes to, as many as `most`.
  using Wants = std::function<bool(std::string_view system, std::string_view name)>;
  Result<std::vector<HistogramFigures>> histograms(const Wants& wants, std::size_t most);

 private:
  Asker(std::unique_ptr<consumer::DomainView> view, ipc::TreeClient tree)
      : view_(std::move(view)), tree_(std::move(tree)) {}

  Result<void> count(const std::vector<std::string>& patterns);
  void count_events(Figures& figures) const;
  Result<void> add_rings(Figures& figures, const std::string& instance);
  Result<void> add_probes(Figures& figures);
  Result<void> add_counted(Figures& figures);
  Result<std::string> read(const std::string& path);

  std::unique_ptr<consumer::DomainView> view_;  // which has to stay in its place
  ipc::TreeClient tree_;
  std::vector<event::Pattern> patterns_;
  std::optional<consumer::Session> session_;  // records nothing, and has a histogram of each event that is counted
};

}  // namespace landtrace::metrics
