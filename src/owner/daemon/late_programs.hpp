// Programs that were in the domain before it had probes, so that they have no agent: those under the shim, and those
// that are linked with the library. They are attached when the first probe is defined.
//
// Each may keep whoever looks into its memory for as long as it likes (a page of a FUSE mount that hangs, an exec that
// does not come to its end). So each user's programs have a thread of their own, and one that does not answer is left
// behind in another: it delays those of its own user for three seconds, and nobody else's.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "programs/patient_worker.hpp"

namespace landtrace::daemon {

class LatePrograms {
 public:
  // Takes a sentence, in a thread that attaches; one at a time.
  using Tell = std::function<void(const std::string&)>;

  // `agent`: path of what is loaded into programs; "": nothing is. `control`: the inode of the domain's control
  // segment. `tell`: of each program that no probe can come to, once; nullptr: nobody.
  LatePrograms(std::string agent, std::string socket, std::uint64_t control, Tell tell);
  // A program that does not answer is not waited for for longer than some seconds.
  ~LatePrograms();
  LatePrograms(const LatePrograms&) = delete;
  LatePrograms& operator=(const LatePrograms&) = delete;

  // In threads of its own, once. From any thread.
  void attach_all();

 private:
  struct Target;
  using Pids = std::vector<std::uint32_t>;
  // Those that could not be attached, but may be later, and why not now.
  using Left = std::map<std::uint32_t, std::string>;
  void run();
  void attach_those(const Pids& pids);
  [[nodiscard]] Pids find_in_domain(programs::PatientWorker& worker, const Pids& pids) const;
  Left attach(programs::PatientWorker& worker, const Pids& pids);
  void tell(const std::string& why);
  bool pause(std::chrono::milliseconds time);

  // Shared with what does not come back.
  const std::shared_ptr<Target> target_;
  const Tell tell_;
  std::mutex telling_;
  std::mutex mutex_;
  // It is over, or the programs of one user are done.
  std::condition_variable changed_;
  std::size_t users_at_work_ = 0;
  std::thread thread_;
};

}  // namespace landtrace::daemon
