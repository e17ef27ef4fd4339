// What libnats' threads have brought for a link, until its round takes it.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace landtrace::fleet {

class Arrivals {
 public:
  // Whether the stream has the letter of this number.
  struct Answer {
    std::uint64_t number = 0;
    bool is_stored = false;
  };
  // An entry of the bucket.
  struct Entry {
    std::uint64_t subscription = 0;
    std::string id;
    std::optional<std::string> order;  // nullopt: it was taken away
    std::uint64_t sequence = 0;        // in the bucket's stream
    bool is_newest = false;            // there was none behind it
  };

  // All of these are thread-safe. `ring` is called behind what comes, until close() returns.
  void open(std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    ring_ = std::move(ring);
  }
  void close() { open(nullptr); }
  void add(Answer answer) { add_to(answers_, answer); }
  void add(Entry entry) { add_to(entries_, std::move(entry)); }
  std::vector<Answer> take_answers() { return take(answers_); }
  std::vector<Entry> take_entries() { return take(entries_); }

 private:
  template <typename T>
  void add_to(std::vector<T>& all, T one) {
    const std::lock_guard lock(mutex_);
    all.push_back(std::move(one));
    if (all.size() == 1 && ring_) ring_();
  }
  template <typename T>
  std::vector<T> take(std::vector<T>& all) {
    const std::lock_guard lock(mutex_);
    return std::exchange(all, {});
  }

  std::mutex mutex_;
  std::function<void()> ring_;
  std::vector<Answer> answers_;
  std::vector<Entry> entries_;
};

}  // namespace landtrace::fleet
