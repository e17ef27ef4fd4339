// Requests that go into their callers' memory, which may not answer for as long as the caller likes: a page that the
// program handles itself (userfaultfd), or that lies in another mount. Such a request is on the way in a thread of its own.
// The control lane waits for it, so that one request comes after the other, but not for long: then it goes on, and the
// request is answered when the memory does, or its caller is interrupted.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>

#include "domain/data_requests.hpp"
#include "programs/patient_worker.hpp"
#include "fuse/courier.hpp"

namespace landtrace::fuse {

class Errands {
 public:
  explicit Errands(Courier& courier) : courier_(courier) {}
  ~Errands() { stop(); }
  Errands(const Errands&) = delete;
  Errands& operator=(const Errands&) = delete;

  // Takes over the request. Called by the control lane, after DataCall::begin().
  void send(fuse_req_t request, domain::DataCall call);
  // Answers those whose callers have been interrupted. Any thread.
  void serve_interrupted();
  // Answers all there are; none uses the domain or the courier after this.
  void stop();

 private:
  class Errand;
  // A thread waits for each that is left behind. When there are so many of them the lane waits longer for the next, and gives
  // it up then (EFAULT); and a process of which one is left behind gets no other.
  static constexpr std::size_t kManyLeftBehind = 64;
  static constexpr std::chrono::milliseconds kPatience{5};
  static constexpr std::chrono::milliseconds kLongPatience{1000};

  Courier& courier_;
  programs::PatientWorker worker_;  // the control lane's
  std::mutex mutex_;
  std::list<std::shared_ptr<Errand>> left_behind_;
};

}  // namespace landtrace::fuse
