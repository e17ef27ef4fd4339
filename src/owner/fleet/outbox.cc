#include "fleet/outbox.hpp"

#include <algorithm>

namespace landtrace::fleet {

void Outbox::remember(std::list<Letter>::iterator letter) {
  bytes_ += letter->size();
  places_[letter->subject] = letter;
}

bool Outbox::has_room(const Letter& letter) const {
  const auto known = places_.find(letter.subject);
  const std::size_t before = known == places_.end() ? 0 : known->second->size();
  return bytes_ - before + letter.size() <= most_bytes_;
}

bool Outbox::put(Letter letter) {
  if (!has_room(letter)) {
    ++dropped_;
    return false;
  }
  auto place = letter.is_behind_others ? behind_last_ones() : waiting_.end();
  if (const auto known = places_.find(letter.subject); known != places_.end()) {
    bytes_ -= known->second->size();
    if (!letter.is_behind_others || place == known->second) place = std::next(known->second);
    waiting_.erase(known->second);
  }
  remember(waiting_.insert(place, std::move(letter)));
  return true;
}

std::list<Outbox::Letter>::iterator Outbox::behind_last_ones() {
  auto place = waiting_.end();
  while (place != waiting_.begin() && !std::prev(place)->is_last) --place;
  return place;
}

std::optional<Outbox::Letter> Outbox::take(bool has_arrived) {
  if (waiting_.empty() || (waiting_.front().is_behind_others && !has_arrived)) return std::nullopt;
  Letter letter = std::move(waiting_.front());
  waiting_.pop_front();
  places_.erase(letter.subject);
  bytes_ -= letter.size();
  return letter;
}

void Outbox::put_back(Letter letter) {
  if (places_.contains(letter.subject)) return;
  remember(waiting_.insert(waiting_.begin(), std::move(letter)));
}

void Outbox::forget(std::uint64_t number) {
  const auto found = std::ranges::find(waiting_, number, &Letter::number);
  if (number == 0 || found == waiting_.end()) return;
  bytes_ -= found->size();
  places_.erase(found->subject);
  waiting_.erase(found);
}

}  // namespace landtrace::fleet
