#include "output/trace_dat/reader.hpp"

#include <algorithm>

#include "output/trace_dat/cpu_cursor.hpp"

namespace landtrace::output {

using trace_dat::Contents;
using trace_dat::CpuCursor;
using trace_dat::InputFile;

// The cursors that stand on an event form a heap, the earliest on top. Those in `due` must move on before the
// next event is chosen: all of them at first, then the one whose event was handed out.
struct TraceDatReader::State {
  InputFile file;
  Contents contents;
  std::vector<CpuCursor> cursors;
  std::vector<std::size_t> heap;
  std::vector<std::size_t> due;

  void add_cursors();
  Result<void> advance_due();

  [[nodiscard]] bool later(std::size_t a, std::size_t b) const {
    const Record& left = cursors[a].record();
    const Record& right = cursors[b].record();
    if (left.time_ns != right.time_ns) return left.time_ns > right.time_ns;
    return left.cpu > right.cpu;
  }
  auto order() const {
    return [this](std::size_t a, std::size_t b) { return later(a, b); };
  }
};

void TraceDatReader::State::add_cursors() {
  for (const trace_dat::CpuRegion& region : contents.regions) {
    if (region.size > 0) cursors.emplace_back(file, region, contents.page_size);
  }
  // The first CPU is taken from the back first, so that errors come in the order of CPUs.
  for (std::size_t i = cursors.size(); i > 0; --i) due.push_back(i - 1);
}

Result<void> TraceDatReader::State::advance_due() {
  while (!due.empty()) {
    const std::size_t index = due.back();
    due.pop_back();
    LT_TRY(const bool found, cursors[index].advance());
    if (!found) continue;
    heap.push_back(index);
    std::push_heap(heap.begin(), heap.end(), order());
  }
  return {};
}

TraceDatReader::TraceDatReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceDatReader::TraceDatReader(TraceDatReader&&) noexcept = default;
TraceDatReader& TraceDatReader::operator=(TraceDatReader&&) noexcept = default;
TraceDatReader::~TraceDatReader() = default;

Result<TraceDatReader> TraceDatReader::open(const std::string& path) {
  auto state = std::make_unique<State>();
  LT_TRY(state->file, InputFile::open(path));
  LT_TRY(state->contents, trace_dat::read_contents(state->file));
  state->add_cursors();
  return TraceDatReader(std::move(state));
}

const std::map<std::uint16_t, EventType>& TraceDatReader::events() const { return state_->contents.events; }
const std::unordered_map<std::int32_t, Task>& TraceDatReader::tasks() const { return state_->contents.tasks; }
const std::vector<MappedObject>& TraceDatReader::objects() const { return state_->contents.objects; }
std::uint32_t TraceDatReader::cpus() const { return state_->contents.cpus; }
const std::string& TraceDatReader::clock() const { return state_->contents.clock; }
const std::vector<CpuStats>& TraceDatReader::stats() const { return state_->contents.stats; }

Result<std::optional<TraceDatReader::Item>> TraceDatReader::next() {
  LT_CHECK(state_->advance_due());
  std::vector<std::size_t>& heap = state_->heap;
  if (heap.empty()) return std::nullopt;
  std::pop_heap(heap.begin(), heap.end(), state_->order());
  const std::size_t index = heap.back();
  heap.pop_back();
  state_->due.push_back(index);
  const CpuCursor& cursor = state_->cursors[index];
  return Item{cursor.lost(), cursor.record()};
}

}  // namespace landtrace::output
