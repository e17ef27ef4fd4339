// From a hit to the plan: what the agent's stubs lead to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::agent_object {

// What the agent's thread runs on.
struct Stack {
  std::byte* begin;
  std::size_t size;
};
[[nodiscard]] const Stack& own_stack();

// The agent's handlers are these from here on.
void lead_hits_to_plans();

// Of the slot whose number is the site's: of which place the agent's jump was meant to be. 0: of none.
void set_generation(std::uint32_t slot, std::uint32_t generation);
[[nodiscard]] std::uint32_t generation_of(std::uint32_t slot);

}  // namespace landtrace::agent_object
