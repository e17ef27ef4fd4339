// The tests run what is compiled: only on the machine that it is compiled for.
#include <gtest/gtest.h>

#include "bpf_code/compile.hpp"

namespace landtrace::bpf_code {
namespace {

class OnlyWhereItIsCompiledFor : public testing::Environment {
 public:
  void SetUp() override {
    if (!can_compile()) GTEST_SKIP() << "SKIPPED: eBPF programs are compiled for x86-64 only";
  }
};

// gtest deletes it.
[[maybe_unused]] const testing::Environment* const environment =
    testing::AddGlobalTestEnvironment(new OnlyWhereItIsCompiledFor);

}  // namespace
}  // namespace landtrace::bpf_code
