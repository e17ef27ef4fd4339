#include "buffer/contents.hpp"

#include <utility>

#include "buffer/plausible.hpp"
#include "ring/writer.hpp"

namespace landtrace::buffer {
namespace {

// Counts come from memory that producers write, so the larger one may not be the later one.
constexpr std::uint64_t difference(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

ring::Mark later(ring::Mark a, ring::Mark b) { return a.position >= b.position ? a : b; }

}  // namespace

struct Contents::State {
  // Of the ring.
  ring::Mark end;
  // Where a reading begins.
  Place from;
  // Without Ring::before.
  Counts counts{};
};

Reading::Reading(std::shared_ptr<Contents> contents, std::uint32_t cpu) : contents_(std::move(contents)) {
  contents_->add_users();
  for (std::size_t i = 0; i < contents_->rings_.size(); ++i) {
    if (cpu != kAllCpus && contents_->cpu_of(i) != cpu) continue;
    const Contents::State state = contents_->state_of(i);
    if (state.counts.entries == 0) continue;
    cursors_.emplace_back(contents_->memory_of(i), contents_->place_.geometry,
                          static_cast<std::uint32_t>(i / contents_->rings_per_set_), contents_->raw_clock(),
                          contents_->started_,
                          RingCursor::Begin{state.from, later(state.end, state.from.live), contents_->discarded(i),
                                            contents_->rings_[i].frozen});
    merge.add({&cursors_.back(), contents_->cpu_of(i)});
  }
  merge.begin(~0ull);
}

Contents::Contents(const domain::Users& users, domain::Instances& instances, domain::Grace& grace,
                   const domain::RingPlace& place, bool owned)
    : users_(users),
      instances_(instances),
      grace_(grace),
      place_(place),
      owned_(owned),
      cpus_(instances.first_claimed()),
      rings_per_set_(instances.rings_per_set()) {
  add_users();
}

Contents::~Contents() {
  if (!owned_) return;
  grace_.after_readers([&instances = instances_, place = place_] { instances.free_place(place); },
                       domain::Holders::of_own_memory());
}

// A user who comes later has rings in the same place; the ones of users who were there keep their index.
void Contents::add_users() { rings_.resize(users_.all().size() * rings_per_set_); }

std::uint32_t Contents::cpu_of(std::size_t index) const {
  const auto ring = static_cast<std::uint32_t>(index % rings_per_set_);
  return ring::cpu_of_ring(ring, cpus_);
}

const std::byte* Contents::memory_of(std::size_t index) const {
  const domain::User& user = users_.all()[index / rings_per_set_];
  return user.mapping.data() + place_.rings + index % rings_per_set_ * place_.geometry.stride();
}

ring::Discarded Contents::discarded(std::size_t index) const {
  return ring::Reader(memory_of(index), place_.geometry, {}).discarded();
}

// A ring that says what cannot be is one where nothing has happened.
bool Contents::is_plausible(ring::Mark base, ring::Mark end, std::uint64_t dropped) const {
  const std::uint64_t count = difference(end.count, base.count);
  const std::uint64_t bytes = difference(end.position, base.position);
  constexpr std::uint64_t kLongest = 2 * ring::record_length(ring::kMaxPayload);  // with the filler before it
  const std::uint64_t all = count <= ~dropped ? count + dropped : ~0ull;
  // From the beginning: a ring may have been cleared just now.
  return can_have_happened(all, instances_.began(), arch::read_raw_clock(raw_clock())) &&
         bytes >= count * arch::kRecordHeader && bytes <= (count + 1) * kLongest;
}

// The counts are made of three places in the ring: where it was cleared (base), how far consuming readers are, and
// its end now.
//
//   base ......... consumer: handed out | in hand (pending) | unread ......... end
//        \_ read _/                     \______________ entries ______________/
//
// A lapped reader's place is moved up to the oldest record that is still whole; what is neither an entry nor read by
// then was overwritten (overrun). So the three figures always add up to what was written.
Contents::State Contents::state_of(std::size_t index) const {
  const Ring& ring = rings_[index];
  const ring::Reader reader(memory_of(index), place_.geometry, ring.base);
  const ring::Mark end = reader.end();
  const std::uint64_t dropped = difference(reader.discarded().all(), ring.discarded.all());
  const bool is_sound = is_plausible(ring.base, end, dropped);
  State state{.end = is_sound ? end : ring.base, .from = {0, later(ring.base, ring.kept)}};
  const std::size_t frozen = ring.frozen ? ring.frozen->records().size() : 0;
  Counts& counts = state.counts;
  counts.dropped = is_sound ? dropped : 0;
  if (state.end.count == ring.base.count && frozen == 0) return state;

  // Where the reader has not been lapped its place is the better one: the ring's oldest mark may be up to a chunk
  // later.
  const auto intact = [&reader](ring::Mark mark) {
    return reader.is_intact(mark.position) ? mark : later(mark, reader.oldest());
  };
  ring::Mark unread = later(ring.base, ring.kept);
  if (ring.consumer) {
    state.from = ring.consumer->place();
    unread = ring.consumer->read_up_to();
    counts.entries = ring.consumer->pending();
    counts.read = ring.consumer->taken();
  } else if (frozen > 0) {
    // Frozen records and the ring together hold one ring's size: the oldest go as the ring fills.
    const std::uint64_t used = difference(state.end.position, ring.base.position);
    state.from.frozen = ring.frozen->first_within(difference(place_.geometry.size(), used));
  }
  state.from.live = intact(state.from.live);
  counts.entries += frozen - state.from.frozen + difference(state.end.count, intact(unread).count);
  const std::uint64_t came = frozen + difference(state.end.count, ring.base.count);
  counts.overrun = difference(came, counts.entries + counts.read);
  counts.bytes = difference(state.end.position, state.from.live.position);
  if (frozen > 0) counts.bytes += ring.frozen->bytes_from(state.from.frozen);
  return state;
}

void Contents::clear(std::uint32_t cpu) {
  add_users();
  if (cpu == kAllCpus) cleared_at_ = arch::read_raw_clock(raw_clock());
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    if (cpu == kAllCpus || cpu_of(i) == cpu) clear_ring(i);
  }
}

void Contents::clear_ring(std::size_t index) {
  const ring::Reader reader(memory_of(index), place_.geometry, {});
  Ring& ring = rings_[index] = {};
  ring.base = reader.end();
  ring.discarded = reader.discarded();
  instances_.set_consumed(place_, static_cast<std::uint32_t>(index / rings_per_set_),
                          static_cast<std::uint32_t>(index % rings_per_set_), ring.base.position);
}

void Contents::user_goes(std::uint32_t user) {
  add_users();
  for (std::uint32_t i = 0; i < rings_per_set_; ++i) {
    const std::size_t index = std::size_t{user} * rings_per_set_ + i;
    const Counts counts = state_of(index).counts;
    Counts before = rings_[index].before;
    before.overrun += counts.overrun + counts.entries;
    before.dropped += counts.dropped;
    before.read += counts.read;
    rings_[index] = {};
    rings_[index].before = before;
    instances_.set_consumed(place_, user, i, 0);
  }
}

void Contents::set_overwrite(bool overwrite) {
  add_users();
  instances_.set_overwrite(place_, overwrite, [this](std::uint32_t user, std::uint32_t ring) {
    const std::size_t index = std::size_t{user} * rings_per_set_ + ring;
    if (index >= rings_.size()) return std::uint64_t{0};
    Ring& of_user = rings_[index];
    of_user.kept = state_of(index).from.live;
    return of_user.consumer ? of_user.consumer->give_back(of_user.kept.position) : of_user.kept.position;
  });
}

Contents::Counts Contents::counts(std::uint32_t cpu) {
  add_users();
  Counts sum;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    if (cpu != kAllCpus && cpu_of(i) != cpu) continue;
    const Counts counts = state_of(i).counts;
    const Counts& before = rings_[i].before;
    sum.entries += counts.entries;
    sum.overrun += counts.overrun + before.overrun;
    sum.dropped += counts.dropped + before.dropped;
    sum.read += counts.read + before.read;
    sum.bytes += counts.bytes;
  }
  return sum;
}

std::uint64_t Contents::unread_bytes(std::uint32_t cpu) {
  add_users();
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    if (cpu == kAllCpus || cpu_of(i) == cpu) most = std::max(most, state_of(i).counts.bytes);
  }
  return most;
}

void Contents::consume(std::uint32_t cpu, Merge& merge) {
  // Before any ring is looked at, and be it whether there is one: Merge::begin() says why.
  const std::uint64_t now = arch::read_raw_clock(raw_clock());
  add_users();
  merge.clear();
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    if (cpu != kAllCpus && cpu_of(i) != cpu) continue;
    Ring& ring = rings_[i];
    if (!ring.consumer) {
      // Somebody may be writing its first record, whose time is from before those that the other rings have by now.
      // This comes first: who takes the ring after it reads the clock after `now`.
      const bool is_claimed = ring::Reader(memory_of(i), place_.geometry, {}).is_claimed();
      const State state = state_of(i);
      if (state.counts.entries == 0 && !is_claimed) continue;
      // From the base on, not from the oldest record: so the reader is told what was overwritten since.
      ring.consumer = std::make_unique<RingCursor>(
          memory_of(i), place_.geometry, static_cast<std::uint32_t>(i / rings_per_set_), raw_clock(), started_,
          RingCursor::Begin{{state.from.frozen, ring.base},
                            {~0ull, ~0ull},
                            ring.discarded,
                            ring.frozen,
                            instances_.consumed(place_, static_cast<std::uint32_t>(i / rings_per_set_),
                                                static_cast<std::uint32_t>(i % rings_per_set_))});
    }
    merge.add({ring.consumer.get(), cpu_of(i)});
  }
  merge.begin(now);
}

void Contents::consumed() {
  if (place_.overwrite) return;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = rings_[i];
    if (!ring.consumer) continue;
    const ring::Mark place = ring.consumer->place().live;
    if (place.position <= ring.kept.position) continue;
    ring.kept = place;
    instances_.set_consumed(place_, static_cast<std::uint32_t>(i / rings_per_set_),
                            static_cast<std::uint32_t>(i % rings_per_set_), ring.consumer->give_back(place.position));
  }
}

RingCursor Contents::cursor_of(std::size_t index, const State& state) const {
  return {memory_of(index), place_.geometry, static_cast<std::uint32_t>(index / rings_per_set_), raw_clock(), started_,
          {state.from, state.end, discarded(index), rings_[index].frozen}};
}

// Producers wrote here already while others still finished their events there: what is here by now is copied, too, so
// that each ring stays in order of time.
void Contents::adopt_ring(std::size_t index, const Contents& other, const State& old, std::uint64_t bytes) {
  Ring& ring = rings_[index];
  ring.before = other.rings_[index].before;
  ring.before.overrun += old.counts.overrun;
  ring.before.read += old.counts.read;
  ring.before.dropped += old.counts.dropped;
  if (old.counts.entries == 0) return;

  const State now = state_of(index);
  RingCursor older = other.cursor_of(index, old);
  RingCursor newer = cursor_of(index, now);
  Merge merge;
  merge.add({&older, 0});
  merge.add({&newer, 0});
  merge.begin(~0ull);
  auto frozen = std::make_shared<Frozen>();
  std::uint64_t copied = 0;
  for (; const Merge::Source* const source = merge.next(); source->cursor->pop(), ++copied) {
    frozen->append(source->cursor->record(), source->cursor->clock());
  }
  const std::uint64_t came = old.counts.entries + difference(now.end.count, ring.base.count);
  ring.before.overrun += difference(came, copied) + frozen->finish(bytes);
  ring.frozen = std::move(frozen);
  ring.base = now.end;
}

void Contents::adopt(Contents& other, std::uint64_t bytes, std::weak_ptr<Contents> self) {
  add_users();
  other.add_users();
  std::vector<std::uint64_t> ends;
  for (std::size_t i = 0; i < other.rings_.size(); ++i) {
    const State old = other.state_of(i);
    ends.push_back(old.end.count);
    adopt_ring(i, other, old, bytes);
  }
  // What stopped producers have still written by the end of the grace period. This runs before the memory of those
  // rings is given back: ~Contents() of `other` asks for that later, and both wait in one queue.
  const auto note_late_ones = [&users = users_, place = other.place_, ends, self = std::move(self)] {
    const auto heir = self.lock();
    if (!heir) return;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const std::byte* const base = users.all()[i / heir->rings_per_set_].mapping.data();
      const std::byte* const ring = base + place.rings + i % heir->rings_per_set_ * place.geometry.stride();
      heir->rings_[i].before.overrun += difference(ring::Reader(ring, place.geometry, {}).end().count, ends[i]);
    }
  };
  grace_.after_readers(note_late_ones, domain::Holders::of_own_memory());
}

std::optional<std::uint64_t> Contents::oldest(std::uint32_t cpu) {
  add_users();
  std::optional<std::uint64_t> oldest;
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    if (cpu != kAllCpus && cpu_of(i) != cpu) continue;
    const State state = state_of(i);
    if (state.counts.entries == 0) continue;
    RingCursor cursor = cursor_of(i, state);
    cursor.allow_reads(1);
    if (cursor.ready()) oldest = std::min(oldest.value_or(~0ull), cursor.clock());
  }
  return oldest;
}

}  // namespace landtrace::buffer
