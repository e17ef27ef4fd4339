#include "bpf/helpers.hpp"

namespace landtrace::bpf {
namespace {

constexpr HelperTable make_table() {
  HelperTable table{};
  table.at[BPF_FUNC_map_lookup_elem] = helpers::map_lookup;
  table.at[BPF_FUNC_map_update_elem] = helpers::map_update;
  table.at[BPF_FUNC_map_delete_elem] = helpers::map_delete;
  table.at[BPF_FUNC_probe_read] = helpers::probe_read;
  table.at[BPF_FUNC_probe_read_user] = helpers::probe_read;
  table.at[BPF_FUNC_probe_read_kernel] = helpers::probe_read;
  table.at[BPF_FUNC_probe_read_str] = helpers::probe_read_str;
  table.at[BPF_FUNC_probe_read_user_str] = helpers::probe_read_str;
  table.at[BPF_FUNC_probe_read_kernel_str] = helpers::probe_read_str;
  table.at[BPF_FUNC_ktime_get_ns] = helpers::ktime_get_ns;
  table.at[BPF_FUNC_ktime_get_boot_ns] = helpers::ktime_get_ns;
  table.at[BPF_FUNC_ktime_get_coarse_ns] = helpers::ktime_get_ns;
  table.at[BPF_FUNC_get_current_pid_tgid] = helpers::get_current_pid_tgid;
  table.at[BPF_FUNC_get_current_uid_gid] = helpers::get_current_uid_gid;
  table.at[BPF_FUNC_get_current_comm] = helpers::get_current_comm;
  table.at[BPF_FUNC_get_smp_processor_id] = helpers::get_smp_processor_id;
  table.at[BPF_FUNC_get_prandom_u32] = helpers::get_prandom_u32;
  table.at[BPF_FUNC_get_stackid] = helpers::get_stackid;
  table.at[BPF_FUNC_trace_printk] = helpers::trace_printk;
  table.at[BPF_FUNC_perf_event_output] = helpers::perf_event_output;
  table.at[BPF_FUNC_ringbuf_output] = helpers::ringbuf_output;
  table.at[BPF_FUNC_ringbuf_reserve] = helpers::ringbuf_reserve;
  table.at[BPF_FUNC_ringbuf_submit] = helpers::ringbuf_submit;
  table.at[BPF_FUNC_ringbuf_discard] = helpers::ringbuf_discard;
  table.at[BPF_FUNC_ringbuf_query] = helpers::ringbuf_query;
  table.at[kFindReadable] = helpers::find_readable;
  table.at[kFindWritable] = helpers::find_writable;
  return table;
}

}  // namespace

constinit const HelperTable kHelpers = make_table();

Helper find_helper(std::uint32_t number) { return number < kHelperLimit ? kHelpers.at[number] : nullptr; }

}  // namespace landtrace::bpf
