#include "pretended_kernel.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/system_call.hpp"
#include "bpf_objects/map_shape.hpp"

namespace landtrace::verifier_cases {
namespace {

constexpr std::uint32_t kCpus = 2;

long some_descriptor() {
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

// Calls what follows it with its own context, and returns 0.
constexpr bpf::Instruction kCaller[] = {
    {bpf::kCall, 0, BPF_PSEUDO_CALL, 0, 2}, {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {bpf::kExit, 0, 0, 0, 0}};

verifier::Verdict refusal(std::string reason) {
  verifier::Verdict verdict;
  verdict.error = EINVAL;
  verdict.reason = std::move(reason);
  return verdict;
}

bool names_a_map(const bpf::Instruction& one) {
  return one.code == bpf::kLoadConstant && (one.src_reg == BPF_PSEUDO_MAP_FD || one.src_reg == BPF_PSEUDO_MAP_VALUE);
}

}  // namespace

PretendedKernel& PretendedKernel::get() {
  static PretendedKernel one;
  return one;
}

void PretendedKernel::ask_about(const char* name, bpf::Context context, unsigned log_level) {
  name_ = std::string(name).substr(0, BPF_OBJ_NAME_LEN - 1);
  context_ = context;
  log_level_ = log_level;
  verdict_.reset();
  called_.reset();
  maps_.clear();
}

long PretendedKernel::create_map(const bpf_attr& call) {
  const long fd = some_descriptor();
  if (fd < 0) return fd;
  const bpf_objects::MapWish wish{call.map_type, call.key_size, call.value_size, call.max_entries, call.map_flags};
  const auto shape = bpf_objects::shape_map(wish, kCpus);
  maps_[static_cast<int>(fd)] = shape ? std::optional(*shape) : std::nullopt;
  return fd;
}

void PretendedKernel::verify(const bpf_attr& call) {
  const auto* const first = reinterpret_cast<const bpf::Instruction*>(call.insns);
  std::vector<bpf::Instruction> code(first, first + call.insn_cnt);
  std::vector<int> fds;
  std::vector<bpf::MapLayout> layouts;
  for (std::size_t i = 0; i + 1 < code.size(); ++i) {
    if (!names_a_map(code[i])) continue;
    bpf::Instruction& one = code[i++];
    const auto map = maps_.find(one.imm);
    if (map == maps_.end() || !map->second) {
      verdict_ = refusal(map == maps_.end() ? "no descriptor of a map" : "a map of a kind that is not known here");
      return;
    }
    auto place = std::find(fds.begin(), fds.end(), one.imm);
    if (place == fds.end()) {
      layouts.push_back(*map->second);
      place = fds.insert(fds.end(), one.imm);
    }
    one.imm = static_cast<int>(place - fds.begin());
  }
  verdict_ = verifier::verify(code, layouts, context_, log_level_);
  if (verdict_->reason.find("as return value") == std::string::npos) return;
  code.insert(code.begin(), std::begin(kCaller), std::end(kCaller));
  called_ = verifier::verify(code, layouts, context_, log_level_);
}

long PretendedKernel::load(const bpf_attr& call) {
  if (name_ != call.prog_name) return some_descriptor();
  verify(call);
  return verdict_->accepted ? some_descriptor() : -verdict_->error;
}

long PretendedKernel::answer(int command, const bpf_attr& call) {
  switch (command) {
    case BPF_MAP_CREATE:
      return create_map(call);
    case BPF_PROG_LOAD:
      return load(call);
    case BPF_BTF_LOAD:
      return some_descriptor();
    case BPF_MAP_UPDATE_ELEM:
    case BPF_MAP_FREEZE:
    case BPF_PROG_BIND_MAP:
      return 0;
    default:
      return -EINVAL;
  }
}

}  // namespace landtrace::verifier_cases

// libbpf's calls of bpf() come here.
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  long x[6];
  for (long& one : x) one = va_arg(list, long);
  va_end(list);
  long result = 0;
  if (number == SYS_bpf) {
    bpf_attr call{};
    std::memcpy(&call, reinterpret_cast<const void*>(x[1]), std::min(sizeof call, static_cast<std::size_t>(x[2])));
    result = landtrace::verifier_cases::PretendedKernel::get().answer(static_cast<int>(x[0]), call);
  } else {
    result = landtrace::system_call(number, x[0], x[1], x[2], x[3], x[4], x[5]);
  }
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}
