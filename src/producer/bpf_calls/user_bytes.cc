#include "bpf_calls/user_bytes.hpp"

#include <sys/uio.h>

#include "base/system_call.hpp"

namespace landtrace::bpf_calls {
namespace {

bool move(long call, const void* own, std::uint64_t other, std::size_t size) {
  if (size == 0) return true;
  const iovec local{const_cast<void*>(own), size};
  const iovec remote{reinterpret_cast<void*>(other), size};
  const long self = system_call(SYS_getpid);
  return system_call(call, self, &local, 1L, &remote, 1L, 0L) == static_cast<long>(size);
}

}  // namespace

bool copy_from_user(void* to, std::uint64_t from, std::size_t size) {
  return move(SYS_process_vm_readv, to, from, size);
}
bool copy_to_user(std::uint64_t to, const void* from, std::size_t size) {
  return move(SYS_process_vm_writev, from, to, size);
}

}  // namespace landtrace::bpf_calls
