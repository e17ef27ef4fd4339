#include "fleet/held_letters.hpp"

namespace landtrace::fleet {

bool HeldLetters::hold(const std::string& order, Outbox::Letter letter) {
  if (bytes_ + letter.size() > most_bytes_) return false;
  bytes_ += letter.size();
  letters_[order].push_back(std::move(letter));
  return true;
}

bool HeldLetters::give(const std::function<bool(Outbox::Letter&)>& take) {
  bool has_given_all_of_one = false;
  for (auto at = letters_.begin(); at != letters_.end();) {
    const auto order = at++;
    std::vector<Outbox::Letter> left;
    for (Outbox::Letter& letter : order->second) {
      const std::size_t size = letter.size();
      if (take(letter)) {
        bytes_ -= size;
      } else {
        left.push_back(std::move(letter));
      }
    }
    order->second = std::move(left);
    if (!order->second.empty()) continue;
    letters_.erase(order);
    has_given_all_of_one = true;
  }
  return has_given_all_of_one;
}

std::uint64_t HeldLetters::forget(const std::string& order) {
  const auto found = letters_.find(order);
  if (found == letters_.end()) return 0;
  for (const Outbox::Letter& letter : found->second) bytes_ -= letter.size();
  const std::uint64_t count = found->second.size();
  letters_.erase(found);
  return count;
}

}  // namespace landtrace::fleet
