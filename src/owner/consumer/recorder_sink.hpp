// Where what is recorded goes: a file, lines on standard output. A Recording fills it.
#pragma once

#include <optional>

#include "consumer/sink.hpp"

namespace landtrace::consumer {

class RecorderSink : public Sink {
 public:
  // Why nothing more is taken: a full disk. EPIPE: nobody reads any more, which ends the recording without a word.
  [[nodiscard]] virtual const std::optional<Error>& failure() const = 0;
  // Events.
  [[nodiscard]] virtual std::uint64_t written() const = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const { return 0; }
  // Nothing follows.
  virtual Result<void> finish() = 0;
};

}  // namespace landtrace::consumer
