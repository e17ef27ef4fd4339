// Who is in a fleet: of each domain of each host the newest status, and how fast it records.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "fleet/status.hpp"

namespace landtrace::fleet {

class Roster {
 public:
  struct Member {
    std::uint64_t number = 0;  // in the order in which they came, from 1 on
    Status status;
    double recorded_rate = 0;  // events a second, between its last two statuses
    double lost_rate = 0;
  };
  // What came under a subject. Null: it is older than what is known, or makes no sense there.
  const Member* take(const std::string& subject, const std::string& bytes);

  using Name = std::pair<std::string, std::string>;  // host, domain
  [[nodiscard]] const std::map<Name, Member>& members() const { return members_; }
  // Subjects under which something came that makes no sense, some of them.
  [[nodiscard]] const std::set<std::string>& refused() const { return refused_; }

 private:
  std::map<Name, Member> members_;
  std::set<std::string> refused_;
};

}  // namespace landtrace::fleet
