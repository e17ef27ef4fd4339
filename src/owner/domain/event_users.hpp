// Users whose programs refer to an event or did: nobody else's can be in the middle of it. Mostly that is one, who
// stands in the event itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

namespace landtrace::domain {

class EventUsers {
 public:
  // The event counts as one of the events of each of them that refers to it now or, where none does, of who was the
  // last.
  struct User {
    std::uint32_t uid;
    std::uint32_t references;
    bool counts;
  };

  // Is one of them from here on.
  User& of(std::uint32_t uid) {
    if (first_.uid == kNobody) first_.uid = uid;
    if (first_.uid == uid) return first_;
    if (!others_) others_ = std::make_unique<std::vector<User>>();
    const auto is_it = [uid](const User& user) { return user.uid == uid; };
    const auto known = std::find_if(others_->begin(), others_->end(), is_it);
    return known == others_->end() ? others_->emplace_back(User{uid, 0, false}) : *known;
  }
  template <typename See>
  void for_each(See see) {
    if (first_.uid != kNobody) see(first_);
    if (others_) std::for_each(others_->begin(), others_->end(), see);
  }
  template <typename Is>
  [[nodiscard]] bool any_of(Is is) const {
    return (first_.uid != kNobody && is(first_)) || (others_ && std::any_of(others_->begin(), others_->end(), is));
  }
  [[nodiscard]] std::vector<std::uint32_t> uids() const {
    std::vector<std::uint32_t> uids;
    std::ignore = any_of([&](const User& user) { return uids.push_back(user.uid), false; });
    return uids;
  }

 private:
  static constexpr std::uint32_t kNobody = ~0u;  // no user has this uid
  User first_{kNobody, 0, false};
  std::unique_ptr<std::vector<User>> others_;
};

}  // namespace landtrace::domain
