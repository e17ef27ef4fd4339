#include "fleet/own_frames.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/order.hpp"
#include "fleet/own_histograms.hpp"
#include "fleet/portable.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {

namespace {

// A status has to fit into a message.
constexpr std::size_t kMostRefusals = 8;

}  // namespace

OwnFrames::OwnFrames(const AgentOptions& options, const std::string& boot, std::uint64_t started_ns)
    : options_(options), boot_(boot), newest_generation_(started_ns) {
  for (const std::string& text : options.histograms) {
    if (auto pattern = event::Pattern::parse(text)) patterns_.push_back(*std::move(pattern));
  }
}

bool OwnFrames::wants(std::string_view system, std::string_view name) const {
  return std::ranges::any_of(
      patterns_, [&](const event::Pattern& one) { return one.matches(std::string(system), std::string(name)); });
}

// One that was set up or cleared anew begins a generation.
std::optional<Outbox::Letter> OwnFrames::letter_of(Series& series, const ipc::HistogramTable& table,
                                                   std::uint64_t now_ns) {
  Frame& last = series.last;
  const bool begins = last.generation == 0 || table.hits < last.table.hits;
  if (!begins && series.is_known && table.hits == last.table.hits && table.dropped == series.dropped)
    return std::nullopt;
  if (begins) {
    last.generation = newest_generation_ = std::max(now_ns, newest_generation_ + 1);
    last.sequence = 0;
  }
  ++last.sequence;
  last.time_ns = now_ns;
  Frame frame = last;
  frame.table = portable(table, options_.left_out);
  last.table.hits = table.hits;
  series.dropped = table.dropped;
  series.is_known = true;
  return Outbox::Letter{subject_of(frame), encode(frame)};
}

// nullptr: it does not travel, for the reason that is told.
OwnFrames::Series* OwnFrames::series_of(const metrics::HistogramFigures& histogram) {
  const std::string name = own_event(histogram.instance, histogram.event, histogram.table.trigger);
  if (const std::string field = needs_left_out(histogram.table, options_.left_out); !field.empty()) {
    refusals_.push_back({name, "'" + field + "' is left out of what travels from here (--fleet-redact)"});
    return nullptr;
  }
  const auto known = series_.find(name);
  if (known == series_.end() && series_.size() >= kMost) {
    refusals_.push_back({name, fmt::format("{} histograms travel from here already", kMost)});
    return nullptr;
  }
  if (known != series_.end() && known->second.is_there) {
    refusals_.push_back({name, "there are two of them: the first one travels"});
    return nullptr;
  }
  Series& series = series_[name];
  if (series.is_gone) series = {};
  series.is_there = true;
  Frame& last = series.last;
  last.host = options_.host;
  last.boot = boot_;
  last.domain = options_.domain;
  last.labels = options_.labels;
  last.order = kOwn;
  last.event = name;
  return &series;
}

void OwnFrames::take_gone(std::uint64_t now_ns, std::vector<Outbox::Letter>& letters) {
  for (auto& [name, series] : series_) {
    if (series.is_there) continue;
    series.is_gone = series.is_known = true;
    Frame& gone = series.last;
    if (gone.generation == 0) continue;
    ++gone.sequence;
    gone.time_ns = now_ns;
    gone.is_last = true;
    gone.table = {};
    letters.push_back({subject_of(gone), encode(gone)});
  }
}

// Each time it begins where the room ended at the last.
std::vector<Outbox::Letter> OwnFrames::take(const std::vector<metrics::HistogramFigures>& histograms,
                                            std::uint64_t now_ns) {
  std::vector<Outbox::Letter> letters;
  std::size_t bytes = 0;
  refusals_.clear();
  std::erase_if(series_, [](const auto& one) { return one.second.is_gone && one.second.is_known; });
  for (auto& [name, series] : series_) series.is_there = false;
  const std::size_t begin = histograms.empty() ? 0 : first_ % histograms.size();
  for (std::size_t i = 0; i < histograms.size(); ++i) {
    const std::size_t number = (begin + i) % histograms.size();
    Series* const series = series_of(histograms[number]);
    if (series == nullptr || bytes > kMostBytes) continue;
    auto letter = letter_of(*series, histograms[number].table, now_ns);
    if (!letter) continue;
    bytes += letter->size();
    if (bytes > kMostBytes) first_ = number + 1;
    letters.push_back(*std::move(letter));
  }
  if (refusals_.size() > kMostRefusals) refusals_.resize(kMostRefusals);
  take_gone(now_ns, letters);
  return letters;
}

}  // namespace landtrace::fleet
