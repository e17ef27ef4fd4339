#include "perf/kernel_output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/fd.hpp"
#include "base/system_call.hpp"

namespace landtrace::perf {
namespace {

constexpr std::string_view kEventName = "anon_inode:[perf_event]";
// What the kernel has here waits for no one: as large a ring as a user may lock.
constexpr std::size_t kMostPages = 64;

std::byte* map(int fd, std::size_t size) {
  const long mapped = system_call(SYS_mmap, 0L, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapped < 0 && mapped > -static_cast<long>(MappedRing::kPage) ? nullptr : reinterpret_cast<std::byte*>(mapped);
}

// Whether a perf event is mapped there: the program may have unmapped it since.
bool maps_event(const void* address, std::size_t size) {
  const auto text = read_file("/proc/self/maps");
  if (!text) return false;
  const std::string begins = fmt::format("{:08x}-{:08x} ", reinterpret_cast<std::uintptr_t>(address),
                                         reinterpret_cast<std::uintptr_t>(address) + size);
  const std::size_t at = text->find(begins);
  if (at == std::string::npos) return false;
  const std::size_t name = text->find(kEventName, at);
  return name != std::string::npos && name < text->find('\n', at);
}

}  // namespace

bool is_kernel_event(int fd) {
  char name[64] = {};
  std::ignore = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), name, sizeof name - 1);
  return std::string_view(name) == kEventName;
}

void KernelOutput::mapped(int fd, void* address, std::size_t size) {
  if (!is_kernel_event(fd)) return;
  mapped_[fd] = {static_cast<std::byte*>(address), size, {}};
}

Result<void> KernelOutput::take_over(int fd, const std::shared_ptr<OutputRing>& to,
                                     const std::optional<Renumbering>& as) {
  for (std::size_t pages = kMostPages; pages > 0; pages /= 2) {
    const std::size_t size = (pages + 1) * MappedRing::kPage;
    std::byte* const address = map(fd, size);
    if (address == nullptr) continue;
    join(address, size, as, to);
    return {};
  }
  return fail(EPERM);
}

// The kernel's ring is moved out of the program's sight, and ours is put there.
Result<std::shared_ptr<OutputRing>> KernelOutput::replace_memory(int fd) {
  const auto found = mapped_.find(fd);
  if (found == mapped_.end()) return fail(EINVAL);
  Mapped& mapped = found->second;
  if (auto known = mapped.replaced.lock()) return known;
  if (!maps_event(mapped.address, mapped.size)) return fail(EINVAL);
  LT_TRY(std::shared_ptr<MappedRing> memory, MappedRing::create(mapped.size / MappedRing::kPage - 1, {}));
  void* const room = ::mmap(nullptr, mapped.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return fail_errno("mmap");
  void* const moved = ::mremap(mapped.address, mapped.size, mapped.size, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  if (moved == MAP_FAILED) return fail_errno("mremap");
  const long placed = system_call(SYS_mmap, mapped.address, mapped.size, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED, memory->fd(), 0);
  if (placed != reinterpret_cast<long>(mapped.address)) return fail(ENOMEM);
  auto output = std::make_shared<OutputRing>(std::move(memory));
  join(static_cast<std::byte*>(moved), mapped.size, std::nullopt, output);
  mapped.replaced = output;
  return output;
}

void KernelOutput::join(std::byte* address, std::size_t size, std::optional<Renumbering> as,
                        const std::shared_ptr<OutputRing>& to) {
  to->join(std::make_unique<KernelRing>(address, size, as));
  const auto is_it = [&](const std::weak_ptr<OutputRing>& one) { return one.lock() == to; };
  if (std::none_of(outputs_.begin(), outputs_.end(), is_it)) outputs_.push_back(to);
}

void KernelOutput::look() {
  std::erase_if(outputs_, [](const std::weak_ptr<OutputRing>& one) { return one.expired(); });
  for (const auto& one : outputs_) one.lock()->look_at_kernel();
}

bool KernelOutput::copy_rest() {
  bool any = false;
  for (const auto& one : outputs_) {
    if (const auto output = one.lock()) any |= output->copy_kernel_rest();
  }
  return any;
}

// The kernel does not hand these mappings on to children.
void KernelOutput::forget() {
  for (const auto& one : outputs_) {
    if (const auto output = one.lock()) output->forget_kernel();
  }
  outputs_.clear();
  mapped_.clear();
}

}  // namespace landtrace::perf
