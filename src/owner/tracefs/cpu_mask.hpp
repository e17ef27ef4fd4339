// A set of CPUs, as the kernel writes one: hexadecimal, in groups of 32 bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace landtrace::tracefs {

class CpuMask {
 public:
  // All CPUs.
  explicit CpuMask(std::size_t cpus) : cpus_(cpus), digits_((cpus + 3) / 4, 0xf) { trim(); }

  // Groups of hexadecimal digits, separated by commas or white space; an empty text is no CPU. EINVAL for anything
  // else, EOVERFLOW for a CPU that the machine cannot have. On failure the mask is unchanged.
  Result<void> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool has(std::size_t cpu) const { return cpu < cpus_ && (digits_[cpu / 4] >> (cpu % 4) & 1) != 0; }

 private:
  void trim();

  std::size_t cpus_;
  std::vector<unsigned> digits_;  // of four CPUs each, the first ones first
};

}  // namespace landtrace::tracefs
