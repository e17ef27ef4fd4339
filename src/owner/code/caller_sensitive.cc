#include "code/caller_sensitive.hpp"

#include <algorithm>
#include <array>

namespace landtrace::code {
using namespace std::string_view_literals;

namespace {

// Without underscores in front. Sorted.
constexpr std::array kSeeTheirCaller{
    "Unwind_Backtrace"sv,
    "Unwind_ForcedUnwind"sv,
    "Unwind_RaiseException"sv,
    "Unwind_Resume"sv,
    "Unwind_Resume_or_Rethrow"sv,
    "clone"sv,
    "clone2"sv,
    "clone3"sv,
    "clone_internal"sv,
    "dl_iterate_phdr"sv,
    "dlinfo"sv,
    "dlmopen"sv,
    "dlopen"sv,
    "dlsym"sv,
    "dlvsym"sv,
    "fentry__"sv,
    "getcontext"sv,
    "libc_dlopen_mode"sv,
    "libc_dlsym"sv,
    "libc_dlvsym"sv,
    "libc_vfork"sv,
    "makecontext"sv,
    "mcount"sv,
    "morestack"sv,
    "rfork"sv,
    "savectx"sv,
    "setcontext"sv,
    "setjmp"sv,
    "sigsetjmp"sv,
    "swapcontext"sv,
    "vfork"sv,
};
static_assert(std::is_sorted(kSeeTheirCaller.begin(), kSeeTheirCaller.end()));

std::string_view without_underscores(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('_'), name.size()));
}

// A symbol's version follows an @.
std::string_view without_version(std::string_view name) { return name.substr(0, name.find('@')); }

}  // namespace

bool sees_its_caller(std::string_view name) {
  name = without_underscores(without_version(name));
  // Retpolines: x86_indirect_thunk_rax, x86_return_thunk.
  if (name.starts_with("x86_indirect_thunk") || name.starts_with("x86_return_thunk")) return true;
  return std::binary_search(kSeeTheirCaller.begin(), kSeeTheirCaller.end(), name);
}

bool has_no_return_address(std::string_view name) {
  name = without_underscores(without_version(name));
  return name == "start" || name == "restore_rt" || name == "thread_start" || name == "dl_start_user" ||
         name == "start_context" || name.starts_with("dl_runtime_resolve") || name.starts_with("dl_runtime_profile");
}

}  // namespace landtrace::code
