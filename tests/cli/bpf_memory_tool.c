// A tool that uses libbpf as the kernel's users do, and knows nothing of Landtrace: attaches a program to a function of
// a running process and to none of another one, waits for records in a ring buffer, and looks into maps by their
// memory.
//
//     bpf_memory_tool OBJECT PROGRAM OFFSET PID COUNT     PROGRAM's function at OFFSET, in PID, until COUNT records
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct record {
  unsigned pid;
  int number;
};

static struct {
  unsigned pid;
  unsigned long records, others, gaps;
  int last;
} seen = {0, 0, 0, 0, -1};

static int take(void* context, void* data, size_t size) {
  const struct record* record = data;
  (void)context;
  if (size != sizeof *record) return -1;
  seen.records++;
  seen.others += record->pid != seen.pid;
  seen.gaps += seen.last >= 0 && record->number != seen.last + 1;
  seen.last = record->number;
  return 0;
}

static void* mapped(int map, int protection, off_t offset, size_t size) {
  void* const at = mmap(NULL, size, protection, MAP_SHARED, map, offset);
  return at == MAP_FAILED ? NULL : at;
}

// What nobody gets.
static void try_out(int array, int hash, int ring) {
  const long page = sysconf(_SC_PAGESIZE);
  const struct {
    int map, protection, flags;
    off_t offset;
    size_t size;
  } wrong[] = {
      {hash, PROT_READ, MAP_SHARED, 0, 4096},
      {array, PROT_READ, MAP_SHARED, 0, 1 << 30},
      {array, PROT_READ, MAP_SHARED, 1 << 30, 4096},
      {array, PROT_READ | PROT_EXEC, MAP_SHARED, 0, 4096},
      {array, PROT_READ, MAP_PRIVATE, 0, 4096},
      {ring, PROT_READ | PROT_WRITE, MAP_SHARED, page, 4096},
      {ring, PROT_READ, MAP_SHARED, page, 1 << 30},
  };
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    if (mmap(NULL, wrong[i].size, wrong[i].protection, wrong[i].flags, wrong[i].map, wrong[i].offset) != MAP_FAILED)
      printf("mapped what cannot be mapped: %u\n", i);
  }
}

int main(int argc, char** argv) {
  struct bpf_object* object = argc == 6 ? bpf_object__open_file(argv[1], NULL) : NULL;
  if (object == NULL || bpf_object__load(object) != 0) return 1;
  seen.pid = (unsigned)atoi(argv[4]);
  const unsigned long wanted = strtoul(argv[5], NULL, 10);
  const int array = bpf_object__find_map_fd_by_name(object, "counts");
  const int map = bpf_object__find_map_fd_by_name(object, "records");
  volatile unsigned long* counts = mapped(array, PROT_READ | PROT_WRITE, 0, 4096);
  if (counts == NULL) return 2;
  try_out(array, bpf_object__find_map_fd_by_name(object, "pids"), map);
  counts[1] = 7;  // what the program adds
  struct ring_buffer* ring = ring_buffer__new(map, take, NULL, NULL);
  if (ring == NULL) return 3;
  struct bpf_program* program = bpf_object__next_program(object, NULL);
  struct bpf_link* link =
      bpf_program__attach_uprobe(program, 0, atoi(argv[4]), argv[2], strtoul(argv[3], NULL, 0));
  if (link == NULL) return 4;
  while (seen.records < wanted) {
    const int n = ring_buffer__poll(ring, 10000);
    // 0: in 10 s nothing; it is woken for records that it can take.
    if (n <= 0 && n != -EINTR) {
      fprintf(stderr, "ring_buffer__poll() = %d, at record %lu\n", n, seen.records);
      return 5;
    }
  }
  bpf_link__destroy(link);
  const unsigned long all = counts[0];
  printf("records %s others %lu gaps %lu count %s\n", seen.records >= wanted ? "enough" : "few", seen.others, seen.gaps,
         all >= 7 * wanted && all % 7 == 0 ? "right" : "wrong");
  ring_buffer__free(ring);
  bpf_object__close(object);
  // The memory stays when its descriptor is gone.
  printf("%s\n", counts[0] >= all ? "still there" : "gone");
  return 0;
}
