// What is left to do of a write that is not done in one turn.
//
//   write("1")  --->  begun: 0 bytes taken  --->  the same bytes again  --->  …  --->  done: all bytes taken
//                                     others have the domain in between
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "domain/turn.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class Work {
 public:
  virtual ~Work() = default;
  // Some more of it. True: it is done.
  virtual Result<bool> go_on(const domain::Turn& turn) = 0;
};

// Of one open file, whose writer comes again with what was not taken.
class Rest {
 public:
  // Whether this is what was begun and is not done.
  [[nodiscard]] bool is_of(std::string_view text) const { return work_ && text == text_; }
  [[nodiscard]] bool any() const { return work_ != nullptr; }

  // What was begun before ends in the middle: its writer has thought better of it.
  Result<bool> begin(std::string_view text, std::unique_ptr<Work> work) {
    work_ = std::move(work);
    text_ = text;
    return go_on();
  }
  Result<bool> go_on() {
    const domain::Turn turn;
    auto done = work_->go_on(turn);
    if (!done || *done) work_.reset();
    return done;
  }

 private:
  std::string text_;
  std::unique_ptr<Work> work_;
};

// For what runs line by line: kNotYet where it is not done.
inline Result<void> done_or_not_yet(const Result<bool>& done) {
  if (!done) return tl::unexpected<Error>(done.error());
  return *done ? Result<void>() : fail(kNotYet);
}

}  // namespace landtrace::tracefs
