// LTTng-UST's session daemon of our own, with a flight-recorder session that records the peer's event.
#pragma once

#include <optional>

#include "child.hpp"
#include "setting.hpp"

namespace landtrace::bench {

class LttngSession {
 public:
  // `folder` is its LTTNG_HOME. Root's daemon lives in /run, where another one may be, so that must be
  // private.
  LttngSession(const std::string& folder, bool run_is_private);
  ~LttngSession();
  LttngSession(const LttngSession&) = delete;
  LttngSession& operator=(const LttngSession&) = delete;

  [[nodiscard]] const Peer& peer() const { return peer_; }

  // What its filters let through goes into the one channel; into the other they let nothing.
  static constexpr const char* kChannel = "ring";
  static constexpr const char* kEmptyChannel = "empty";

 private:
  void start(const std::string& folder);

  std::optional<Child> daemon_;
  Peer peer_;
};

// Runs the lttng program of the session in $LTTNG_HOME. Its output, or Broken.
std::string lttng(std::vector<std::string> arguments, const std::string& home);

// Bytes that a snapshot of the session has in the event streams of each channel.
struct LttngBytes {
  std::uint64_t recorded;  // kChannel
  std::uint64_t refused;   // kEmptyChannel
};
LttngBytes lttng_snapshot_bytes(const std::string& session, const std::string& home);

}  // namespace landtrace::bench
