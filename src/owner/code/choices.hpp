// What an ifunc may choose: a function that the dynamic linker calls to learn which function its name is to mean.
#pragma once

#include <vector>

#include "code/functions.hpp"

namespace landtrace::code {

// The beginnings of the file's functions whose addresses the chooser's code takes, which are those that it may return:
// which of them it returns depends on the processor. Ascending, without those that are choosers themselves.
std::vector<std::uint64_t> choices_of(Reader& reader, const Functions& functions, const Function& chooser);

}  // namespace landtrace::code
