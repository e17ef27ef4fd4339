// Requests that read or write their caller's memory. That may take as long as the caller likes: a page may be one
// that the program serves itself (userfaultfd), or that lies in another mount. So each such request runs in a thread
// of its own. The control lane waits for it, so that requests are done in order, but not for long. After that the
// lane goes on, the errand is *left behind*, and the request is answered when the memory answers or the caller is
// interrupted.
//
//   send() -> in a worker thread: call.read() the caller's memory, call.carry_out() in the domain, call.answer()
//          `- waits kPatience for that; then puts the errand into left_behind_ and returns
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>

#include "domain/data_call.hpp"
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
  // Answers those whose callers were interrupted. For any thread.
  void serve_interrupted();
  // Answers all. None uses the domain or the courier after this.
  void stop();

 private:
  class Errand;
  // Each errand that is left behind has a thread, so their number is limited. From here on the lane waits longer for
  // the next one and then gives it up (EFAULT), and a process that has left one behind gets no other.
  static constexpr std::size_t kManyLeftBehind = 64;
  static constexpr std::chrono::milliseconds kPatience{5};
  static constexpr std::chrono::milliseconds kLongPatience{1000};

  Courier& courier_;
  programs::PatientWorker worker_;  // the control lane's
  std::mutex mutex_;
  std::list<std::shared_ptr<Errand>> left_behind_;
};

}  // namespace landtrace::fuse
