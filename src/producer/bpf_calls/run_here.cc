#include "bpf_calls/run_here.hpp"

#include <cerrno>
#include <cstddef>

#include "bpf_calls/user_bytes.hpp"
#include "client/process.hpp"
#include "plan/program.hpp"

namespace landtrace::bpf_calls {

long run_here(const Object& program, const void* context, std::uint64_t size, std::uint64_t& result) {
  const client::Place* const place = client::Process::place();
  if (place == nullptr) return -EAGAIN;
  const plan::Section section(*place->thread.slot);
  if (place->view.control != program.control || plan::owner_died(place->view)) return -ENODEV;
  // In the section: from here on the owner frees nothing. With another connection it may have let the program go, and
  // a forked child's is held for its parent.
  if (connection_now() != program.connection) return -ENODEV;
  const auto& shared = *plan::control_at<bpf::Program>(place->view, program.shared);
  const auto returned =
      plan::run_bpf_on(place->view, place->thread, shared, static_cast<const std::byte*>(context), size);
  if (!returned) return -EPERM;
  result = *returned;
  return 0;
}

long test_run(const Object& program, const bpf_attr& call, void* attributes) {
  constexpr long kNotSupported = 524;  // the kernel's ENOTSUPP
  if (program.type != BPF_PROG_TYPE_RAW_TRACEPOINT) return -kNotSupported;
  const auto& test = call.test;
  const bool has_other_wishes = test.data_in != 0 || test.data_out != 0 || test.ctx_out != 0 || test.repeat != 0 ||
                                test.duration != 0 || test.batch_size != 0;
  if (has_other_wishes || (test.flags & ~std::uint32_t{BPF_F_TEST_RUN_ON_CPU}) != 0) return -EINVAL;
  std::uint64_t words[bpf::kMaxWords] = {};
  if (test.ctx_size_in < program.context_size || test.ctx_size_in > sizeof words) return -EINVAL;
  if (!copy_from_user(words, test.ctx_in, test.ctx_size_in)) return -EFAULT;
  std::uint64_t result = 0;
  if (const long failed = run_here(program, words, test.ctx_size_in, result); failed < 0) return failed;
  const auto returned = static_cast<std::uint32_t>(result);
  const auto at = reinterpret_cast<std::uint64_t>(attributes) + offsetof(bpf_attr, test.retval);
  return copy_to_user(at, &returned, sizeof returned) ? 0 : -EFAULT;
}

}  // namespace landtrace::bpf_calls
