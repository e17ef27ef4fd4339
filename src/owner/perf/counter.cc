#include "perf/counter.hpp"

#include <algorithm>

namespace landtrace::perf {
namespace {

// A table's rows are by CPU and thread: whose events count is found out here.
constexpr const char* kTable = "hist:keys=common_cpu,common_pid:size=16384";
constexpr std::uint64_t kCounterRingBytes = 1u << 18;

}  // namespace

Result<std::unique_ptr<Counter>> Counter::open(const std::string& socket) {
  LT_TRY(consumer::DomainView view, consumer::DomainView::connect(socket));
  std::unique_ptr<Counter> counter(new Counter(std::make_unique<consumer::DomainView>(std::move(view))));
  LT_TRY(consumer::Session session,
         consumer::Session::open(*counter->view_, {.ring_bytes = kCounterRingBytes, .overwrite = true}));
  LT_CHECK(session.record(false));
  counter->session_ = std::make_unique<consumer::Session>(std::move(session));
  return counter;
}

bool Counter::takes(const Event& event) const {
  return std::none_of(counted_.begin(), counted_.end(), [&](const Counted& counted) {
    return counted.slot == event.tracepoint.slot && counted.filter != event.filter;
  });
}

Result<void> Counter::listen(Event& event) {
  if (!view_) return fail(ENODEV);
  const bool is_counted = std::any_of(counted_.begin(), counted_.end(),
                                      [&](const Counted& counted) { return counted.slot == event.tracepoint.slot; });
  if (!is_counted) {
    const std::string condition = event.filter.empty() ? "" : " if " + event.filter;
    LT_CHECK(session_->select({event.tracepoint.full_name(), "", {kTable + condition}}));
    counted_.push_back({event.tracepoint.slot, event.filter});
  }
  LT_TRY(const std::uint64_t before, total(event));
  std::erase_if(events_, [&](const Entry& entry) { return entry.event == &event; });
  events_.push_back({&event, before});
  event.before_exec = 0;
  event.counter = this;
  return {};
}

void Counter::hush(Event& event) {
  event.count = count(event);
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const Entry& e) { return e.event == &event; });
  if (found != events_.end()) events_.erase(found);
}

void Counter::remove(Event& event) {
  std::erase_if(events_, [&](const Entry& entry) { return entry.event == &event; });
  event.counter = nullptr;
}

std::uint64_t Counter::count(Event& event) {
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const Entry& e) { return e.event == &event; });
  if (found == events_.end() || event.begin == kNotYet) return event.count;
  const auto now = total(event);
  const std::uint64_t before = found->before + event.before_exec;
  return event.count + (now && *now > before ? *now - before : 0);
}

Result<std::uint64_t> Counter::total(Event& event) {
  LT_TRY(const auto tables, session_->histograms(event.tracepoint.full_name()));
  std::uint64_t hits = 0;
  for (const ipc::HistogramTable& table : tables) {
    if (table.keys.size() != 2 || table.keys[0].name != "common_cpu") continue;
    for (const ipc::HistogramRow& row : table.rows) {
      const bool is_cpu = event.cpu < 0 || row.keys[0].number == static_cast<std::uint32_t>(event.cpu);
      if (!is_cpu) continue;
      if (!event.target || event.target->has(static_cast<std::uint32_t>(row.keys[1].number), 0)) hits += row.hits;
    }
  }
  return hits;
}

}  // namespace landtrace::perf
