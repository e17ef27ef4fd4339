#include "bpf/helpers.hpp"

namespace landtrace::bpf {
namespace {

struct Table {
  constexpr Table() {
    at[BPF_FUNC_map_lookup_elem] = helpers::map_lookup;
    at[BPF_FUNC_map_update_elem] = helpers::map_update;
    at[BPF_FUNC_map_delete_elem] = helpers::map_delete;
    at[BPF_FUNC_probe_read] = helpers::probe_read;
    at[BPF_FUNC_probe_read_user] = helpers::probe_read;
    at[BPF_FUNC_probe_read_kernel] = helpers::probe_read;
    at[BPF_FUNC_probe_read_str] = helpers::probe_read_str;
    at[BPF_FUNC_probe_read_user_str] = helpers::probe_read_str;
    at[BPF_FUNC_probe_read_kernel_str] = helpers::probe_read_str;
    at[BPF_FUNC_ktime_get_ns] = helpers::ktime_get_ns;
    at[BPF_FUNC_ktime_get_boot_ns] = helpers::ktime_get_ns;
    at[BPF_FUNC_ktime_get_coarse_ns] = helpers::ktime_get_ns;
    at[BPF_FUNC_get_current_pid_tgid] = helpers::get_current_pid_tgid;
    at[BPF_FUNC_get_current_uid_gid] = helpers::get_current_uid_gid;
    at[BPF_FUNC_get_current_comm] = helpers::get_current_comm;
    at[BPF_FUNC_get_smp_processor_id] = helpers::get_smp_processor_id;
    at[BPF_FUNC_get_prandom_u32] = helpers::get_prandom_u32;
    at[BPF_FUNC_get_stackid] = helpers::get_stackid;
    at[BPF_FUNC_trace_printk] = helpers::trace_printk;
    at[BPF_FUNC_perf_event_output] = helpers::perf_event_output;
    at[BPF_FUNC_ringbuf_output] = helpers::ringbuf_output;
    at[BPF_FUNC_ringbuf_reserve] = helpers::ringbuf_reserve;
    at[BPF_FUNC_ringbuf_submit] = helpers::ringbuf_submit;
    at[BPF_FUNC_ringbuf_discard] = helpers::ringbuf_discard;
    at[BPF_FUNC_ringbuf_query] = helpers::ringbuf_query;
  }
  Helper at[kHelperLimit]{};
};

constexpr Table kTable;

}  // namespace

const Helper* helper_table() { return kTable.at; }

Helper find_helper(std::uint32_t number) { return number < kHelperLimit ? kTable.at[number] : nullptr; }

}  // namespace landtrace::bpf
