#include "verifier/helper_rules.hpp"

#include <linux/bpf.h>

#include <algorithm>
#include <iterator>

#include "verifier/bpf_names.hpp"

namespace landtrace::verifier {
namespace {

using enum Argument;

constexpr std::uint64_t kinds() { return 0; }
template <typename... Rest>
constexpr std::uint64_t kinds(std::uint32_t first, Rest... rest) {
  return 1ull << first | kinds(rest...);
}

constexpr std::uint64_t kWithValues = kinds(kHash, kArray, kPercpuHash, kPercpuArray, kLruHash);
constexpr std::uint64_t kRings = kinds(kRingbuf);

constexpr HelperRule kRules[] = {
    {BPF_FUNC_map_lookup_elem, "map_lookup_elem", {kMap, kKey}, Returns::kMapValueOrNull, kWithValues},
    {BPF_FUNC_map_update_elem, "map_update_elem", {kMap, kKey, kValue, kNumber}, Returns::kNumber, kWithValues},
    {BPF_FUNC_map_delete_elem, "map_delete_elem", {kMap, kKey}, Returns::kNumber, kWithValues},
    {BPF_FUNC_probe_read, "probe_read", {kWritten, kSizeOrZero, kAnything}, Returns::kNumber, 0},
    {BPF_FUNC_probe_read_user, "probe_read_user", {kWritten, kSizeOrZero, kAnything}, Returns::kNumber, 0},
    {BPF_FUNC_probe_read_kernel, "probe_read_kernel", {kWritten, kSizeOrZero, kAnything}, Returns::kNumber, 0},
    {BPF_FUNC_probe_read_str, "probe_read_str", {kWritten, kSizeOrZero, kAnything}, Returns::kNumber, 0},
    {BPF_FUNC_probe_read_user_str, "probe_read_user_str", {kWritten, kSizeOrZero, kAnything}, Returns::kNumber, 0},
    {BPF_FUNC_probe_read_kernel_str, "probe_read_kernel_str", {kWritten, kSizeOrZero, kAnything}, Returns::kNumber, 0},
    {BPF_FUNC_ktime_get_ns, "ktime_get_ns", {}, Returns::kNumber, 0},
    {BPF_FUNC_ktime_get_boot_ns, "ktime_get_boot_ns", {}, Returns::kNumber, 0},
    {BPF_FUNC_ktime_get_coarse_ns, "ktime_get_coarse_ns", {}, Returns::kNumber, 0},
    {BPF_FUNC_get_current_pid_tgid, "get_current_pid_tgid", {}, Returns::kNumber, 0},
    {BPF_FUNC_get_current_uid_gid, "get_current_uid_gid", {}, Returns::kNumber, 0},
    {BPF_FUNC_get_current_comm, "get_current_comm", {kWritten, kSize}, Returns::kNumber, 0},
    {BPF_FUNC_get_smp_processor_id, "get_smp_processor_id", {}, Returns::kNumber, 0},
    {BPF_FUNC_get_prandom_u32, "get_prandom_u32", {}, Returns::kNumber, 0},
    {BPF_FUNC_get_stackid, "get_stackid", {kContext, kMap, kNumber}, Returns::kNumber, kinds(kStackTrace)},
    {BPF_FUNC_trace_printk, "trace_printk", {kRead, kSize}, Returns::kNumber, 0},
    {BPF_FUNC_perf_event_output,
     "perf_event_output",
     {kContext, kMap, kNumber, kRead, kSizeOrZero},
     Returns::kNumber,
     kinds(kPerfEventArray)},
    {BPF_FUNC_ringbuf_output, "ringbuf_output", {kMap, kRead, kSizeOrZero, kNumber}, Returns::kNumber, kRings},
    {BPF_FUNC_ringbuf_reserve, "ringbuf_reserve", {kMap, kRecordSize, kNumber}, Returns::kRecordOrNull, kRings},
    {BPF_FUNC_ringbuf_submit, "ringbuf_submit", {kRecord, kNumber}, Returns::kNumber, 0},
    {BPF_FUNC_ringbuf_discard, "ringbuf_discard", {kRecord, kNumber}, Returns::kNumber, 0},
    {BPF_FUNC_ringbuf_query, "ringbuf_query", {kMap, kNumber}, Returns::kNumber, kRings},
};

}  // namespace

const HelperRule* find_helper_rule(std::uint32_t number) {
  const auto* const found =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const HelperRule& rule) { return rule.number == number; });
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace landtrace::verifier
