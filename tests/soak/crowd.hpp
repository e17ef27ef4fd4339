// The producers of a soak: started, killed, stopped and let go on.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "process.hpp"
#include "progress.hpp"

namespace landtrace::soak {

struct Places {
  std::string folder;    // of the run
  std::string socket;    // of the domain
  std::string progress;  // the file
  std::string mount;     // "" where there is none
};

class Crowd {
 public:
  Crowd(const Places& places, std::minstd_rand& random)
      : places_(places), random_(random), kinds_(places.mount.empty() ? kKinds - 1 : kKinds) {}
  ~Crowd() { end(); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // One more producer, of a kind that is chosen at random.
  void add();
  // From here on none that is on a mount: it ends with its owner.
  void avoid_mounts() { kinds_ = kKinds - 1; }
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  // One of them dies, and another takes its place.
  void kill_one();
  // One of them stands still until the next call.
  void stop_one();
  void let_all_go_on();
  // Waits until everyone has ended, which they must have been told; kills who does not in `limit_s` seconds, and says
  // how many these were.
  std::size_t wait(int limit_s);
  // Those that ended by themselves with an error, so far.
  [[nodiscard]] std::size_t failed() const { return failed_; }
  [[nodiscard]] std::uint64_t kills() const { return kills_; }

 private:
  void end();
  void note_end(int status);
  void reap(int options);
  [[nodiscard]] Command command(Kind kind);

  const Places& places_;
  std::minstd_rand& random_;
  std::uint32_t kinds_;
  std::vector<pid_t> members_;
  std::optional<pid_t> stopped_;
  std::size_t failed_ = 0;
  std::uint64_t kills_ = 0;
};

}  // namespace landtrace::soak
