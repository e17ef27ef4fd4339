// A running domain as seen by a program that records it: the socket, the control segment, and the data
// segments of all users, mapped read-only. Data segments are hostile input, and so is the control segment of
// a domain that another user runs: what is taken from either is checked.
#pragma once

#include <string>
#include <vector>

#include "base/mapping.hpp"
#include "ipc/socket.hpp"
#include "plan/segments.hpp"

namespace landtrace::consumer {

struct User {
  std::uint32_t uid;
  std::uint32_t index;  // in the domain; a later user with the same one has taken its place
  std::uint64_t serial;
  bool has_left = false;
  Mapping mapping;

  [[nodiscard]] const plan::DataSegment& data() const {
    return *reinterpret_cast<const plan::DataSegment*>(mapping.data());
  }
};

// Not thread-safe.
class DomainView {
 public:
  // Connects to the owner at `path`. ENOENT or ECONNREFUSED when nobody is there, EPERM when the owner does
  // not want this user, EPROTO when it does not speak the protocol.
  static Result<DomainView> connect(const std::string& path);

  Result<ipc::Answer> ask(const ipc::Request& request, std::string_view text = {}) {
    return ipc::ask(socket_.get(), request, text);
  }

  // Maps the data segments of users that have come since the last call; those of users who have left stay. EPERM for
  // who may not record the domain.
  Result<void> map_new_users();
  [[nodiscard]] const std::vector<User>& users() const { return users_; }

  [[nodiscard]] const plan::ControlSegment& control() const {
    return *reinterpret_cast<const plan::ControlSegment*>(control_.data());
  }
  // Whether nobody serves the domain any more; the kernel itself says so, whatever the owner died of.
  [[nodiscard]] bool owner_died() const {
    const auto* const word = reinterpret_cast<const std::uint32_t*>(&control().owner_alive);
    return (__atomic_load_n(word, __ATOMIC_RELAXED) & plan::kOwnerDied) != 0;
  }
  // As they were at connect(): the owner could change its mind in the segment.
  [[nodiscard]] std::uint32_t cpus() const { return cpus_; }
  [[nodiscard]] std::uint32_t claimed() const { return claimed_; }
  [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }

 private:
  DomainView(Fd socket, Mapping control, std::uint64_t data_bytes);
  Result<void> map_user(std::uint32_t index);
  [[nodiscard]] User* user_at(std::uint32_t index);

  Fd socket_;
  Mapping control_;
  std::uint32_t cpus_;
  std::uint32_t claimed_;
  std::uint64_t data_bytes_;
  std::vector<User> users_;
  std::uint32_t users_seen_ = 0;    // indices
  std::uint64_t changes_seen_ = 0;  // of who has them
};

}  // namespace landtrace::consumer
