#include "language/probe/registers.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace landtrace::language {
namespace {

constexpr std::array<std::pair<std::string_view, agent::Register>, 18> kRegisterNames{{{"ax", agent::kRax},
                                                                                       {"bx", agent::kRbx},
                                                                                       {"cx", agent::kRcx},
                                                                                       {"dx", agent::kRdx},
                                                                                       {"si", agent::kRsi},
                                                                                       {"di", agent::kRdi},
                                                                                       {"bp", agent::kRbp},
                                                                                       {"sp", agent::kRsp},
                                                                                       {"ip", agent::kRip},
                                                                                       {"flags", agent::kRflags},
                                                                                       {"r8", agent::kR8},
                                                                                       {"r9", agent::kR9},
                                                                                       {"r10", agent::kR10},
                                                                                       {"r11", agent::kR11},
                                                                                       {"r12", agent::kR12},
                                                                                       {"r13", agent::kR13},
                                                                                       {"r14", agent::kR14},
                                                                                       {"r15", agent::kR15}}};

// What a 64-bit program has in them always; and of a system call there is none.
constexpr std::array<std::pair<std::string_view, std::uint64_t>, 3> kConstants{
    {{"cs", 0x33}, {"ss", 0x2b}, {"orig_ax", ~0ull}}};

template <typename Names>
auto find_name(const Names& names, std::string_view name) {
  return std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.first == name; });
}

}  // namespace

bool set_register(Fetch& fetch, std::string_view name) {
  if (const auto* const found = find_name(kRegisterNames, name); found != kRegisterNames.end()) {
    fetch.source = Fetch::Source::kRegister;
    fetch.reg = found->second;
    return true;
  }
  const auto* const constant = find_name(kConstants, name);
  if (constant == kConstants.end()) return false;
  fetch.source = Fetch::Source::kNumber;
  fetch.number = constant->second;
  return true;
}

}  // namespace landtrace::language
