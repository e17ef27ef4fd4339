#include "host/last_words.hpp"

#include <cerrno>
#include <utility>

namespace landtrace::host {
namespace {

constexpr std::chrono::milliseconds kInterval(10);
constexpr std::chrono::seconds kPatience(2);

}  // namespace

void LastWords::take(std::vector<LastWord> words, Time now) {
  if (words.empty()) return;
  for (LastWord& word : words) waiting_.push_back({std::move(word), now + kPatience});
  next_ = now;
}

void LastWords::speak(Time now) {
  if (waiting_.empty() || now < next_) return;
  next_ = now + kInterval;
  std::erase_if(waiting_, [now](Waiting& waiting) {
    LastWord& word = waiting.word;
    const auto written = word.file->write(word.caller, word.text, 0);
    if (!written) return written.error().code != EBUSY || now >= waiting.until;
    word.text.erase(0, *written);  // not all of what takes several turns
    waiting.until = now + kPatience;
    return word.text.empty();
  });
}

std::optional<LastWords::Time> LastWords::due() const {
  if (waiting_.empty()) return std::nullopt;
  return next_;
}

}  // namespace landtrace::host
