// The owners before and after this one: what it takes over, and what it leaves.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "domain/restore.hpp"

namespace landtrace::domain {

// kMayCome: another owner may serve the place after this one has ended in good order, too.
enum class Successor { kNone, kMayCome };

class Succession {
 public:
  Succession(Events& events, Files& files, EnableWords& enable_words, StatusPages& pages, RulesLink& rules,
             abi::Version abi)
      : events_(events), files_(files), enable_words_(enable_words), pages_(pages), rules_(rules), abi_(abi) {}

  // Writes down in the file at `path` what the next owner needs (see journal.hpp), beginning with what the one before
  // has left there: its events, open files and enable words are this domain's, as far as their processes live. To be
  // called once, before anybody is served and after all patterns are known; nobody else may have the file. On error,
  // that of the file system, nothing is written down, and what was left is restored all the same. What could not be
  // read is kept beside it, as `path`.damaged.
  Result<void> keep_journal(const std::string& path, Successor successor = Successor::kNone);
  // What of the journal was not read, why, and where it is now; empty: nothing.
  [[nodiscard]] const std::string& damage() const { return damage_; }

  // nullptr: nothing is written down.
  [[nodiscard]] Journal* journal() { return journal_.get(); }

  // How long restored events wait for programs that link the library, which register them anew.
  static constexpr std::chrono::seconds kRestoredWait{5};
  // When let_go_when_due() has something to do; nullopt: not any more.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> next_deadline() const {
    return held_.empty() ? std::nullopt : std::optional(held_until_);
  }
  void let_go_when_due();

  // The domain ends. What the next owner needs stays where there is to be one; it goes where nothing is left that it
  // could take over.
  void end();

 private:
  void write_down_in(Journal* journal);
  bool is_anything_to_take_over();

  Events& events_;
  Files& files_;
  EnableWords& enable_words_;
  StatusPages& pages_;
  RulesLink& rules_;
  abi::Version abi_;
  std::unique_ptr<Journal> journal_;
  Successor successor_ = Successor::kNone;
  std::string damage_;
  std::vector<std::uint32_t> held_;  // restored events, by slot
  std::chrono::steady_clock::time_point held_until_{};
};

}  // namespace landtrace::domain
