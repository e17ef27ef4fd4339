// For tests that look at what happens while a long text is being made.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "rules/long_reads.hpp"

namespace landtrace::rules {

// A text that is being made until it is let go on, or given up; all others wait behind it.
class HeldUp {
 public:
  // With the domain held, as take() is called.
  explicit HeldUp(LongReads& reads) : text_(reads.begin(std::make_unique<Held>(begun_, may_end_.get_future()))) {}

  void wait_until_begun() { begun_.get_future().wait(); }
  void let_go_on() { may_end_.set_value(); }
  [[nodiscard]] LongReads::Awaited& text() { return *text_; }
  void give_up() { text_.reset(); }

 private:
  class Held final : public LongReads::Source {
   public:
    Held(std::promise<void>& begun, std::future<void> may_end) : begun_(begun), may_end_(std::move(may_end)) {}
    std::string make(const std::stop_token& given_up) override {
      begun_.set_value();
      while (!given_up.stop_requested()) {
        if (may_end_.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready) break;
      }
      return "held up";
    }

   private:
    std::promise<void>& begun_;
    std::future<void> may_end_;
  };

  std::promise<void> begun_;
  std::promise<void> may_end_;
  std::unique_ptr<LongReads::Awaited> text_;
};

// Waits, without holding the domain.
inline Result<std::string> wait_for(Domain& domain, LongReads::Awaited& text) {
  while (true) {
    {
      const auto access = domain.enter();
      if (text.is_there()) return text.take();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace landtrace::rules
