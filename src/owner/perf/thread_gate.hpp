// Which threads a session takes no events of: those that no perf event of this process is about (-p PID, CMD). They
// are left out where they emit, so that they neither pay for a record nor fill the rings, and what the rings lose is
// lost of those that are meant.
//
// Threads are left out by what is known, not let in: one that began a moment ago may be meant, and is judged when its
// first event is read. So nothing is missed, whatever forks how fast.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "consumer/session.hpp"

namespace landtrace::perf {

class ThreadGate {
 public:
  // Whether any perf event of this process may be about the thread. `tgid` is its process, 0 where that is not known.
  using IsMeant = std::function<bool(std::uint32_t tid, std::uint32_t tgid)>;

  // All three must outlive it.
  ThreadGate(consumer::DomainView& view, consumer::Session& session, const IsMeant& is_meant)
      : view_(view), session_(session), is_meant_(is_meant) {}

  // There is another perf event in the session, about the threads that `has` says: none of them is left out.
  using Has = std::function<bool(std::uint32_t tid)>;
  void let_in(const Has& has);
  // The thread has emitted what no perf event took.
  void note_unwanted(std::uint32_t tid, std::uint32_t tgid);
  // Tells the programs what note_unwanted() has found, now and then, and forgets threads that have ended: their numbers
  // may be others' one day.
  void renew(std::uint64_t now_ns);

  [[nodiscard]] const std::set<std::uint32_t>& left_out() const { return left_out_; }

 private:
  void leave_out(std::uint32_t tid, std::uint32_t tgid);
  void look_at_programs();
  void tell();

  consumer::DomainView& view_;
  consumer::Session& session_;
  const IsMeant& is_meant_;
  std::set<std::uint32_t> left_out_;
  bool has_looked_ = false;
  bool has_changed_ = false;
  std::uint64_t told_ns_ = 0;
  std::uint64_t pruned_ns_ = 0;
};

}  // namespace landtrace::perf
