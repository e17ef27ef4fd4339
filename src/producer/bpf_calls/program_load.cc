#include "bpf_calls/program_load.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "bpf/instruction.hpp"
#include "bpf_calls/ask.hpp"
#include "bpf_calls/user_bytes.hpp"
#include "client/process.hpp"
#include "ipc/bpf_requests.hpp"

namespace landtrace::bpf_calls {
namespace {

using bpf::Instruction;

// The owner's numbers of the maps that the instructions name, and places in that list instead of descriptors.
class MapNumbers {
 public:
  explicit MapNumbers(std::uint64_t fd_array) : fd_array_(fd_array) {}

  long replace(std::vector<Instruction>& code) {
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
      if (code[i].code != bpf::kLoadConstant) continue;
      Instruction& one = code[i++];
      int fd = one.imm;
      switch (one.src_reg) {
        case BPF_PSEUDO_MAP_FD:
        case BPF_PSEUDO_MAP_VALUE:
          break;
        case BPF_PSEUDO_MAP_IDX:
        case BPF_PSEUDO_MAP_IDX_VALUE:
          if (!copy_from_user(&fd, fd_array_ + static_cast<std::uint32_t>(one.imm) * sizeof fd, sizeof fd))
            return -EFAULT;
          one.src_reg = one.src_reg == BPF_PSEUDO_MAP_IDX ? BPF_PSEUDO_MAP_FD : BPF_PSEUDO_MAP_VALUE;
          break;
        default:
          continue;
      }
      const long place = place_of(fd);
      if (place < 0) return place;
      one.imm = static_cast<int>(place);
    }
    return 0;
  }

  [[nodiscard]] const std::vector<std::uint32_t>& numbers() const { return numbers_; }

 private:
  long place_of(int fd) {
    const ObjectRef map = Objects::get().find(fd, Kind::kMap);
    if (map == nullptr) return -EBADF;
    const auto found = std::find(numbers_.begin(), numbers_.end(), map->number);
    if (found != numbers_.end()) return found - numbers_.begin();
    if (numbers_.size() == bpf::kMaxMaps) return -E2BIG;
    numbers_.push_back(map->number);
    return static_cast<long>(numbers_.size()) - 1;
  }

  std::uint64_t fd_array_;
  std::vector<std::uint32_t> numbers_;
};

// A load is several requests on the connection that all threads share.
pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

class Loading {
 public:
  Loading() { ::pthread_mutex_lock(&loading); }
  ~Loading() { ::pthread_mutex_unlock(&loading); }
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;
};

Result<ipc::Answer> ask(const ipc::Request& request, std::string_view text = {}) {
  return client::Process::get().ask(request, text);
}

template <typename T>
void append(std::string& bytes, const T* from, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(from), count * sizeof(T));
}

// 0, or a negative errno.
long send_code(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += ipc::kMaxText) {
    const std::string_view piece = std::string_view(bytes).substr(at, ipc::kMaxText);
    const auto taken = ask({.operation = ipc::Operation::kBpfCode, .a = at}, piece);
    if (!taken) return -taken.error().code;
  }
  return 0;
}

// The log with its NUL, as much as there is room for: its end, where the reason stands, or with BPF_LOG_FIXED its
// beginning. -ENOSPC where that is not all.
long copy_log(const bpf_attr& call) {
  constexpr std::uint32_t kLogFixed = 8;
  if (call.log_level == 0 || call.log_buf == 0 || call.log_size == 0) return 0;
  const std::size_t room = call.log_size - 1;
  std::string log;
  std::size_t whole = 0, first = 0;
  for (bool is_first = true;; is_first = false) {
    auto piece = ask({.operation = ipc::Operation::kBpfLog, .a = first + log.size()});
    if (!piece) return -piece.error().code;
    whole = piece->reply.a;
    if (is_first && whole > room && (call.log_level & kLogFixed) == 0) {
      first = whole - room;
      if (first > 0) continue;
    }
    log += piece->text;
    if (piece->text.empty() || first + log.size() >= whole || log.size() >= room) break;
  }
  const bool fits = whole <= room;
  log.resize(std::min(log.size(), room));
  if (!copy_to_user(call.log_buf, log.c_str(), log.size() + 1)) return -EFAULT;
  return fits ? 0 : -ENOSPC;
}

}  // namespace

long load_program(const bpf_attr& call) {
  if (call.insn_cnt == 0 || call.insn_cnt > bpf::kMaxInstructions) return -E2BIG;
  std::vector<Instruction> code(call.insn_cnt);
  if (!copy_from_user(code.data(), call.insns, code.size() * sizeof(Instruction))) return -EFAULT;
  MapNumbers maps(call.fd_array);
  if (const long wrong = maps.replace(code); wrong < 0) return wrong;

  ipc::BpfProgramWish wish{
      call.insn_cnt, static_cast<std::uint32_t>(maps.numbers().size()), call.log_level, call.prog_type, {}};
  std::memcpy(wish.name, call.prog_name, sizeof wish.name);
  std::string bytes;
  append(bytes, &wish, 1);
  append(bytes, maps.numbers().data(), maps.numbers().size());
  append(bytes, code.data(), code.size());
  const Loading alone;
  if (const long wrong = send_code(bytes); wrong < 0) return wrong;
  const auto loaded = ask_patiently({.operation = ipc::Operation::kBpfLoad});
  // A log without room goes before the refusal: tools load again with more of it.
  const long logged = copy_log(call);
  if (!loaded) return logged < 0 ? logged : -loaded.error().code;
  Object program{.kind = Kind::kProgram, .number = static_cast<std::uint32_t>(loaded->reply.a)};
  if (logged < 0) {
    static_cast<void>(ask({.operation = ipc::Operation::kBpfDrop, .a = program.number}));
    return logged;
  }
  std::memcpy(program.name, call.prog_name, sizeof program.name);
  program.type = call.prog_type;
  program.control = client::Process::view().control;
  program.shared = static_cast<std::uint32_t>(loaded->reply.b);
  program.context_size = static_cast<std::uint32_t>(loaded->reply.b >> ipc::kBpfContextShift);
  program.instructions = call.insn_cnt;
  return Objects::get().add(program);
}

void loads_after_fork() { loading = PTHREAD_MUTEX_INITIALIZER; }

}  // namespace landtrace::bpf_calls
