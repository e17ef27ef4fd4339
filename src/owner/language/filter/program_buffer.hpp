// A compiled filter before it lies where producers find it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "filter/program.hpp"

namespace landtrace::language {

// A program that owns its bytes. Copy them to where they are to be used, at an address that is a multiple of 8.
class ProgramBuffer {
 public:
  explicit ProgramBuffer(std::vector<std::uint64_t> words) : words_(std::move(words)) {}

  [[nodiscard]] const filter::Program& program() const {
    return *reinterpret_cast<const filter::Program*>(words_.data());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace landtrace::language
