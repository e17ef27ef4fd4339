#include "reader/file_source.hpp"

#include <utility>

namespace landtrace::reader {

FileSource::FileSource(output::TraceDatReader reader, Choice choice)
    : reader_(std::move(reader)), choice_(std::move(choice)) {
  loss_.set_cpus(reader_.cpus());
}

Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path, Choice choice) {
  LT_TRY(output::TraceDatReader reader, output::TraceDatReader::open(path));
  std::unique_ptr<FileSource> source(new FileSource(std::move(reader), std::move(choice)));
  ExpressionFilter& filter = source->choice_.filter;
  for (const auto& [id, type] : source->reader_.events()) {
    if (source->choice_.events.wants(type)) filter.know(type, source->reader_.cpus());
  }
  if (auto mistake = filter.mistake("filter")) return tl::unexpected<Error>(*std::move(mistake));
  return source;
}

// Of an event that nothing describes no name is known.
bool FileSource::wants(const Event& event) const {
  if (event.type == nullptr) return choice_.events.wants_all() && choice_.filter.is_empty();
  return choice_.events.wants(*event.type) && choice_.filter.passes(event.record, event.task);
}

void FileSource::add_lost(std::uint64_t count) {
  lost_ = lost_ > output::kLostUnknown - count ? output::kLostUnknown : lost_ + count;
}

Result<Source::Answer> FileSource::next(Event& event) {
  while (true) {
    LT_TRY(const auto item, reader_.next());
    if (!item) {
      end();
      return Answer::kEnd;
    }
    loss_.add(item->record.cpu, item->lost);
    add_lost(item->lost);
    const auto task = reader_.tasks().find(item->record.tid);
    const auto type = reader_.events().find(item->record.event_id);
    event = {.lost = item->lost,
             .record = item->record,
             .task = task == reader_.tasks().end() ? nullptr : &task->second,
             .type = type == reader_.events().end() ? nullptr : &type->second};
    if (wants(event)) return Answer::kEvent;
  }
}

// What was lost behind a CPU's last event is only in its counters.
void FileSource::end() {
  if (std::exchange(has_ended_, true)) return;
  const bool was_killed = reader_.is_unfinished() && !reader_.is_being_written();
  for (std::uint32_t cpu = 0; cpu < reader_.stats().size(); ++cpu) {
    add_lost(loss_.rest(cpu, reader_.stats()[cpu], was_killed));
  }
}

std::vector<output::MappedObject> FileSource::take_objects() {
  const auto& all = reader_.objects();
  return {all.begin() + static_cast<std::ptrdiff_t>(std::exchange(objects_taken_, all.size())), all.end()};
}

}  // namespace landtrace::reader
