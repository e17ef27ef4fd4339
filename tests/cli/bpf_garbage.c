// Calls bpf() with what nobody should: random commands, numbers, descriptors and pointers, and programs of random
// instructions. All of them have to come back; none may write where it was not told to.
//
//     bpf_garbage SEED CALLS
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t state;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}
static uint64_t below(uint64_t limit) { return next() % limit; }

enum { kBytes = 1 << 16 };
static unsigned char* memory;   // readable and writable; behind it is nothing
static unsigned char* constant; // readable
static int fds[64];

static uint64_t number(void) {
  static const uint64_t edges[] = {0, 1, 2, 4, 8, 16, 64, 512, 4096, 65536, 1ull << 31, 1ull << 32, ~0ull};
  return below(4) == 0 ? next() : edges[below(sizeof edges / sizeof edges[0])];
}
static uint64_t pointer(void) {
  switch (below(8)) {
    case 0:
      return number() & ~0xfffffffull;  // nothing is there, but 0
    case 1:
      return (uint64_t)(constant + below(4096));
    case 2:
      return (uint64_t)(memory + kBytes - below(64));
    default:
      return (uint64_t)(memory + below(kBytes / 2));
  }
}
static int descriptor(void) { return below(8) == 0 ? (int)next() : fds[below(64)]; }

static void fill_program(struct bpf_insn* at, unsigned count) {
  static const unsigned char codes[] = {0xb7, 0xbf, 0x61, 0x63, 0x7b, 0x79, 0x07, 0x85, 0x18, 0x15, 0xdb, 0x55};
  for (unsigned i = 0; i < count; ++i) {
    at[i].code = below(4) == 0 ? (uint8_t)next() : codes[below(sizeof codes)];
    at[i].dst_reg = below(11) & 15;
    at[i].src_reg = below(at[i].code == 0x85 || at[i].code == 0x18 ? 3 : 11) & 15;
    at[i].off = (int16_t)(below(2) ? below(8) : -8 * (int)below(9));
    at[i].imm = at[i].code == 0x18 ? descriptor() : (int32_t)(below(4) ? below(140) : next());
  }
  if (count >= 2) {
    at[count - 2] = (struct bpf_insn){.code = 0xb7};
    at[count - 1] = (struct bpf_insn){.code = 0x95};
  }
}

static int call(void) {
  static const int commands[] = {BPF_MAP_CREATE,      BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM,    BPF_MAP_DELETE_ELEM,
                                 BPF_MAP_GET_NEXT_KEY, BPF_PROG_LOAD,       BPF_OBJ_GET_INFO_BY_FD, BPF_PROG_TEST_RUN,
                                 BPF_LINK_CREATE,      BPF_MAP_FREEZE,      BPF_RAW_TRACEPOINT_OPEN};
  static const int kinds[] = {1, 2, 4, 5, 6, 7, 9, 27};
  static const int types[] = {BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_RAW_TRACEPOINT,
                              BPF_PROG_TYPE_PERF_EVENT, BPF_PROG_TYPE_SOCKET_FILTER};
  union bpf_attr attr;
  for (unsigned i = 0; i < sizeof attr / 8; ++i) ((uint64_t*)&attr)[i] = below(2) ? number() : pointer();
  const int command = commands[below(sizeof commands / sizeof commands[0])];
  switch (command) {
    case BPF_MAP_CREATE:
      attr.map_type = (uint32_t)kinds[below(8)];
      attr.key_size = below(4) ? 4 : (uint32_t)number();
      attr.value_size = below(4) ? 8 * (1 + (uint32_t)below(20)) : (uint32_t)number();
      attr.max_entries = below(4) ? 1u << below(14) : (uint32_t)number();
      if (attr.map_type == 27 && below(2)) attr.key_size = attr.value_size = 0;
      attr.map_flags = below(4) ? 0 : (uint32_t)number();
      break;
    case BPF_PROG_LOAD: {
      const unsigned count = below(4) ? 2 + (unsigned)below(20) : (unsigned)number();
      attr.prog_type = (uint32_t)types[below(5)];
      attr.insn_cnt = count;
      if (count <= 512) {
        fill_program((struct bpf_insn*)memory, count);
        attr.insns = (uint64_t)memory;
      }
      attr.log_level = (uint32_t)below(4);
      attr.log_buf = below(2) ? pointer() : (uint64_t)memory;
      attr.log_size = (uint32_t)below(70000);
      break;
    }
    case BPF_OBJ_GET_INFO_BY_FD:
      attr.info.bpf_fd = (uint32_t)descriptor();
      break;
    case BPF_PROG_TEST_RUN:
      memset(&attr, 0, sizeof attr);
      attr.test.prog_fd = (uint32_t)descriptor();
      attr.test.ctx_in = pointer();
      attr.test.ctx_size_in = (uint32_t)below(128);
      break;
    case BPF_RAW_TRACEPOINT_OPEN:
      attr.raw_tracepoint.prog_fd = (uint32_t)descriptor();
      strcpy((char*)memory, "user_events:request");
      if (below(2)) attr.raw_tracepoint.name = (uint64_t)memory;
      break;
    default:
      attr.map_fd = (uint32_t)descriptor();
  }
  return (int)syscall(SYS_bpf, command, below(64) ? (uint64_t)&attr : pointer(), below(16) ? sizeof attr : below(4096));
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  state = strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15 + 1;
  memory = mmap(NULL, kBytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  constant = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory + kBytes, 4096, PROT_NONE);
  for (unsigned i = 0; i < 64; ++i) fds[i] = -1;
  unsigned long made = 0;
  for (long left = atol(argv[2]); left > 0; --left) {
    const int fd = call();
    if (fd <= 2) continue;
    int* const place = &fds[below(64)];
    if (*place >= 0) close(*place);
    *place = fd;
    ++made;
  }
  for (unsigned i = 0; i < 4096; ++i) {
    if (constant[i] != 0) return 2;
  }
  printf("%s\n", made > 10 ? "made some" : "made none");
  return 0;
}
