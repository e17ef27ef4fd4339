#include "cli/report/block_printer.hpp"

#include <algorithm>
#include <system_error>

#include "cli/failure.hpp"

namespace landtrace::cli {
namespace {

// Their text is some half of a megabyte: what threads tell each other for each block costs nothing beside that.
constexpr std::size_t kEvents = 4096;
// A payload of a few bytes may name itself many times.
constexpr std::size_t kMostText = 4 * 1024 * 1024;

std::vector<const output::EventType*> by_id(const std::map<std::uint16_t, output::EventType>& types) {
  std::vector<const output::EventType*> all;
  if (!types.empty()) all.resize(std::size_t{types.rbegin()->first} + 1);
  for (const auto& [id, type] : types) all[id] = &type;
  return all;
}

}  // namespace

void BlockPrinter::Tasks::look_up(Known& known, std::int32_t tid) const {
  const auto found = all_.find(tid);
  known = {.tid = tid, .is_there = true, .task = found == all_.end() ? nullptr : &found->second};
}

BlockPrinter::Worker::Worker(LineWriter& line_writer, const output::TraceDatReader& reader)
    : lines(line_writer), tasks(reader.tasks()) {
  tally.loss.set_cpus(reader.cpus());
}

BlockPrinter::BlockPrinter(Parts parts, Options options)
    : parts_(parts),
      options_(options),
      selection_(parts.selection),
      is_in_order_(parts.selection.goes_by_order() || options.is_since_another || options.limit != ~0ull),
      types_(by_id(parts.reader.events())),
      turns_(options.threads),
      tasks_(parts.reader.tasks()) {}

BlockPrinter::End BlockPrinter::print() {
  Worker worker(parts_.lines, parts_.reader);
  work(worker, true);
  for (Helper& helper : helpers_) helper.thread.join();
  parts_.tally.add(worker.tally);
  for (const Helper& helper : helpers_) parts_.tally.add(helper.worker.tally);
  return end_;
}

void BlockPrinter::work(Worker& worker, bool begins_others) {
  while (take(worker)) {
    if (begins_others && worker.can_be_helped) begin_another();
    if (make_lines(worker) && hand_on(worker)) continue;
    return stop();
  }
}

// Reads the next portion. False: there is none.
bool BlockPrinter::take(Worker& worker) {
  std::unique_lock lock(source_, std::try_to_lock);
  const bool has_waited = !lock.owns_lock();
  if (has_waited) lock.lock();
  if (is_over_) return false;
  Portion& portion = worker.portion;
  portion.number = taken_++;
  const auto has_more = parts_.reader.next(portion.block, kEvents);
  portion.error.reset();
  if (!has_more) portion.error = has_more.error();
  is_over_ = has_more && !*has_more;
  if (is_in_order_) choose_in_order(portion);
  worker.can_be_helped = !has_waited && !is_over_;
  return true;
}

// What is behind the limit is not looked at: no damage either.
void BlockPrinter::choose_in_order(Portion& portion) {
  portion.chosen.clear();
  portion.origin_ns = origin_ns_;
  const auto take = [&](const Chosen& chosen) {
    portion.chosen.push_back(chosen);
    if (chosen.is_wanted && (options_.is_delta || !origin_ns_)) origin_ns_ = chosen.item->record.time_ns;
    return true;
  };
  if (choose(portion.block.items(), tasks_, parts_.tally, take)) return;
  portion.error.reset();
  is_over_ = true;
  end_ = End::kOfLimit;
}

// False: the limit is reached, or `take` wants no more.
template <typename Take>
bool BlockPrinter::choose(const std::vector<Item>& items, Tasks& tasks, Tally& tally, const Take& take) {
  for (const Item& item : items) {
    const output::Record& record = item.record;
    tally.loss.add(record.cpu, item.lost);
    if (!selection_.wants_time(record.time_ns)) continue;
    const bool is_lost_wanted = item.lost > 0 && selection_.wants_cpu(record.cpu);
    if (is_lost_wanted) tally.add_lost(item.lost);
    const output::Task* const who = tasks.find(record.tid);
    const bool is_wanted = is_in_order_ ? parts_.selection.wants(record, who) : selection_.wants_itself(record, who);
    if (is_wanted) ++tally.printed;
    if (is_wanted && options_.count_only) ++tally.counts[record.event_id];
    if ((is_wanted || is_lost_wanted) && !take({&item, who, is_lost_wanted, is_wanted})) return false;
    if (tally.printed == options_.limit) return false;
  }
  return true;
}

// False: nobody reads on.
bool BlockPrinter::make_lines(Worker& worker) {
  const Portion& portion = worker.portion;
  worker.text.clear();
  worker.has_turn = false;
  if (options_.count_only) {
    return is_in_order_ ||
           choose(portion.block.items(), worker.tasks, worker.tally, [](const Chosen&) { return true; });
  }
  if (portion.origin_ns && options_.is_since_another) worker.lines.set_origin(*portion.origin_ns);
  const auto print = [&](const Chosen& chosen) { return print_chosen(worker, chosen); };
  if (is_in_order_) return std::all_of(portion.chosen.begin(), portion.chosen.end(), print);
  return choose(portion.block.items(), worker.tasks, worker.tally, print);
}

bool BlockPrinter::print_chosen(Worker& worker, const Chosen& chosen) {
  const output::Record& record = chosen.item->record;
  if (chosen.is_lost_wanted) worker.lines.lost(worker.text, record.cpu, chosen.item->lost);
  if (chosen.is_wanted) {
    const output::EventType* const type = record.event_id < types_.size() ? types_[record.event_id] : nullptr;
    worker.lines.event(worker.text, record, chosen.who, type);
  }
  return worker.text.size() < kMostText || write(worker);
}

// From the first call for a portion on it is its turn.
bool BlockPrinter::write(Worker& worker) {
  if (!worker.has_turn) worker.has_turn = turns_.wait_for(worker.portion.number);
  const bool is_written = worker.has_turn && parts_.out.write(worker.text.text());
  worker.text.clear();
  return is_written;
}

bool BlockPrinter::hand_on(Worker& worker) {
  if (!write(worker)) return false;
  if (worker.portion.error) {
    if (!parts_.out.flush()) return false;
    complain(sentence(*worker.portion.error, parts_.file));
    is_damaged_ = true;
  }
  turns_.pass();
  return true;
}

void BlockPrinter::begin_another() {
  if (helpers_.size() + 1 >= options_.threads) return;
  Helper& helper = helpers_.emplace_back(parts_.lines, parts_.reader);
  try {
    helper.thread = std::thread([this, &helper] { work(helper.worker, false); });
  } catch (const std::system_error&) {  // there may be no more threads: those that there are do it
    helpers_.pop_back();
    options_.threads = helpers_.size() + 1;
  }
}

void BlockPrinter::stop() {
  turns_.stop();
  const std::lock_guard lock(source_);
  is_over_ = true;
  end_ = End::kOfReaders;
}

}  // namespace landtrace::cli
