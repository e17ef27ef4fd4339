#include "domain/proxy.hpp"

#include "bpf/program.hpp"
#include "plan/file_write.hpp"

namespace landtrace::domain {

Proxy::~Proxy() {
  if (slot_ != nullptr) Grace::give_back(*slot_);
}

Proxy::Place* Proxy::place_of(std::uint32_t uid) {
  const auto known = places_.find(uid);
  if (known != places_.end()) {
    if (known->second.user->serial_now() == known->second.serial) return &known->second;
    places_.erase(known);
  }
  const auto access = domain_.enter();
  const auto user = domain_.join(uid);
  if (!user) return nullptr;
  const User& joined = domain_.users().all()[*user];
  plan::DataSegment& data = joined.data();
  if (slot_ == nullptr) slot_ = &domain_.grace().take_own_slot();
  const std::uint32_t tid = slot_->tid;
  const plan::ControlSegment& control = domain_.control().segment();
  const auto clock = static_cast<arch::RawClock>(control.raw_clock);
  // Without restartable sequences, with which it could write to the ring of the CPU that it runs on alone.
  const plan::Thread thread{slot_, {nullptr, clock}, tid, tid, true};
  return &places_.emplace(uid, Place{plan::make_view(&control, &data, *user), thread, 0, &joined, joined.serial})
              .first->second;
}

Proxy::Place* Proxy::place_for(std::uint32_t tid, std::uint32_t uid) {
  Place* const place = place_of(uid);
  if (place == nullptr) return nullptr;
  place->thread.tid = tid;
  place->program_budget = bpf::kMaxRunForOthers;
  place->thread.program_budget = &place->program_budget;
  place->thread.mode.cpu = cpus_.last_cpu_of(tid);
  names_.leave(*place->view.data, tid);
  return place;
}

ssize_t Proxy::write(FileId file, std::uint32_t tid, std::uint32_t uid, std::span<const iovec> vectors) {
  Place* const place = place_for(tid, uid);
  if (place == nullptr) return -ENOSPC;
  if (domain_.thread_lists().is_following()) {
    const auto access = domain_.enter();
    domain_.thread_lists().catch_up();
  }
  return plan::write_file(place->view, place->thread, {file.slot, file.generation}, vectors.data(),
                          static_cast<int>(vectors.size()));
}

Result<void> Proxy::record(const Instance& instance, std::uint32_t event_slot, std::uint32_t tid, std::uint32_t uid,
                           std::span<const ring::Segment> segments, std::uint32_t unseen) {
  Place* const place = place_for(tid, uid);
  if (place == nullptr) return fail(ENOSPC, "the user has no room in the domain");
  std::size_t size = 0;
  for (const ring::Segment& segment : segments) size += segment.size;
  if (size > ring::kMaxPayload) return fail(E2BIG, "more than an event can carry");
  plan::View view = place->view;
  view.unseen = unseen;
  const auto count = static_cast<std::uint32_t>(segments.size());
  const auto bytes = static_cast<std::uint32_t>(size);
  const plan::Section section(*place->thread.slot);
  if (plan::emit_in_instance(view, place->thread, instance.index, event_slot, segments.data(), count, bytes)) return {};
  plan::record_in(view, place->thread, domain_.plans().record_step(instance), event_slot, segments.data(), count,
                  bytes);
  return {};
}

}  // namespace landtrace::domain
