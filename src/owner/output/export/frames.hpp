// Stacks of exported events: each different one is kept once, and its frames are named when they are wanted.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/stack/user_stack.hpp"

namespace landtrace::output {

struct Frame {
  std::string name;  // a function, else "[object+0x12]", else an address
  std::string file;  // the object's; empty: not known
};

class Frames {
 public:
  void add(const MappedObject& object) { names_.objects().add(object); }

  // The same number for the same stack of the same process.
  std::uint32_t number(const UserStack& stack);
  // The nearest caller first.
  std::vector<Frame> named(std::uint32_t number);

 private:
  symbols::Symbols symbols_;
  StackNames names_{&symbols_};
  std::unordered_map<std::string, std::uint32_t> numbers_;  // by process and addresses, as bytes
  std::vector<UserStack> stacks_;
};

}  // namespace landtrace::output
