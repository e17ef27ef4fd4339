#include "reader/file_source.hpp"

#include <algorithm>
#include <utility>

#include "arch/clock.hpp"

namespace landtrace::reader {
namespace {

// Each look reads all but the events again.
constexpr std::uint64_t kLook_ns = 20'000'000;
// How many events that were not chosen are passed over before who waits may look at the time: below a millisecond.
constexpr int kMostPassedOver = 4096;

}  // namespace

FileSource::FileSource(output::TraceDatReader reader, Choice choice)
    : reader_(std::move(reader)), choice_(std::move(choice)) {
  loss_.set_cpus(reader_.cpus());
}

Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path, Choice choice) {
  LT_TRY(output::TraceDatReader reader, output::TraceDatReader::open(path));
  std::unique_ptr<FileSource> source(new FileSource(std::move(reader), std::move(choice)));
  source->know_types();
  if (auto mistake = source->choice_.filter.mistake("filter")) return tl::unexpected<Error>(*std::move(mistake));
  return source;
}

Result<std::unique_ptr<FileSource>> FileSource::follow(const std::string& path, Choice choice) {
  LT_CHECK(choice.filter.check("filter"));
  LT_TRY(output::TraceDatReader reader, output::TraceDatReader::open(path));
  std::unique_ptr<FileSource> source(new FileSource(std::move(reader), std::move(choice)));
  source->know_types();
  source->reader_.follow();
  source->grows_ = true;
  return source;
}

void FileSource::know_types() {
  for (const auto& [id, type] : reader_.events()) {
    if (choice_.events.wants(type)) choice_.filter.know(type, reader_.cpus());
  }
}

// Of an event that nothing describes no name is known.
bool FileSource::wants(const Event& event) const {
  if (event.type == nullptr) return choice_.events.wants_all() && choice_.filter.is_empty();
  return choice_.events.wants(*event.type) && choice_.filter.passes(event.record, event.task);
}

void FileSource::add_lost(std::uint64_t count) { lost_ = output::lost_together(lost_, count); }

Result<Source::Answer> FileSource::next(Event& event) {
  for (int passed_over = 0; passed_over < kMostPassedOver; ++passed_over) {
    LT_TRY(const auto item, reader_.next());
    if (!item) return grows_ ? look_again() : end();
    loss_.add(item->record.cpu, item->lost);
    add_lost(item->lost);
    if (item->record.cpu >= lost_before_.size()) lost_before_.resize(item->record.cpu + 1u);
    std::uint64_t& lost_before = lost_before_[item->record.cpu];
    lost_before = output::lost_together(lost_before, item->lost);
    const auto task = reader_.tasks().find(item->record.tid);
    const auto type = reader_.events().find(item->record.event_id);
    event = {.lost = lost_before,
             .record = item->record,
             .task = task == reader_.tasks().end() ? nullptr : &task->second,
             .type = type == reader_.events().end() ? nullptr : &type->second};
    if (!wants(event)) continue;
    lost_before = 0;
    return Answer::kEvent;
  }
  return grows_ ? Answer::kAgain : Answer::kSearching;
}

Result<Source::Answer> FileSource::look_again() {
  const std::uint64_t now_ns = arch::monotonic_ns();
  if (now_ns < next_look_ns_) return Answer::kNothingYet;
  next_look_ns_ = now_ns + kLook_ns;
  grows_ = false;  // if it cannot be read any more
  LT_TRY(const auto growth, reader_.look_again());
  grows_ = growth == output::TraceDatReader::Growth::kGrows;
  know_types();
  loss_.set_cpus(reader_.cpus());
  return Answer::kAgain;
}

// What was lost behind a CPU's last event is only in its counters.
Result<Source::Answer> FileSource::end() {
  if (std::exchange(has_ended_, true)) return Answer::kEnd;
  const bool was_killed = reader_.was_left();
  for (std::uint32_t cpu = 0; cpu < reader_.stats().size(); ++cpu) {
    add_lost(loss_.rest(cpu, reader_.stats()[cpu], was_killed));
  }
  if (auto mistake = choice_.filter.mistake("filter")) return tl::unexpected<Error>(*std::move(mistake));
  return Answer::kEnd;
}

std::vector<output::MappedObject> FileSource::take_objects() {
  const auto& all = reader_.objects();
  const std::size_t first = std::min(std::exchange(objects_taken_, all.size()), all.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

}  // namespace landtrace::reader
