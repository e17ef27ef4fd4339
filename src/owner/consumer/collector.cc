#include "consumer/collector.hpp"

#include <unistd.h>

#include "buffer/plausible.hpp"
#include "ring/writer.hpp"

namespace landtrace::consumer {
namespace {

constexpr std::uint64_t kReadBytes = 256 * 1024;  // what a ring::Reader takes at a time
constexpr std::uint64_t kSampleInterval_ns = 50'000'000;

// A quarter of the ring, so that there is room again long before the ring is full.
int reads_per_round(ring::Geometry geometry) {
  return static_cast<int>(std::clamp<std::uint64_t>(geometry.size() / 4 / kReadBytes, 1, 16));
}

}  // namespace

Collector::Collector(DomainView& view, Session& session, Sink& sink)
    : view_(view),
      session_(session),
      sink_(sink),
      clock_(session.raw_clock()),
      types_(view.control()),
      tasks_([&sink](std::int32_t tid, const output::Task& task) { sink.task(tid, task); }),
      streams_(view.cpus()),
      rings_(view.cpus()),
      delivered_ns_(streams_.size()),
      outstanding_(streams_.size()) {
  std::ignore = view_.map_new_users();  // an error comes again in drain()
  add_new_users();
  // Users who were there before may have lost events while others recorded: only later losses count here.
  for (std::size_t i = 0; i < placeless_before_.size(); ++i) placeless_before_[i] = placeless(i);
}

std::uint64_t Collector::placeless(std::size_t user) const {
  return __atomic_load_n(&view_.users()[user].data().slotless, __ATOMIC_RELAXED);
}

void Collector::add_new_users() {
  const auto& users = view_.users();
  const std::uint32_t rings = view_.cpus() + view_.claimed();
  for (std::size_t i = published_.size(); i < users.size(); ++i) {
    published_.emplace_back(rings);
    placeless_before_.push_back(0);
    objects_.emplace_back(users[i].uid);
    for (std::uint32_t ring = 0; ring < rings; ++ring) {
      const std::uint32_t cpu = ring::cpu_of_ring(ring, view_.cpus());
      streams_[cpu].add(session_.ring(users[i], ring), session_.geometry(), static_cast<std::uint32_t>(i),
                        session_.raw_clock(), session_.started());
      rings_[cpu].push_back(ring);
    }
  }
}

void Collector::announce_types() {
  for (; types_announced_ < types_.types().size(); ++types_announced_) sink_.type(types_.types()[types_announced_]);
  for (const output::EventType* const type : types_.take_redescribed()) sink_.type(*type);
}

void Collector::announce_objects() {
  const auto& users = view_.users();
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    objects_[i].refresh(users[i].data(), [this](unwind::MappedObject object) {
      object.first_seen = clock_.to_ns(object.first_seen);
      sink_.object(object);
    });
  }
}

Result<void> Collector::prepare() {
  const auto mapped = view_.map_new_users();
  add_new_users();
  types_.refresh();
  announce_types();
  const std::uint64_t now = arch::monotonic_ns();
  if (now - last_sample_ns_ >= kSampleInterval_ns) {
    clock_.sample();
    last_sample_ns_ = now;
  }
  announce_objects();
  if (mapped && view_.owner_died()) return fail(EPIPE, "the owner of the domain is gone");
  return mapped;
}

void Collector::deliver(std::uint32_t cpu, buffer::RingCursor& cursor) {
  if (const std::uint64_t lost = cursor.take_lost(); lost > 0) [[unlikely]] {
    sink_.lost(cpu, lost);
  }
  const ring::RecordView& record = cursor.record();
  const output::EventType* const type = types_.find(record.header.event);
  if (type == nullptr) [[unlikely]] {
    ++unknown_;
    return;
  }
  if (types_announced_ != types_.types().size()) [[unlikely]] {
    announce_types();
  }
  tasks_.note(record.header.tid, view_.users()[cursor.user()].data());
  ++events_;
  delivered_ns_[cpu] = clock_.to_ns(cursor.clock());
  sink_.event({.time_ns = delivered_ns_[cpu],
               .cpu = cpu,
               .tid = static_cast<std::int32_t>(record.header.tid),
               .event_id = type->id,
               .payload = record.payload},
              *type);
}

// A stream that is read up to the horizon gives nothing older any more; one that has more waiting, nothing older than
// its last.
bool Collector::drain_streams(std::uint64_t horizon) {
  tell_what_is_outstanding();
  const int reads = reads_per_round(session_.geometry());
  bool more = false;
  std::uint64_t settled_ns = horizon == buffer::kNoHorizon ? ~0ull : clock_.to_ns(horizon);
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    const bool has_more =
        streams_[cpu].drain(horizon, reads, [&](buffer::RingCursor& cursor) { deliver(cpu, cursor); });
    if (horizon != buffer::kNoHorizon) settled_ns = std::min(settled_ns, clock_.to_ns(streams_[cpu].settled()));
    if (!has_more) continue;
    settled_ns = std::min(settled_ns, delivered_ns_[cpu]);
    more = true;
  }
  sink_.settled(settled_ns);
  return more;
}

// Before the events: the reader of a killed recorder's file knows of every event that was missed before one that is in
// it, also if that one came through another ring, and of those that other rings still held.
void Collector::tell_what_is_outstanding() {
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    Outstanding now;
    for (buffer::RingCursor& cursor : streams_[cpu].cursors()) {
      now.missing += cursor.untold();
      now.waiting += cursor.unread();
    }
    if (std::exchange(outstanding_[cpu], now) != now) sink_.outstanding(cpu, now);
  }
}

Result<void> Collector::publish_positions() {
  if (session_.overwrite()) return {};
  positions_.clear();
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    auto ring_of_next = rings_[cpu].begin();
    for (buffer::RingCursor& cursor : streams_[cpu].cursors()) {
      const std::uint32_t ring = *ring_of_next++;
      std::uint64_t& published = published_[cursor.user()][ring];
      const User& user = view_.users()[cursor.user()];
      if (cursor.position() == published || user.has_left) continue;
      published = cursor.position();
      positions_.push_back({user.index, ring, cursor.give_back(published)});
    }
  }
  return session_.publish(positions_);
}

Result<bool> Collector::drain() {
  // First the horizon: what is missed before an event that is older than that has been counted when drain_streams()
  // asks.
  const std::uint64_t horizon = arch::read_raw_clock(session_.raw_clock());
  auto prepared = prepare();
  const bool more = drain_streams(horizon);
  LT_CHECK(std::move(prepared));
  LT_CHECK(publish_positions());
  return more;
}

Result<void> Collector::look() { return prepare(); }

// A writer in the middle of an event keeps later ones back until it is through, or known to be stopped.
// Until what was written when it was asked for has been taken: a reader that is lapped again and again may find nothing
// for a moment. What is missing then is told.
void Collector::copy_cpu(std::uint32_t cpu, Copy& copy, std::uint64_t horizon, Sink& sink) {
  constexpr std::uint64_t kPatience_ns = 200'000'000;
  constexpr int kPause_us = 500;
  const std::uint64_t until = arch::monotonic_ns() + kPatience_ns;
  const auto give = [&](buffer::RingCursor& cursor) {
    if (const std::uint64_t lost = cursor.take_lost(); lost > 0) sink.lost(cpu, lost);
    const ring::RecordView& record = cursor.record();
    const output::EventType* const type = types_.find(record.header.event);
    if (type == nullptr) return;
    tasks_.note(record.header.tid, view_.users()[cursor.user()].data());
    sink.event({.time_ns = clock_.to_ns(cursor.clock()),
                .cpu = cpu,
                .tid = static_cast<std::int32_t>(record.header.tid),
                .event_id = type->id,
                .payload = record.payload},
               *type);
  };
  const int most_reads = static_cast<int>(8 + 2 * session_.geometry().size() / kReadBytes);
  const auto count_missing = [&] {
    std::uint64_t missing = 0;
    auto wanted = copy.written.begin();
    for (const buffer::RingCursor& cursor : copy.stream.cursors()) {
      const std::uint64_t written = *wanted++;
      const std::uint64_t count = written - std::min(written, cursor.passed());
      if (buffer::can_have_happened(count, session_.started(), horizon)) missing += count;
    }
    return missing;
  };
  for (;;) {
    const bool is_more = copy.stream.drain(horizon, most_reads, give);
    if (!is_more && copy.stream.settled() >= horizon && count_missing() == 0) break;
    if (arch::monotonic_ns() > until) break;
    if (!is_more) ::usleep(kPause_us);
  }
  std::uint64_t lost = count_missing();
  for (buffer::RingCursor& cursor : copy.stream.cursors()) lost += cursor.take_rest();
  if (lost > 0) sink.lost(cpu, lost);
}

Result<std::uint64_t> Collector::copy_to(Sink& sink) {
  auto prepared = prepare();
  const auto& users = view_.users();
  std::vector<Copy> copies(streams_.size());
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    auto ring = rings_[cpu].begin();
    for (const buffer::RingCursor& cursor : streams_[cpu].cursors()) {
      copies[cpu].stream.add(session_.ring(users[cursor.user()], *ring++), session_.geometry(), cursor.user(),
                             session_.raw_clock(), session_.started());
      copies[cpu].written.push_back(cursor.written());
    }
  }
  // Behind the figures: what they count is older.
  const std::uint64_t horizon = arch::read_raw_clock(session_.raw_clock());
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) copy_cpu(cpu, copies[cpu], horizon, sink);
  tasks_.refresh();
  for (const auto& [tid, task] : tasks_.all()) sink.task(static_cast<std::int32_t>(tid), task);
  for (const User& user : users) {
    buffer::MappedObjects(user.uid).refresh(user.data(), [&](unwind::MappedObject object) {
      object.first_seen = clock_.to_ns(object.first_seen);
      sink.object(object);
    });
  }
  LT_CHECK(std::move(prepared));
  return clock_.to_ns(horizon);
}

Result<void> Collector::finish() {
  Result<void> result = session_.stop();
  if (auto prepared = prepare(); !prepared && result) result = std::move(prepared);
  // Bounded: a hostile user may go on writing into its ring although nobody listens. A round may take what it can from
  // one ring of a CPU alone, whose events are all older than those of the others.
  std::size_t rings = 1;
  for (const auto& of_cpu : rings_) rings = std::max(rings, of_cpu.size());
  const auto rounds = rings * (8 + 2 * session_.geometry().size() / kReadBytes);
  for (std::uint64_t round = 0; round < rounds && drain_streams(buffer::kNoHorizon); ++round) {
  }
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    std::uint64_t lost = 0;
    for (buffer::RingCursor& cursor : streams_[cpu].cursors()) lost += cursor.take_rest();
    if (lost > 0) sink_.lost(cpu, lost);
  }
  tasks_.refresh();
  announce_objects();
  return result;
}

Totals Collector::totals() const {
  Totals totals{.events = events_, .corrupt = unknown_};
  const std::uint64_t now = arch::read_raw_clock(session_.raw_clock());
  for (const buffer::Stream& stream : streams_) {
    for (const buffer::RingCursor& cursor : stream.cursors()) {
      totals.overwritten += cursor.overwritten();
      totals.discarded += cursor.discarded();
      totals.corrupt += cursor.corrupt();
      if (buffer::can_have_happened(cursor.written(), session_.started(), now)) totals.waiting += cursor.written();
    }
  }
  const std::uint64_t taken = totals.events + unknown_ + totals.overwritten;
  totals.waiting = totals.waiting > taken ? totals.waiting - taken : 0;
  for (std::size_t i = 0; i < placeless_before_.size(); ++i) {
    const std::uint64_t count = placeless(i) - placeless_before_[i];
    if (buffer::can_have_happened(count, session_.started(), now)) totals.placeless += count;
  }
  return totals;
}

}  // namespace landtrace::consumer
