// Programs that were in the domain before it had probes, so that they have no agent: those under the shim, and those
// that are linked with the library. They are attached when the first probe is defined.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace landtrace::daemon {

class LatePrograms {
 public:
  // Takes a sentence, in the thread that attaches.
  using Tell = std::function<void(const std::string&)>;

  // `agent`: path of what is loaded into programs; "": nothing is. `control`: the inode of the domain's control
  // segment. `tell`: of each program that no probe can come to, once; nullptr: nobody.
  LatePrograms(std::string agent, std::string socket, std::uint64_t control, Tell tell)
      : agent_(std::move(agent)), socket_(std::move(socket)), control_(control), tell_(std::move(tell)) {}
  ~LatePrograms();
  LatePrograms(const LatePrograms&) = delete;
  LatePrograms& operator=(const LatePrograms&) = delete;

  // In a thread of its own, once. From any thread.
  void attach_all();

 private:
  void run();
  // Those that could not be attached, but may be later, and why not now.
  using Left = std::map<std::uint32_t, std::string>;
  Left attach(const std::vector<std::uint32_t>& pids);
  void tell(const std::string& why) const;
  [[nodiscard]] bool is_in_domain(std::uint32_t pid) const;
  [[nodiscard]] std::vector<std::uint32_t> programs() const;
  bool pause(std::chrono::milliseconds time);

  const std::string agent_;
  const std::string socket_;
  const std::uint64_t control_;
  const Tell tell_;
  std::mutex mutex_;
  std::condition_variable ended_;
  // Without a partner: whoever sees it looks at nothing else.
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace landtrace::daemon
