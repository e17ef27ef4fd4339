// An eBPF program at an event, for any user and on any kernel: it runs in the program that emits the event.
//
//     clang -O2 -g -target bpf -I/usr/include/$(uname -m)-linux-gnu -c count.bpf.c -o count.bpf.o
//     landtrace bpf count.bpf.o -- example_requests
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

// As `format` lays the event out: its own fields begin at byte 8.
struct req_start {
  unsigned long long common;
  unsigned id;
};

struct first_request {
  unsigned pid;
  int id;
  char comm[16];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1024);
  __type(key, unsigned);
  __type(value, unsigned long long);
} by_id SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, unsigned);
  __type(value, unsigned long long);
} all SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} firsts SEC(".maps");

// So that the object says what the records are.
struct first_request shown_as __attribute__((unused));

const volatile unsigned limit = 3;
unsigned long long seen;

static __attribute__((noinline)) int count_id(unsigned id) {
  const unsigned long long one = 1;
  unsigned long long* count = bpf_map_lookup_elem(&by_id, &id);
  if (!count && bpf_map_update_elem(&by_id, &id, &one, BPF_NOEXIST) != 0) count = bpf_map_lookup_elem(&by_id, &id);
  if (count) __sync_fetch_and_add(count, 1);
  return 0;
}

SEC("tracepoint/user_events/req_start")
int on_start(struct req_start* event) {
  unsigned zero = 0;
  unsigned long long* total = bpf_map_lookup_elem(&all, &zero);
  if (total) (*total)++;
  count_id(event->id & 7);
  if (__sync_fetch_and_add(&seen, 1) >= limit) return 0;
  bpf_printk("request %u", event->id);
  struct first_request* first = bpf_ringbuf_reserve(&firsts, sizeof(*first), 0);
  if (!first) return 0;
  first->pid = bpf_get_current_pid_tgid() >> 32;
  first->id = event->id;
  bpf_get_current_comm(first->comm, sizeof(first->comm));
  bpf_ringbuf_submit(first, 0);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
