#include "cli/rates/rate_sink.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "arch/clock.hpp"
#include "base/fd.hpp"
#include "cli/visible.hpp"

namespace landtrace::cli {
namespace {

constexpr char kEscape = '\033';
constexpr char kBackspace = '\177';

template <typename Enum>
Enum next_of(Enum value, int count) {
  return static_cast<Enum>((static_cast<int>(value) + 1) % count);
}

}  // namespace

RateSink::RateSink(Options options, Keyboard* keyboard)
    : options_(std::move(options)), keyboard_(keyboard), before_ns_(arch::monotonic_ns()), shown_ns_(before_ns_) {
  if (keyboard_ != nullptr) screen_ = Screen::of(STDOUT_FILENO);
}

// A thread that is called otherwise now, or in another process, is counted under that.
void RateSink::task(std::int32_t tid, const output::Task& task) {
  programs_[tid] = fmt::format("{} ({})", task.comm, task.tgid != 0 ? task.tgid : static_cast<std::uint32_t>(tid));
  program_counts_.erase(tid);
}

void RateSink::event(const output::Record& record, const output::EventType& type) {
  RateCounts*& of_event = event_counts_[type.id];
  if (of_event == nullptr) of_event = &totals_.by_event[type.system + ':' + type.name];
  RateCounts*& of_program = program_counts_[record.tid];
  if (of_program == nullptr) {
    const auto name = programs_.find(record.tid);
    of_program = &totals_.by_program[name != programs_.end() ? name->second : fmt::format("({})", record.tid)];
  }
  for (RateCounts* counts : {of_event, of_program, &totals_.all}) {
    ++counts->events;
    counts->bytes += record.payload.size();
  }
}

// Events that are known are shown before they occur.
void RateSink::settled(std::uint64_t /*horizon_ns*/) {
  const std::uint64_t now = arch::monotonic_ns();
  bool is_due = now - shown_ns_ >= options_.interval_ns;
  if (is_due) begin_interval(now);
  if (keyboard_ == nullptr) {
    if (is_due) print();
    return;
  }
  if (const std::string typed = keyboard_->read(); !typed.empty()) {
    answer(typed);
    is_due = true;
  }
  const Screen screen = Screen::of(STDOUT_FILENO);
  is_due = is_due || screen.columns != screen_.columns || screen.rows != screen_.rows;
  screen_ = screen;
  if (is_due && !failure_) draw();
}

void RateSink::begin_interval(std::uint64_t now_ns) {
  for (const auto& [id, name] : names_) {
    if (!name.starts_with("ftrace:")) totals_.by_event.try_emplace(name);
  }
  before_ = std::exchange(shown_, totals_);
  before_ns_ = std::exchange(shown_ns_, now_ns);
}

void RateSink::answer(const std::string& typed) {
  // An arrow key is no Escape: it has more behind it.
  if (typed.size() > 1 && typed.front() == kEscape) return;
  for (const char key : typed) answer_key(key);
}

void RateSink::answer_key(char key) {
  RateView& view = options_.view;
  if (is_typing_) {
    if (key == '\n' || key == '\r' || key == kEscape) {
      is_typing_ = false;
      if (key == kEscape) view.match.clear();
    } else if (key == kBackspace || key == '\b') {
      if (!view.match.empty()) view.match.pop_back();
    } else if (key >= ' ') {
      view.match += key;
    }
    return;
  }
  if (key == 'q') end_without_a_word();
  if (key == '\t' || key == 'p' || key == 'e') {
    view.by = key == 'p' ? RateView::By::kPrograms : key == 'e' ? RateView::By::kEvents : next_of(view.by, 2);
  }
  if (key == 's') view.sort = next_of(view.sort, 4);
  if (key == '/') is_typing_ = true;
  if (key == kEscape) view.match.clear();
}

std::string RateSink::help_line() const {
  const RateView& view = options_.view;
  if (is_typing_) return "/" + visible(view.match, Lines::kNone) + "_";
  const std::string match = view.match.empty() ? "" : fmt::format(" with '{}'", visible(view.match, Lines::kNone));
  return fmt::format("{} by {}{}  q quit  Tab {}  s sort  / search", view.by_text(), view.sort_text(), match,
                     view.by == RateView::By::kEvents ? "programs" : "events");
}

void RateSink::draw() {
  RateView view = options_.view;
  // Two lines of it are the table's head, one is the last, which says what is hidden.
  constexpr std::size_t kOtherLines = 4;
  if (view.rows == 0 && screen_.rows != Screen::kAny) {
    view.rows = screen_.rows > kOtherLines ? screen_.rows - kOtherLines : 1;
  }
  const RateTable table(before_, shown_, shown_ns_ - before_ns_, view);
  const std::string text = shortened(help_line(), screen_.columns) + "\n" + table.text(screen_.columns);
  if (auto drawn = keyboard_->draw(fitted(text, screen_)); !drawn) failure_ = drawn.error();
}

void RateSink::print() {
  const RateTable table(before_, shown_, shown_ns_ - before_ns_, options_.view);
  std::string text = options_.json ? table.json() : table.text(Screen::of(STDOUT_FILENO).columns);
  if (!options_.json && printed_ > 0) text.insert(0, "\n");
  if (auto written = write_all(STDOUT_FILENO, text.data(), text.size()); !written) {
    failure_ = Error(written.error().code, "standard output: " + errno_text(written.error().code));
    return;
  }
  if (++printed_ == options_.count) end_without_a_word();
}

// What came since the last table. On a terminal the counts stay when the screen goes.
Result<void> RateSink::finish() {
  if (failure_) return {};
  const bool has_more = totals_.all.events != shown_.all.events || totals_.lost != shown_.lost;
  if (keyboard_ != nullptr || (!has_more && printed_ > 0)) return {};
  begin_interval(arch::monotonic_ns());
  print();
  if (failure_ && failure_->code == EPIPE) failure_.reset();
  return {};
}

}  // namespace landtrace::cli
