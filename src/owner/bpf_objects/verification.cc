#include "bpf_objects/verification.hpp"

#include <linux/bpf.h>

#include "bpf/windows.hpp"
#include "bpf_code/compile.hpp"

namespace landtrace::bpf_objects {
namespace {

// References to maps are numbers of windows and handles from here on.
std::vector<bpf::Instruction> with_places(std::span<const bpf::Instruction> code) {
  std::vector<bpf::Instruction> placed(code.begin(), code.end());
  for (std::size_t i = 0; i + 1 < placed.size(); ++i) {
    bpf::Instruction& one = placed[i];
    if (one.code != bpf::kLoadConstant) continue;
    bpf::Instruction& second = placed[++i];
    const auto map = static_cast<std::uint32_t>(one.imm);
    std::uint64_t value = 0;
    if (one.src_reg == BPF_PSEUDO_MAP_FD) {
      value = bpf::map_handle(map);
    } else if (one.src_reg == BPF_PSEUDO_MAP_VALUE) {
      value = bpf::window_address(bpf::kFirstMapWindow + map, static_cast<std::uint32_t>(second.imm));
    } else {
      continue;
    }
    one.src_reg = 0;
    one.imm = static_cast<std::int32_t>(value);
    second.imm = static_cast<std::int32_t>(value >> 32);
  }
  return placed;
}

}  // namespace

void Verification::run() {
  verdict_ = verifier::verify(wish_.code, wish_.maps, wish_.context, wish_.log_level);
  std::string& log = verdict_.log;
  if (log.size() > wish_.max_log) log = log.substr(log.size() - wish_.max_log);
  if (verdict_.accepted) {
    placed_ = with_places(wish_.code);
    if (wish_.makes_code) machine_code_ = bpf_code::compile({placed_, wish_.maps, verdict_.frames, wish_.context});
  }
  is_done_.store(true, std::memory_order_release);  // pairs with the acquire load in is_done()
}

}  // namespace landtrace::bpf_objects
