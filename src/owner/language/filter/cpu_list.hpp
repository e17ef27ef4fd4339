// A list of CPUs as the kernel takes it: "0-3,8", "all", "N" for the last, "0-15:2/4" for two of every four.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace landtrace::language {

// A bit per CPU.
class CpuMask {
 public:
  explicit CpuMask(std::uint32_t cpus) : bytes_((cpus + 7) / 8) {}

  void add(std::uint32_t cpu) { bytes_[cpu / 8] |= static_cast<std::byte>(1u << cpu % 8); }
  [[nodiscard]] bool has(std::uint32_t cpu) const {
    return cpu / 8 < bytes_.size() && (bytes_[cpu / 8] & static_cast<std::byte>(1u << cpu % 8)) != std::byte{0};
  }
  // The CPU when there is just one.
  [[nodiscard]] std::optional<std::uint32_t> only() const;
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// nullopt when it is not such a list or names a CPU that is not below `cpus`. A list may be empty.
std::optional<CpuMask> parse_cpu_list(std::string_view text, std::uint32_t cpus);

}  // namespace landtrace::language
