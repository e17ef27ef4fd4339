// Who is in a fleet: of each domain of each host the newest status, and how fast it records.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/status.hpp"

namespace landtrace::fleet {

// Of two statuses of one domain of a host, in the order in which the stream has them. An agent that was started anew
// counts from the beginning, and its clock may have been set back.
bool is_newer(const Status& status, const Status& known);

// Of clocks here. Hosts' own may be anything.
struct Moment {
  std::uint64_t wall_ns = 0;
  std::uint64_t monotonic_ns = 0;

  static Moment now();
};

class Roster {
 public:
  // As long as the stream keeps what they said.
  static constexpr std::uint64_t kKept_ns = 7ull * 24 * 3600 * 1'000'000'000;

  struct Member {
    std::uint64_t number = 0;  // in the order in which they came, from 1 on
    Status status;
    double recorded_rate = 0;  // events a second, between its last two statuses
    double lost_rate = 0;
    // When the status came, by the monotonic clock. One that was in the stream before it was followed is as old as its
    // host's clock says.
    std::int64_t heard_ns = 0;
    std::uint64_t beginning = 0;  // of the stream, since which it was heard

    [[nodiscard]] std::uint64_t age_ns(std::uint64_t monotonic_ns) const;
    [[nodiscard]] bool is_away(std::uint64_t monotonic_ns) const;
  };
  // What came under a subject. Null: it is older than what is known, or makes no sense there. Of two agents that say
  // they are the same, one counts as long as it goes on.
  const Member* take(const std::string& subject, const std::string& bytes, Moment now);
  // The stream is followed anew: what comes first may have waited in it.
  void begin_again() { ++beginning_; }
  // Forgets who has said nothing for kKept_ns. Their numbers.
  std::vector<std::uint64_t> forget_silent(std::uint64_t monotonic_ns);

  using Name = std::pair<std::string, std::string>;  // host, domain
  [[nodiscard]] const std::map<Name, Member>& members() const { return members_; }
  // Subjects under which something came that makes no sense, some of them.
  [[nodiscard]] const std::set<std::string>& refused() const { return refused_; }

 private:
  std::map<Name, Member> members_;
  std::uint64_t beginning_ = 0;
  std::uint64_t next_number_ = 1;
  std::uint64_t next_forgetting_ns_ = 0;
  std::set<std::string> refused_;
};

}  // namespace landtrace::fleet
