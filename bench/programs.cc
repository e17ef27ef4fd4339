#include "programs.hpp"

#include <unistd.h>

#include <sstream>

#include "bpf/maps/hash.hpp"
#include "bpf/test_code.hpp"
#include "child.hpp"

namespace landtrace::bench {
namespace {

using namespace bpf::code;
// Not the layer.
using bpf::code::store;

// status >= 500 && d > 1000000
Code filter_code() {
  return {set(0, 0),
          load(BPF_W, 2, 1, 16),
          jump(BPF_JLT, 2, 500, 3),
          load(BPF_DW, 3, 1, 8),
          jump(BPF_JLE, 3, 1'000'000, 1),
          set(0, 1),
          leave()};
}

// As clang makes it of a lookup, and an update where that has found nothing.
Code count_code() {
  return Code{load(BPF_W, 2, 1, 8), store(BPF_W, 10, -4, 2)} + map(1, 0) +
         Code{copy(2, 10),
              alu(BPF_ADD, 2, -4),
              call(BPF_FUNC_map_lookup_elem),
              jump(BPF_JEQ, 0, 0, 4),
              set(1, 1),
              atomic(BPF_DW, BPF_ADD, 0, 0, 1),
              set(0, 0),
              leave(),
              put(BPF_DW, 10, -16, 1)} +
         map(1, 0) + Code{copy(2, 10),         alu(BPF_ADD, 2, -4),
                          copy(3, 10),         alu(BPF_ADD, 3, -16),
                          set(4, BPF_NOEXIST), call(BPF_FUNC_map_update_elem),
                          set(0, 0),           leave()};
}

template <typename T>
T or_broken(Result<T> result) {
  if (!result) throw Broken("bpf: " + result.error().message);
  return *std::move(result);
}

}  // namespace

bpf_objects::Owner Programs::owner() { return {::getuid(), or_broken(domain_.join(::getuid()))}; }

void Programs::attach(const std::string& event, const Code& code, std::vector<bpf_objects::MapRef> maps) {
  domain::Event* const found = domain_.events().find("user_events", event);
  if (found == nullptr) throw Broken("there is no event " + event);
  std::string log;
  programs_.push_back(
      or_broken(objects_.load({"bench", BPF_PROG_TYPE_TRACEPOINT, std::move(maps), nullptr, code, 0}, owner(), log)));
  links_.push_back(or_broken(objects_.attach(programs_.back(), *found)));
}

void Programs::count(const std::string& event) {
  const bpf_objects::MapRef map = or_broken(objects_.create_map({bpf::kHash, 4, 8, 2048, 0}, "counts", owner()));
  counts_[event] = map;
  attach(event, count_code(), {map});
}

std::uint64_t Programs::counted(const std::string& event) const {
  const bpf_objects::Map& map = *counts_.at(event);
  const bpf::Hash hash(domain_.users().all()[map.owner.index].mapping.data(), map.layout);
  std::uint64_t sum = 0;
  std::uint32_t key = 0;
  for (bool more = hash.next(nullptr, &key) == 0; more; more = hash.next(&key, &key) == 0) {
    if (const std::byte* const value = hash.find(&key, 0))
      sum += __atomic_load_n(reinterpret_cast<const std::uint64_t*>(value), __ATOMIC_RELAXED);
  }
  return sum;
}

std::uint64_t Programs::answer(const std::string& line) {
  std::istringstream words(line);
  std::string command, event, how;
  words >> command >> event >> how;
  if (command == "counted") return counted(event);
  objects_.make_code_of_programs(how != "interpreted");
  if (command == "filter") {
    attach(event, filter_code(), {});
  } else {
    count(event);
  }
  return 0;
}

}  // namespace landtrace::bench
