// A tool that uses libbpf as the kernel's users do, and knows nothing of Landtrace: loads an object, attaches its
// programs, runs a command, and prints what the map `by_id` has then; runs it again when it has detached.
//
//     bpf_tool OBJECT COMMAND
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long sum_of(int map) {
  unsigned key = 0;
  unsigned long long value = 0, sum = 0;
  for (int end = bpf_map_get_next_key(map, NULL, &key); end == 0; end = bpf_map_get_next_key(map, &key, &key)) {
    if (bpf_map_lookup_elem(map, &key, &value) == 0) sum += value;
  }
  return sum;
}

// Walks over an array that is made for it, and over what is behind its end.
static void walk(void) {
  const int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "walked", sizeof(unsigned), sizeof(unsigned long long), 4, NULL);
  unsigned key = 0, behind = 9;
  printf("walked");
  for (int end = bpf_map_get_next_key(map, NULL, &key); end == 0; end = bpf_map_get_next_key(map, &key, &key)) {
    printf(" %u", key);
  }
  printf(", from behind %d", bpf_map_get_next_key(map, &behind, &key));
  printf(" %u\n", key);
}

int main(int argc, char** argv) {
  struct bpf_object* object = argc == 3 ? bpf_object__open_file(argv[1], NULL) : NULL;
  if (object == NULL || bpf_object__load(object) != 0) return 1;
  struct bpf_program* program = bpf_object__next_program(object, NULL);
  struct bpf_link* link = bpf_program__attach(program);
  if (link == NULL) return 2;
  const int map = bpf_object__find_map_fd_by_name(object, "by_id");
  const unsigned gone = 3;
  int status = system(argv[2]);
  printf("attached %llu\n", sum_of(map));
  const int first = bpf_map_delete_elem(map, &gone), second = bpf_map_delete_elem(map, &gone);
  printf("removed %d %d\n", first, second);
  bpf_link__destroy(link);
  status |= system(argv[2]);
  printf("detached %llu\n", sum_of(map));
  walk();
  bpf_object__close(object);
  return status == 0 ? 0 : 3;
}
