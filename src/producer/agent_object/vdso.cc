#include "agent_object/vdso.hpp"

#include <dlfcn.h>

namespace landtrace::agent_object {
namespace {

constinit VdsoClock clock_there = nullptr;

}  // namespace

VdsoClock vdso_clock() { return clock_there; }

void find_vdso() {
  void* const vdso = ::dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (vdso == nullptr) return;
  clock_there = reinterpret_cast<VdsoClock>(::dlsym(vdso, "__vdso_clock_gettime"));
  ::dlclose(vdso);  // it stays
}

}  // namespace landtrace::agent_object
