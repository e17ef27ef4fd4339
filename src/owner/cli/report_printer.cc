#include "cli/report_printer.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/failure.hpp"
#include "cli/missing_events.hpp"
#include "cli/near_names.hpp"
#include "cli/quantity.hpp"
#include "cli/raw_clock.hpp"
#include "cli/recording_file.hpp"
#include "cli/report/block_printer.hpp"
#include "cli/visible.hpp"
#include "output/json/line.hpp"
#include "output/json/string.hpp"
#include "output/text/header.hpp"

namespace landtrace::cli {
namespace {

// On which this program may run.
std::size_t processors() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<std::size_t>(CPU_COUNT(&allowed));
  return std::max(std::thread::hardware_concurrency(), 1u);  // more than a cpu_set_t has
}

}  // namespace

ReportPrinter::ReportPrinter(const Options& options, std::string file, output::TraceDatReader reader)
    : options_(options),
      selection_(options.selection),
      file_(std::move(file)),
      reader_(std::move(reader)),
      lines_(options.style, !counts(reader_.clock())) {
  tally_.loss.set_cpus(reader_.cpus());
  if (const auto offset = reader_.wall_offset_ns()) lines_.set_wall_offset(*offset);
  if (options_.follow) reader_.follow();
}

void ReportPrinter::know_what_was_added() {
  const auto& objects = reader_.objects();
  for (; objects_known_ < objects.size(); ++objects_known_) lines_.objects().add(objects[objects_known_]);
  for (const auto& [id, type] : reader_.events()) {
    if (selection_.wants(type)) lines_.know(type);
  }
  lines_.forget_tasks();
  fits_ = selection_.know(reader_.events(), reader_.cpus());
}

Result<void> ReportPrinter::can_style() const {
  if (options_.style.zone() && !reader_.wall_offset_ns()) {
    return fail(EINVAL, file_ + " does not say what time of day it was recorded: --utc and --local cannot be had");
  }
  const std::vector<std::string> missing = lines_.fields_nobody_has();
  if (missing.empty() || options_.follow) return {};
  const std::set<std::string>& there = lines_.fields_there_are();
  return fail(EINVAL, fmt::format("--fields: no event of {} has a field '{}'{}", file_, missing.front(),
                                  did_you_mean(missing.front(), {there.begin(), there.end()})));
}

int ReportPrinter::print() {
  const bool was_unfinished = reader_.is_unfinished();
  know_what_was_added();
  // The event that it is for may come yet.
  if (!fits_ && !options_.follow) return fail_with(kFailure, sentence(fits_.error()));
  if (auto can = can_style(); !can) return fail_with(kFailure, sentence(can.error()));
  if (!options_.style.json && !options_.count_only) print_header();
  while (print_available() && options_.follow && wait_for_more()) {
  }
  if (at_end_) print_rest_lost();
  if (options_.count_only) print_counts();
  out_.flush();
  if (was_unfinished && at_end_ && !is_complete_) say_why_it_ends();
  const bool has_events = has_what_was_named(selection_.patterns(), reader_.events(), file_);
  const int status = out_.status();
  if (!fits_) return fail_with(kFailure, sentence(fits_.error()));
  return damaged_ || !has_events ? kFailure : status;
}

void ReportPrinter::say_why_it_ends() {
  complain(unfinished_text(reader_, file_) + (reader_.is_being_written() ? "; --follow goes on with it" : ""));
}

// What is being recorded comes in small pieces: one thread prints it.
bool ReportPrinter::print_available() {
  at_end_ = false;
  if (tally_.printed >= options_.limit) return false;
  const std::size_t threads = options_.threads != 0 ? options_.threads : processors();
  BlockPrinter printer({reader_, selection_, lines_, out_, tally_, file_},
                       {.limit = options_.limit,
                        .count_only = options_.count_only,
                        .is_since_another = options_.style.is_relative || options_.style.is_delta,
                        .is_delta = options_.style.is_delta,
                        .threads = options_.follow ? 1 : threads});
  const BlockPrinter::End end = printer.print();
  damaged_ = damaged_ || printer.is_damaged();
  at_end_ = end == BlockPrinter::End::kOfEvents;
  return at_end_;
}

// False at the end of the recording.
bool ReportPrinter::wait_for_more() {
  constexpr std::chrono::milliseconds kPause{20};
  if (is_complete_ || !out_.flush()) return false;
  const std::uint64_t before = tally_.printed;
  const auto growth = reader_.look_again();
  if (!growth) {
    complain(sentence(growth.error(), file_));
    damaged_ = true;
    return false;
  }
  know_what_was_added();
  tally_.loss.set_cpus(reader_.cpus());
  is_complete_ = *growth == output::TraceDatReader::Growth::kComplete;
  if (*growth == output::TraceDatReader::Growth::kLeft) return false;
  if (!print_available()) return false;
  if (tally_.printed == before) std::this_thread::sleep_for(kPause);
  return true;
}

void ReportPrinter::print_header() {
  std::uint64_t entries = 0;
  std::uint64_t written = 0;
  for (const output::CpuStats& stats : reader_.stats()) {
    entries += stats.entries;
    written += stats.entries + stats.overrun;
  }
  output::append_text_header(out_.text(), entries, written, reader_.cpus(), lines_.columns());
}

// Sorted by number, the largest first.
void ReportPrinter::print_counts() {
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  for (const auto& [id, count] : tally_.counts) {
    const auto type = reader_.events().find(id);
    lines.emplace_back(count, type == reader_.events().end() ? fmt::format("unknown type {}", id)
                                                             : type->second.system + ':' + type->second.name);
  }
  std::sort(lines.begin(), lines.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::string& out = out_.text();
  if (options_.style.json) {
    for (const auto& [count, name] : lines) {
      out += fmt::format("{{\"count\":{},\"event\":", count);
      output::json::append_string(out, name);
      out += "}\n";
    }
    if (tally_.lost > 0) output::append_json_all_lost(out, tally_.lost);
    return;
  }
  for (const auto& [count, name] : lines)
    out += fmt::format("{:>12} {}\n", count_text(count), visible(name, Lines::kNone));
  if (tally_.lost == 0) return;
  out += fmt::format("{:>12} lost\n", tally_.lost == output::kLostUnknown ? "some" : count_text(tally_.lost));
}

// Losses after the last event of a CPU are only in its counters, and so is what a recorder was about to write when it
// was killed.
void ReportPrinter::print_rest_lost() {
  if (!selection_.has_no_end()) return;
  const bool was_killed = reader_.was_left();
  for (std::uint32_t cpu = 0; cpu < reader_.stats().size(); ++cpu) {
    const std::uint64_t lost = tally_.loss.rest(cpu, reader_.stats()[cpu], was_killed);
    if (lost == 0 || !selection_.wants_cpu(cpu)) continue;
    tally_.add_lost(lost);
    if (!options_.count_only) lines_.lost(out_.text(), cpu, lost);
  }
}

}  // namespace landtrace::cli
