#include "output/export/frames.hpp"

#include <fmt/format.h>

#include "symbols/short_name.hpp"

namespace landtrace::output {

std::uint32_t Frames::number(const UserStack& stack) {
  std::string key(reinterpret_cast<const char*>(&stack.tgid), sizeof stack.tgid);
  key.append(reinterpret_cast<const char*>(stack.caller.data()), stack.caller.size() * sizeof(std::uint64_t));
  const auto [known, is_new] = numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(stacks_.size()));
  if (is_new) stacks_.push_back(stack);
  return known->second;
}

std::vector<Frame> Frames::named(std::uint32_t number) {
  const UserStack& stack = stacks_.at(number);
  std::vector<Frame> frames;
  for (const std::uint64_t address : stack.caller) {
    const StackNames::Place place = names_.find(stack.tgid, address, stack.time_ns, frames.empty());
    Frame frame;
    if (place.object != nullptr) frame.file = place.object->path;
    if (place.function) {
      frame.name = symbols::short_name(place.function->name);
    } else if (place.object != nullptr) {
      frame.name = fmt::format("[{}+{:#x}]", frame.file.substr(frame.file.rfind('/') + 1), place.offset);
    } else {
      frame.name = fmt::format("{:#x}", address);
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace landtrace::output
