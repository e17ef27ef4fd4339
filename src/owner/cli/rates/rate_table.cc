#include "cli/rates/rate_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cli/quantity.hpp"
#include "cli/visible.hpp"

namespace landtrace::cli {
namespace {

constexpr std::array kBys{std::pair("events", RateView::By::kEvents), std::pair("programs", RateView::By::kPrograms)};
constexpr std::array kSorts{std::pair("rate", RateView::Sort::kRate), std::pair("count", RateView::Sort::kCount),
                            std::pair("bytes", RateView::Sort::kBytes), std::pair("name", RateView::Sort::kName)};

template <typename Names, typename Value>
const char* name_of(const Names& names, Value value) {
  for (const auto& [name, each] : names) {
    if (each == value) return name;
  }
  return "";
}

bool has_word(const std::string& name, const std::string& word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(name.begin(), name.end(), word.begin(), word.end(), same) != name.end();
}

RateCounts difference(const RateCounts& now, const RateCounts& before) {
  return {now.events - before.events, now.bytes - before.bytes};
}

}  // namespace

Result<RateView::By> RateView::parse_by(const std::string& text) {
  for (const auto& [name, by] : kBys) {
    if (text == name) return by;
  }
  return fail(EINVAL, fmt::format("--by: want events or programs, not '{}'", text));
}

Result<RateView::Sort> RateView::parse_sort(const std::string& text) {
  for (const auto& [name, sort] : kSorts) {
    if (text == name) return sort;
  }
  return fail(EINVAL, fmt::format("--sort: want rate, count, bytes or name, not '{}'", text));
}

const char* RateView::by_text() const { return name_of(kBys, by); }
const char* RateView::sort_text() const { return name_of(kSorts, sort); }

RateTable::RateTable(const RateTotals& before, const RateTotals& now, std::uint64_t ns, const RateView& view)
    : view_(view), ns_(std::max<std::uint64_t>(ns, 1)) {
  const bool by_event = view.by == RateView::By::kEvents;
  const auto& then = by_event ? before.by_event : before.by_program;
  for (const auto& [name, all] : by_event ? now.by_event : now.by_program) {
    if (!has_word(name, view.match)) continue;
    const auto earlier = then.find(name);
    rows_.push_back({name, difference(all, earlier == then.end() ? RateCounts() : earlier->second), all});
  }
  sort_rows();
  if (view.rows != 0 && rows_.size() > view.rows) {
    hidden_ = rows_.size() - view.rows;
    rows_.resize(view.rows);
  }
  since_ = difference(now.all, before.all);
  lost_ = now.lost;
  lost_since_ = now.lost - before.lost;
}

// What is equal stays in the order of names.
void RateTable::sort_rows() {
  const auto key = [this](const Row& row) {
    switch (view_.sort) {
      case RateView::Sort::kRate:
        return std::tuple(row.since.events, row.all.events);
      case RateView::Sort::kCount:
        return std::tuple(row.all.events, row.since.events);
      case RateView::Sort::kBytes:
        return std::tuple(row.since.bytes, row.all.bytes);
      case RateView::Sort::kName:
        break;
    }
    return std::tuple(std::uint64_t{0}, std::uint64_t{0});
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) { return key(a) > key(b); });
}

std::uint64_t RateTable::rate(std::uint64_t count) const {
  return static_cast<std::uint64_t>(static_cast<double>(count) * 1e9 / static_cast<double>(ns_) + 0.5);
}

std::string RateTable::head(std::size_t columns) const {
  const std::string events = fmt::format("{} events/s", count_text(rate(since_.events)));
  const std::string bytes = fmt::format("  {}/s", size_text(rate(since_.bytes)));
  std::string lost = fmt::format("  {} lost", count_text(lost_));
  if (lost_since_ > 0) lost += fmt::format(" ({}/s)", count_text(rate(lost_since_)));
  // What is lost has to be seen.
  const bool fits = events.size() + bytes.size() + lost.size() <= columns;
  return shortened(events + (fits ? bytes : "") + lost, columns) + "\n";
}

// Where there is little room the names need it most.
std::string RateTable::text(std::size_t columns) const {
  constexpr std::size_t kAllColumns = 60, kTwoColumns = 40;
  std::string out = head(columns);
  const auto line = [&](const std::string& rate, const std::string& bytes, const std::string& count,
                        const std::string& name) {
    std::string text = fmt::format("{:>10}", rate);
    if (columns >= kTwoColumns) text += fmt::format(" {:>12}", count);
    if (columns >= kAllColumns) text += fmt::format(" {:>10}", bytes);
    out += shortened(text + "  " + name, columns) + "\n";
  };
  line("PER SECOND", "BYTES/s", "COUNT", view_.by == RateView::By::kEvents ? "EVENT" : "PROGRAM");
  for (const Row& row : rows_) {
    line(count_text(rate(row.since.events)), size_text(rate(row.since.bytes)), count_text(row.all.events),
         visible(row.name, Lines::kNone));
  }
  if (hidden_ > 0) out += shortened(fmt::format("… and {} more", hidden_), columns) + "\n";
  return out;
}

std::string RateTable::json() const {
  const std::string by = view_.by == RateView::By::kEvents ? "by_event" : "by_program";
  nlohmann::ordered_json json{{"seconds", static_cast<double>(ns_) / 1e9},
                              {"events", since_.events},
                              {"bytes", since_.bytes},
                              {"lost", lost_since_},
                              {by, nlohmann::ordered_json::array()}};
  for (const Row& row : rows_) {
    json[by].push_back(
        {{"name", row.name}, {"events", row.since.events}, {"bytes", row.since.bytes}, {"count", row.all.events}});
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace landtrace::cli
