#include "cli/export/recording_export.hpp"

#include <fmt/format.h>

#include "cli/failure.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::cli {

bool has_stacks(const output::TraceDatReader& reader) {
  const auto& events = reader.events();
  return std::any_of(events.begin(), events.end(), [](const auto& type) { return output::is_user_stack(type.second); });
}

RecordingExport::RecordingExport(Options& options, const std::string& file, output::TraceDatReader& reader,
                                 output::Exporter& exporter)
    : options_(options),
      file_(file),
      reader_(reader),
      exporter_(exporter),
      joiner_(
          {[this](const output::Record& record, const output::UserStack* stack) { hand_over(record, stack); },
           [this](std::uint32_t cpu, std::uint64_t count, std::uint64_t time) { exporter_.lost(cpu, count, time); }}),
      joins_(has_stacks(reader)) {
  loss_.set_cpus(reader.cpus());
  for (const auto& [id, type] : reader.events()) {
    stacks_[id] = output::is_user_stack(type);
    if (options.selection.wants(type)) exporter.type(type);
  }
  for (const auto& [tid, task] : reader.tasks()) exporter.task(tid, task);
  for (const output::MappedObject& object : reader.objects()) exporter.object(object);
}

void RecordingExport::hand_over(const output::Record& record, const output::UserStack* stack) {
  if (events_ >= options_.limit || (wants_stacks_ && stack == nullptr)) return;
  const auto task = reader_.tasks().find(record.tid);
  const output::Task* const who = task == reader_.tasks().end() ? nullptr : &task->second;
  if (!options_.selection.wants(record, who)) return;
  const auto type = reader_.events().find(record.event_id);
  if (type == reader_.events().end()) {
    ++unknown_;
    return;
  }
  exporter_.event({record, type->second, who, stack});
  ++events_;
}

void RecordingExport::take(const output::TraceDatReader::Item& item) {
  const auto& [lost, record] = item;
  loss_.add(record.cpu, lost);
  if (!options_.selection.wants_time(record.time_ns)) return;
  last_ns_ = record.time_ns;
  const bool tells_lost = lost > 0 && options_.selection.wants_cpu(record.cpu);
  if (!joins_) {
    if (tells_lost) exporter_.lost(record.cpu, lost, record.time_ns);
    return hand_over(record, nullptr);
  }
  if (tells_lost) joiner_.add_lost(record.cpu, lost, record.time_ns);
  joiner_.add(record, stacks_[record.event_id]);
}

void RecordingExport::hand_over_rest_lost() {
  if (!options_.selection.has_no_end() || events_ >= options_.limit) return;
  const bool was_killed = reader_.was_left();
  for (std::uint32_t cpu = 0; cpu < reader_.stats().size(); ++cpu) {
    const std::uint64_t lost = loss_.rest(cpu, reader_.stats()[cpu], was_killed);
    if (lost > 0 && options_.selection.wants_cpu(cpu)) exporter_.lost(cpu, lost, last_ns_);
  }
}

bool RecordingExport::run(const std::function<bool()>& goes_on) {
  std::vector<std::string> damages;
  std::uint64_t read = 0;
  while (events_ < options_.limit && goes_on()) {
    const auto item = reader_.next();
    if (!item) {
      complain(sentence(item.error(), file_));
      damages.push_back(sentence(item.error()));
      continue;
    }
    if (!item->has_value()) break;
    ++read;
    take(**item);
  }
  joiner_.end();
  hand_over_rest_lost();
  const bool is_sound = damages.empty();
  if (unknown_ > 0) {
    damages.push_back(fmt::format("{} events are of types that it does not describe", unknown_));
    complain(fmt::format("{}: {}", file_, damages.back()));
  }
  // Each CPU may have its own.
  const std::string others = damages.size() > 2 ? fmt::format("; and {} more", damages.size() - 2) : "";
  if (damages.size() > 2) damages.resize(2);
  if (!damages.empty()) exporter_.damaged(fmt::format("{}{}", fmt::join(damages, "; "), others), read - unknown_);
  exporter_.end();
  if (const std::string what = exporter_.complaint(); !what.empty()) complain(what);
  return is_sound;
}

}  // namespace landtrace::cli
