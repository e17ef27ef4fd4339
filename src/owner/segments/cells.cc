#include "segments/cells.hpp"

#include <algorithm>
#include <array>

namespace landtrace::segments {

Result<std::uint32_t> Cells::take(State state) {
  auto cell = static_cast<std::uint32_t>(cells_.size());
  if (free_.empty() && cells_.size() == plan::kMaxCells && room_maker_ != nullptr) room_maker_->give_way();
  if (!free_.empty()) {
    cell = free_.back();
    free_.pop_back();
    cells_[cell] = state;
  } else if (cells_.size() < plan::kMaxCells) {
    cells_.push_back(state);
  } else {
    return fail(ENOSPC, "the domain has as many triggers as it can");
  }
  for (const User& user : users_.all()) user.data().cells[cell] = {};
  spread(cell);
  return cell;
}

Result<std::uint32_t> Cells::take_switch(bool thrown) {
  return take({true, true, plan::throw_word(thrown, arch::read_raw_clock(clock_))});
}

Result<std::uint32_t> Cells::take_counter() { return take({false, true, 0}); }

void Cells::give_back(std::uint32_t cell) {
  cells_[cell] = {};
  free_.push_back(cell);
}

void Cells::add_writer(std::uint32_t cell, std::uint32_t event) {
  take_back_what_does_not_count(cell);
  cells_[cell].events.push_back(event);
}

void Cells::drop_writer(std::uint32_t cell, std::uint32_t event) {
  State& state = cells_[cell];
  const auto found = std::find(state.events.begin(), state.events.end(), event);
  if (found == state.events.end()) return;
  remember(cell);
  state.events.erase(found);
  take_back_what_does_not_count(cell);
}

// A throw is not to stay where it was made, and count when it may.
void Cells::take_back_what_does_not_count(std::uint32_t cell) const {
  const State& state = cells_[cell];
  if (!state.is_switch) return;
  for (const User& user : users_.all()) {
    if (own_of(user, cell) <= state.own || may_change(state, user.uid)) continue;
    // Without a partner, as in set_switch().
    __atomic_store_n(&user.data().cells[cell].own, state.own, __ATOMIC_RELEASE);
  }
}

void Cells::remember(std::uint32_t cell) {
  State& state = cells_[cell];
  if (state.is_switch) {
    state.own = newest_throw(cell);
    return;
  }
  std::size_t index = 0;
  for (const User& user : users_.all()) {
    if (const std::uint64_t count = count_by(index, user, cell); count != 0) state.remembered[index] = count;
    ++index;
  }
}

bool Cells::may_change(const State& state, std::uint32_t uid) const {
  return writers_ == nullptr || writers_->are_trusted(uid) || !state.events.empty();
}

// A throw from the future is a producer's doing that wants it to last: it counts as made now.
std::uint64_t Cells::newest_throw(std::uint32_t cell) const {
  const std::uint64_t now = arch::read_raw_clock(clock_);
  std::uint64_t newest = cells_[cell].own;
  for (const User& user : users_.all()) {
    const std::uint64_t word = own_of(user, cell);
    const std::uint64_t thrown = std::min(word, plan::throw_word(plan::is_thrown(word), now));
    if (thrown > newest && may_change(cells_[cell], user.uid)) newest = thrown;
  }
  return newest;
}

bool Cells::is_thrown(std::uint32_t cell) const { return plan::is_thrown(newest_throw(cell)); }

bool Cells::is_thrown(std::uint32_t one, std::uint32_t other) const {
  return plan::is_thrown(std::max(newest_throw(one), newest_throw(other)));
}

void Cells::set_switch(std::uint32_t cell, bool thrown) {
  cells_[cell].own = plan::throw_word(thrown, arch::read_raw_clock(clock_));
  for (const User& user : users_.all()) {
    // Without a partner: producers look at a switch, which guards nothing but itself, without an order.
    __atomic_store_n(&user.data().cells[cell].own, cells_[cell].own, __ATOMIC_RELEASE);
  }
}

std::uint64_t Cells::count_by(std::size_t index, const User& user, std::uint32_t cell) const {
  const std::uint64_t count = own_of(user, cell);
  const State& state = cells_[cell];
  if (count == 0 || may_change(state, user.uid)) return count;
  const auto remembered = state.remembered.find(index);
  return remembered == state.remembered.end() ? 0 : remembered->second;
}

std::uint64_t Cells::count_of(std::uint32_t cell) const {
  std::uint64_t count = cells_[cell].own;
  std::size_t index = 0;
  for (const User& user : users_.all()) count += count_by(index++, user, cell);
  return count;
}

void Cells::count_one_more(std::uint32_t cell) {
  ++cells_[cell].own;
  spread(cell);
}

void Cells::spread(std::uint32_t cell) const {
  if (cells_[cell].is_switch) {
    const std::uint64_t newest = newest_throw(cell);
    for (const User& user : users_.all()) plan::throw_switch(user.data().cells[cell], newest);
    return;
  }
  // Each is read once: while it counts on, what the others are told stays the sum of what was read.
  std::array<std::uint64_t, plan::kMaxUsers> counts{};
  std::uint64_t sum = cells_[cell].own;
  std::size_t index = 0;
  for (const User& user : users_.all()) {
    counts[index] = count_by(index, user, cell);
    sum += counts[index++];
  }
  index = 0;
  for (const User& user : users_.all()) {
    // Without a partner: producers add it up without an order.
    __atomic_store_n(&user.data().cells[cell].others, sum - counts[index++], __ATOMIC_RELEASE);
  }
}

void Cells::take_over(std::size_t index) {
  const User& user = users_.all()[index];
  for (std::uint32_t cell = 1; cell < cells_.size(); ++cell) {
    State& state = cells_[cell];
    if (!state.in_use) continue;
    if (state.is_switch) {
      state.own = newest_throw(cell);
    } else {
      state.own += count_by(index, user, cell);
      state.remembered.erase(index);
    }
  }
}

void Cells::spread() {
  for (std::uint32_t cell = 1; cell < cells_.size(); ++cell) {
    if (cells_[cell].in_use) spread(cell);
  }
}

}  // namespace landtrace::segments
