// When a process calls exec, where the proc connector does not tell: by a dummy event of the kernel's, which the
// program does not see. A process of one's own can have one also in a container, as a user.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fd.hpp"
#include "base/mapping.hpp"

namespace landtrace::perf {

class ExecWatch {
 public:
  // nullopt: the kernel refuses it.
  static std::optional<ExecWatch> open(std::uint32_t tid);

  // When it called exec first since open(), by CLOCK_MONOTONIC.
  [[nodiscard]] std::optional<std::uint64_t> first_exec_ns();

 private:
  ExecWatch(Fd event, Mapping memory) : event_(std::move(event)), memory_(std::move(memory)) {}

  Fd event_;
  Mapping memory_;
};

}  // namespace landtrace::perf
