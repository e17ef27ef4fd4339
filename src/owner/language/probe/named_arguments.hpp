// Arguments of probes that are names of the program's source: "id", "req->status", "$params", and "$retval", whose type
// the source knows. Debugging information says how each is fetched; what comes out is read as if it had been written.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "language/probe/command_words.hpp"

namespace landtrace::language {

struct NamedFetch {
  std::string name;   // "status", unless the user has given another
  std::string fetch;  // "+8(%si):s32"
};
// The error is a sentence.
using NamedFetches = tl::expected<std::vector<NamedFetch>, std::string>;

// Of each expression; the error is why nothing is known of any: there is no debugging information.
using AllNamedFetches = tl::expected<std::vector<NamedFetches>, std::string>;

// Those of the command's arguments, in their order.
std::vector<std::string> named_expressions(const CommandWords& words, bool is_return);

// All of the command's arguments. `named`: what each of `expressions` is.
AcceptedProbe<std::vector<ProbeArgument>> parse_named_arguments(const CommandWords& words, const FetchScope& scope,
                                                                const std::vector<std::string>& expressions,
                                                                const AllNamedFetches& named);

}  // namespace landtrace::language
