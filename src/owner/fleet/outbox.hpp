// What is to be sent, the newest of each subject: a transport that is away makes it no larger than that.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace landtrace::fleet {

// One thread at a time.
class Outbox {
 public:
  explicit Outbox(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  struct Letter {
    std::string subject;
    std::string bytes;
    bool is_behind_others = false;  // is sent when all that was taken before it has arrived
    bool is_last = false;           // what is_behind_others is put behind it
    std::uint64_t number = 0;       // under which it was sent already; 0: it was not

    [[nodiscard]] std::size_t size() const { return subject.size() + bytes.size(); }
  };
  // It takes the place of what waits under its subject, so that each subject has its turn however fast all of them
  // change; else it is the last one. What is_behind_others is the next one, but for what is_last and waits: behind all
  // that changes it might never be sent. False: there is no room, and what was there stays.
  bool put(Letter letter);
  [[nodiscard]] bool has_room(const Letter& letter) const;
  // The one that waits longest. `has_arrived`: all that was taken before; else none that is_behind_others.
  std::optional<Letter> take(bool has_arrived = true);
  // It was not sent after all: it is the next one, unless a newer one waits. There is room for it, whatever was put
  // there meanwhile: nobody may have it any more to send it again.
  void put_back(Letter letter);
  // It has arrived after all: it is not sent again, if it is still there.
  void forget(std::uint64_t number);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }
  // Letters for which put() found no room.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  void remember(std::list<Letter>::iterator letter);
  std::list<Letter>::iterator behind_last_ones();

  const std::size_t most_bytes_;
  std::list<Letter> waiting_;
  std::unordered_map<std::string, std::list<Letter>::iterator> places_;  // by subject
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace landtrace::fleet
