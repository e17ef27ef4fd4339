// What the handlers of a histogram (onmatch, onmax, onchange) do at an event: trace, save, snapshot.
#pragma once

#include "hist/operands.hpp"

namespace landtrace::hist {

void run_actions(const HistPlan& plan, Table& table, const Operands& operands, Surroundings& surroundings,
                 std::byte* element);

// Puts a text or a stack into an element.
void store_large(const Operands& operands, const Operand& operand, std::byte* to);

}  // namespace landtrace::hist
