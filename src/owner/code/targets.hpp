// Where an object's code jumps to, as far as the file says it: a bit for each byte of code.
//
// Too many bits refuse a probe that were possible, too few crash a program: what might be a target counts as one.
#pragma once

#include <cstdint>
#include <vector>

#include "code/image.hpp"

namespace landtrace::code {

class Targets {
 public:
  explicit Targets(const Image& image);

  // Something jumps, calls or returns there, or knows the address. Anything that is not code is ignored.
  void add_jump(std::uint64_t address) { set(address, &Part::jumps); }
  // Something calls it or knows its address: so it is a function's beginning, or a label that a program keeps.
  void add_call(std::uint64_t address) {
    set(address, &Part::jumps);
    set(address, &Part::calls);
  }
  [[nodiscard]] bool jumped_to(std::uint64_t address) const { return get(address, &Part::jumps); }
  [[nodiscard]] bool called(std::uint64_t address) const { return get(address, &Part::calls); }

 private:
  using Bits = std::vector<std::uint64_t>;
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Bits jumps, calls;
  };
  void set(std::uint64_t address, Bits Part::*which);
  [[nodiscard]] bool get(std::uint64_t address, Bits Part::*which) const;

  std::vector<Part> parts_;
};

// Addresses of code that the object's data holds: in relocations, and in a program that is loaded at a fixed address,
// in any aligned word.
void add_known_to_data(Reader& reader, const Image& image, bool is_fixed, Targets& targets);

}  // namespace landtrace::code
