#include "output/trace_dat/reader.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "output/trace_dat/cpu_cursor.hpp"
#include "output/trace_dat/file_ops.hpp"
#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/names.hpp"

namespace landtrace::output {

using trace_dat::Contents;
using trace_dat::CpuCursor;
using trace_dat::InputFile;
using trace_dat::PagePool;

namespace {

bool is_same_file(int a, int b) {
  struct stat one {};
  struct stat other {};
  return ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

}  // namespace

// The cursors that stand on an event form a heap, the earliest on top. Those in `due` must move on before the
// next event is chosen: all of them at first, then the one whose event was handed out. Those that are `at_end` have
// no more, for now.
struct TraceDatReader::State {
  std::string path;
  InputFile file;
  Contents contents;
  std::vector<CpuCursor> cursors;
  std::vector<std::uint32_t> cpus;  // of the cursors
  std::vector<std::size_t> heap;
  std::vector<std::size_t> due;
  std::vector<std::size_t> at_end;
  std::uint64_t horizon_ns = ~0ull;
  // What was seen when a page was missing. One that was never written is missing, too, of each CPU perhaps: nothing is
  // opened anew for it.
  enum class Moves { kNone, kBegun, kFinished } moves = Moves::kNone;
  bool was_left = false;  // when it was opened: whoever completes it since changes nothing of what is read
  std::unique_ptr<PagePool> pool;
  std::vector<const std::byte*> kept;  // by cursor: the page that the block which is being filled has already

  static Result<std::unique_ptr<State>> open(const std::string& path);
  Result<void> read();
  void add_cursors();
  Result<void> advance_due();
  Result<bool> fill(Block& block, std::size_t most);
  void take_run(Block& block, std::size_t most);
  void keep_page(Block& block, std::size_t index);
  [[nodiscard]] bool has_next() const { return !heap.empty() && cursors[heap.front()].record().time_ns <= horizon_ns; }
  std::size_t pop();
  Result<Growth> look_again();
  void take_growth(State grown);
  void find_moved();
  [[nodiscard]] bool is_same(const State& now) const;
  void follow_to_place();
  [[nodiscard]] Result<std::unique_ptr<State>> open_again() const;
  [[nodiscard]] const trace_dat::CpuRegion* region_of(std::uint32_t cpu) const {
    const auto found = std::find_if(contents.regions.begin(), contents.regions.end(),
                                    [&](const trace_dat::CpuRegion& region) { return region.cpu == cpu; });
    return found == contents.regions.end() ? nullptr : &*found;
  }

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

std::size_t TraceDatReader::State::pop() {
  std::pop_heap(heap.begin(), heap.end(), order());
  const std::size_t index = heap.back();
  heap.pop_back();
  return index;
}

Result<std::unique_ptr<TraceDatReader::State>> TraceDatReader::State::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = trace_dat::follow_links(path, false);
  // A recording may become finished while its parts are opened.
  for (int i = 0; i < trace_dat::kMostTries; ++i) {
    LT_TRY(state->file, InputFile::open(state->path));
    trace_dat::wait_for_beginning(state->file);
    // Asked before: a recorder that ends meanwhile takes the name away.
    const bool has_writer = trace_dat::has_writer(state->file);
    const auto read = state->read();
    const bool is_settled = !trace_dat::is_journal(state->file) || trace_dat::is_at(state->file.fd(), state->path);
    if (!is_settled) continue;
    LT_CHECK(read);
    state->was_left = state->contents.is_unfinished && !has_writer;
    break;
  }
  return state;
}

Result<void> TraceDatReader::State::read() {
  LT_CHECK(trace_dat::refuse_other_version(file, path));
  LT_TRY(contents,
         trace_dat::is_journal(file) ? trace_dat::read_unfinished(file, path) : trace_dat::read_contents(file));
  pool = std::make_unique<PagePool>(contents.page_size);
  return {};
}

// Those that have none yet.
void TraceDatReader::State::add_cursors() {
  const std::size_t before = cursors.size();
  for (const trace_dat::CpuRegion& region : contents.regions) {
    if (region.size == 0 || std::find(cpus.begin(), cpus.end(), region.cpu) != cpus.end()) continue;
    cursors.emplace_back(file, region, *pool);
    cpus.push_back(region.cpu);
  }
  // The first CPU is taken from the back first, so that errors come in the order of CPUs.
  for (std::size_t i = cursors.size(); i > before; --i) due.push_back(i - 1);
}

Result<void> TraceDatReader::State::advance_due() {
  while (!due.empty()) {
    const std::size_t index = due.back();
    due.pop_back();
    auto found = cursors[index].advance();
    if (found && !*found && cursors[index].lacks_page()) {
      find_moved();
      found = cursors[index].go_on();
    }
    if (!found || !*found) at_end.push_back(index);
    if (!found) return tl::unexpected<Error>(std::move(found).error());
    if (!*found) continue;
    heap.push_back(index);
    std::push_heap(heap.begin(), heap.end(), order());
  }
  return {};
}

// Whether it is this recording. A journal is one file until it is finished; what it has become then begins as it did,
// and has the page that each cursor stands in. Two recordings may have begun at the same offset, to the nanosecond.
bool TraceDatReader::State::is_same(const State& now) const {
  if (now.contents.is_unfinished) return is_same_file(now.file.fd(), file.fd());
  if (now.contents.wall_offset_ns != contents.wall_offset_ns || now.contents.page_size != contents.page_size) {
    return false;
  }
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    const auto* const region = now.region_of(cpus[i]);
    if (region != nullptr && !cursors[i].is_in(now.file, *region)) return false;
  }
  return true;
}

// A journal that waits at PATH.new is at PATH from its first event on.
void TraceDatReader::State::follow_to_place() {
  const std::string suffix = trace_dat::new_path("");
  if (!path.ends_with(suffix) || trace_dat::is_at(file.fd(), path)) return;
  const std::string place = path.substr(0, path.size() - suffix.size());
  const auto now = open(place);
  const auto older = open(trace_dat::old_path(place));
  if ((now && is_same(**now)) || (older && is_same(**older))) path = place;
}

// As it is now. Another recording may have its name, or a file of others: then it was finished, and is the older one.
Result<std::unique_ptr<TraceDatReader::State>> TraceDatReader::State::open_again() const {
  auto now = open(path);
  if (now && is_same(**now)) return now;
  const std::string older_path = trace_dat::old_path(path);
  auto older = open(older_path);
  if (older && is_same(**older)) return older;
  if (!now) return now;
  return fail(ESTALE, fmt::format("{} is another recording by now, and {} is not the one that was being read either; "
                                  "the rest of that is not read",
                                  path, older_path));
}

// Events are given in order, so the page is looked for at once, and not when the other CPUs have come to their end.
// What else has come since is left to look_again().
void TraceDatReader::State::find_moved() {
  follow_to_place();
  // In this order: a recording is finished by giving its name away.
  const bool has_begun = trace_dat::has_begun(path);
  const bool has_name = trace_dat::is_at(file.fd(), path);
  const Moves seen = !has_name ? Moves::kFinished : has_begun ? Moves::kBegun : Moves::kNone;
  if (seen == moves) return;
  const auto now = open_again();
  if (!now) return;
  moves = seen;
  std::shared_ptr<InputFile> finished;
  if (!(*now)->contents.is_unfinished) finished = std::make_shared<InputFile>(std::move((*now)->file));
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    if (const auto* const region = (*now)->region_of(cpus[i])) cursors[i].find_moved(*region, finished);
  }
}

// Whether it is still recorded is asked first: what is read after that is all of it, if it is not.
Result<TraceDatReader::Growth> TraceDatReader::State::look_again() {
  if (!contents.is_unfinished) return Growth::kComplete;
  const bool grows = trace_dat::has_writer(file);
  follow_to_place();
  LT_TRY(const std::unique_ptr<State> grown, open_again());
  if (!grown->contents.is_unfinished) {
    horizon_ns = ~0ull;
    take_growth(std::move(*grown));
    return Growth::kComplete;
  }
  std::swap(contents.events, grown->contents.events);
  std::swap(contents.tasks, grown->contents.tasks);
  std::swap(contents.objects, grown->contents.objects);
  std::swap(contents.stats, grown->contents.stats);
  std::swap(contents.regions, grown->contents.regions);
  contents.cpus = grown->contents.cpus;
  horizon_ns = grows ? grown->contents.horizon_ns : ~0ull;
  for (const std::size_t index : std::exchange(at_end, {})) {
    const auto more = cursors[index].look_again(region_of(cpus[index]), false);
    (more && *more ? due : at_end).push_back(index);
  }
  // Those that have something yet may have what came since behind it: the horizon is true of all that is there now.
  for (const std::size_t index : heap) std::ignore = cursors[index].look_again(region_of(cpus[index]), true);
  add_cursors();
  return grows || !heap.empty() || !due.empty() ? Growth::kGrows : Growth::kLeft;
}

// Of what was kept back until now nothing is given before that which came meanwhile and is older.
void TraceDatReader::State::take_growth(State grown) {
  file = std::move(grown.file);
  contents = std::move(grown.contents);
  for (std::size_t i = 0; i < cursors.size(); ++i) {
    const bool is_held = std::find(heap.begin(), heap.end(), i) != heap.end();
    if (const trace_dat::CpuRegion* const region = region_of(cpus[i])) cursors[i].move_to(file, *region, is_held);
  }
  due = std::exchange(at_end, {});
  add_cursors();
}

TraceDatReader::TraceDatReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceDatReader::TraceDatReader(TraceDatReader&&) noexcept = default;
TraceDatReader& TraceDatReader::operator=(TraceDatReader&&) noexcept = default;
TraceDatReader::~TraceDatReader() = default;

Result<TraceDatReader> TraceDatReader::open(const std::string& path) {
  LT_TRY(std::unique_ptr<State> state, State::open(path));
  state->add_cursors();
  return TraceDatReader(std::move(state));
}

bool TraceDatReader::is_unfinished() const { return state_->contents.is_unfinished; }
std::optional<std::uint64_t> TraceDatReader::damaged_at() const { return state_->contents.damaged_at; }

bool TraceDatReader::is_being_written() const {
  return is_unfinished() && !state_->was_left && trace_dat::has_writer(state_->file);
}

// One that has been finished meanwhile has lost its name to what it became before its recorder let the lock go.
bool TraceDatReader::was_left() const {
  if (!is_unfinished() || state_->was_left) return is_unfinished();
  return !is_being_written() && trace_dat::is_at(state_->file.fd(), state_->path);
}

void TraceDatReader::follow() {
  if (state_->contents.is_unfinished) state_->horizon_ns = state_->contents.horizon_ns;
}

Result<TraceDatReader::Growth> TraceDatReader::look_again() { return state_->look_again(); }

const std::map<std::uint16_t, EventType>& TraceDatReader::events() const { return state_->contents.events; }
const std::unordered_map<std::int32_t, Task>& TraceDatReader::tasks() const { return state_->contents.tasks; }
const std::vector<MappedObject>& TraceDatReader::objects() const { return state_->contents.objects; }
std::uint32_t TraceDatReader::cpus() const { return state_->contents.cpus; }
const std::string& TraceDatReader::clock() const { return state_->contents.clock; }
const std::vector<CpuStats>& TraceDatReader::stats() const { return state_->contents.stats; }

std::optional<std::int64_t> TraceDatReader::wall_offset_ns() const { return state_->contents.wall_offset_ns; }

Result<std::optional<TraceDatReader::Item>> TraceDatReader::next() {
  LT_CHECK(state_->advance_due());
  if (!state_->has_next()) return std::nullopt;
  const std::size_t index = state_->pop();
  state_->due.push_back(index);
  const CpuCursor& cursor = state_->cursors[index];
  return Item{cursor.lost(), cursor.record()};
}

Result<bool> TraceDatReader::next(Block& block, std::size_t most) {
  block.items_.clear();
  for (auto& page : block.pages_) state_->pool->give_back(std::move(page));
  block.pages_.clear();
  return state_->fill(block, most);
}

Result<bool> TraceDatReader::State::fill(Block& block, std::size_t most) {
  kept.assign(cursors.size(), nullptr);
  while (block.items_.size() < most) {
    LT_CHECK(advance_due());
    if (!has_next()) return false;
    take_run(block, most);
  }
  return true;
}

// The earliest events as long as they are of one CPU, as they often are: the heap is left alone.
void TraceDatReader::State::take_run(Block& block, std::size_t most) {
  const std::size_t index = pop();
  CpuCursor& cursor = cursors[index];
  keep_page(block, index);
  do {
    block.items_.push_back({cursor.lost(), cursor.record()});
    if (block.items_.size() == most || !cursor.advance_in_page()) return due.push_back(index);
  } while (cursor.record().time_ns <= horizon_ns && (heap.empty() || !later(index, heap.front())));
  heap.push_back(index);
  std::push_heap(heap.begin(), heap.end(), order());
}

void TraceDatReader::State::keep_page(Block& block, std::size_t index) {
  const auto& page = cursors[index].page();
  if (kept[index] == page.get()) return;
  kept[index] = page.get();
  block.pages_.push_back(page);
}

}  // namespace landtrace::output
