#include "table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "arch/clock.hpp"

namespace landtrace::bench {
namespace {

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMet:
      return "met";
    case Verdict::kNotMet:
      return "NOT MET";
    case Verdict::kPeerAbsent:
      return "peer absent";
    case Verdict::kNotRun:
      return "not measured";
    case Verdict::kNoBar:
      return "";
  }
  return "";
}

// Three digits that mean something.
std::string number_text(double value) {
  return value >= 100  ? fmt::format("{:.0f}", value)
         : value >= 10 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.2f}", value);
}

std::string peer_text(const Row& row) {
  if (row.peer_name.empty()) return "";
  if (row.peer) return fmt::format("{} {} {}", row.peer_name, number_text(*row.peer), row.unit);
  return row.peer_name + (row.verdict == Verdict::kPeerAbsent ? ": absent" : ": -");
}

std::string bar_text(const Row& row) {
  if (!row.bar) return "";
  return fmt::format("{} {:g} {}", row.at_least ? ">=" : "<=", *row.bar, row.peer_name.empty() ? row.unit : "x");
}

nlohmann::json json_of(const Row& row) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  return {{"what", row.what},
          {"ours", number(row.ours)},
          {"unit", row.unit},
          {"peer_name", row.peer_name},
          {"peer", number(row.peer)},
          {"ratio", number(row.ratio)},
          {"bar", number(row.bar)},
          {"bar_is", row.at_least ? "at least" : "at most"},
          {"verdict", verdict_text(row.verdict)},
          {"note", row.note}};
}

}  // namespace

std::string table_text(const std::vector<Row>& rows, const Setting& setting) {
  const auto line = [](const auto&... cells) {
    std::string text = fmt::format("{:<50} {:>10}  {:<31} {:>7}  {:<10} {:<12} {}", cells...);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line("what", "ours", "peer", "ratio", "bar", "", "");
  for (const Row& row : rows) {
    text +=
        line(row.what, row.ours ? fmt::format("{} {}", number_text(*row.ours), row.unit) : "-", peer_text(row),
             row.ratio ? fmt::format("{:.2f} x", *row.ratio) : "", bar_text(row), verdict_text(row.verdict), row.note);
  }
  text += fmt::format(
      "\nMedians of {} repetitions in random order (of the owner's rows at most 3). ns are CPU time of the "
      "thread per event.\nLTTng-UST: two u64 fields, snapshot session, overwrite channel of 4 x 1 MiB per "
      "CPU; rings of ours: 4 MiB per CPU, overwrite.\n",
      setting.repetitions);
  if (arch::best_raw_clock() != arch::RawClock::kTsc) {
    text +=
        "The kernel does not trust the counter here: all rows are of the portable writer, whose clock is "
        "clock_gettime().\n";
  }
  return text;
}

std::string json_text(const std::vector<Row>& rows, const Results& results) {
  nlohmann::json all{
      {"rows", nlohmann::json::array()}, {"samples", results.samples()}, {"failures", results.failures()}};
  for (const Row& row : rows) all["rows"].push_back(json_of(row));
  return all.dump(2) + "\n";
}

}  // namespace landtrace::bench
