#include "metrics/families.hpp"

#include "metrics/histogram_families.hpp"

namespace landtrace::metrics {
namespace {

// Not "instance", which scrapers give to whom they scrape.
constexpr const char* kInstanceLabel = "trace_instance";

Family number_of(const char* name, const char* help, std::uint64_t value) {
  return {name, help, Family::Kind::kGauge, {Series{{}, value}}};
}

Family of_rings(const Figures& figures, const char* name, const char* help,
                std::uint64_t (*count)(const output::CpuStats&)) {
  Family family{name, help, Family::Kind::kCounter};
  for (const RingFigures& ring : figures.rings) {
    family.series.push_back(
        {{{kInstanceLabel, ring.instance}, {"cpu", std::to_string(ring.cpu)}}, Number(count(ring.stats))});
  }
  return family;
}

Family of_probes(const Figures& figures) {
  Family family{"landtrace_probe_hits", "Hits of probes of functions", Family::Kind::kCounter};
  for (const ProbeFigures& probe : figures.probes) family.series.push_back({{{"event", probe.event}}, probe.hits});
  return family;
}

Family of_counted(const Figures& figures) {
  Family family{"landtrace_events", "How often events happened", Family::Kind::kCounter};
  for (const EventFigures& counted : figures.counted) {
    family.series.push_back({{{"event", counted.event}}, counted.count});
  }
  return family;
}

}  // namespace

std::vector<Family> families_of(const Figures& figures) {
  std::vector<Family> families{
      number_of("landtrace_events_registered", "Events that are registered", figures.events),
      number_of("landtrace_events_enabled", "Events that somebody listens to", figures.enabled),
      number_of("landtrace_users", "Users who have a part of the domain", figures.users),
      of_rings(figures, "landtrace_recorded_events", "Events that were recorded in a ring",
               [](const output::CpuStats& s) { return s.entries + s.overrun + s.read; }),
      of_rings(figures, "landtrace_overwritten_events", "Recorded events that newer ones took the place of, unread",
               [](const output::CpuStats& s) { return s.overrun; }),
      of_rings(figures, "landtrace_dropped_events", "Events that found no room in a ring",
               [](const output::CpuStats& s) { return s.dropped + s.commit_overrun; }),
  };
  if (!figures.probes.empty()) families.push_back(of_probes(figures));
  if (!figures.counted.empty()) families.push_back(of_counted(figures));
  HistogramFamilies histograms(families);
  histograms.add(figures.histograms);
  for (Family& family : histograms.take()) families.push_back(std::move(family));
  families.push_back(number_of("landtrace_metrics_left_out", "Rows of histograms that are no metrics here: too many",
                               histograms.left_out()));
  return families;
}

}  // namespace landtrace::metrics
