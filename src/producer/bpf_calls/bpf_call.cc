#include "bpf_calls/bpf_call.hpp"

#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bpf/context.hpp"
#include "bpf_calls/map_elements.hpp"
#include "bpf_calls/program_load.hpp"
#include "bpf_calls/run_here.hpp"
#include "bpf_calls/user_bytes.hpp"
#include "client/process.hpp"
#include "ipc/bpf_requests.hpp"

namespace landtrace::bpf_calls {
namespace {

bool is_kind_of_ours(std::uint32_t kind) {
  switch (kind) {
    case bpf::kHash:
    case bpf::kArray:
    case bpf::kPerfEventArray:
    case bpf::kPercpuHash:
    case bpf::kPercpuArray:
    case bpf::kStackTrace:
    case bpf::kLruHash:
    case bpf::kRingbuf:
      return true;
    default:
      return false;
  }
}

long create_map(const bpf_attr& call) {
  ipc::BpfMapWish wish{call.map_type, call.key_size, call.value_size, call.max_entries, call.map_flags, {}};
  std::memcpy(wish.name, call.map_name, sizeof wish.name);
  const auto made = client::Process::get().ask({.operation = ipc::Operation::kBpfMap},
                                               {reinterpret_cast<const char*>(&wish), sizeof wish});
  if (!made) return -made.error().code;
  Object map{.kind = Kind::kMap, .number = static_cast<std::uint32_t>(made->reply.a)};
  if (made->text.size() != sizeof map.layout) return -EPROTO;
  std::memcpy(&map.layout, made->text.data(), sizeof map.layout);
  std::memcpy(map.name, call.map_name, sizeof map.name);
  map.data = reinterpret_cast<std::byte*>(client::Process::view().data);
  return Objects::get().add(map);
}

// SYSTEM:EVENT or SYSTEM/EVENT. `name` is the caller's text.
long attach_by_name(const bpf_attr& call) {
  const ObjectRef program = Objects::get().find(static_cast<int>(call.raw_tracepoint.prog_fd), Kind::kProgram);
  char name[256] = {};
  for (std::size_t i = 0; i + 1 < sizeof name; ++i) {
    if (!copy_from_user(name + i, call.raw_tracepoint.name + i, 1)) return -EFAULT;
    if (name[i] == '\0') break;
  }
  std::string text = name;
  const std::size_t split = text.find_first_of(":/");
  if (split == std::string::npos) return -EINVAL;
  text[split] = '\0';
  text += '\0';
  const auto made = client::Process::get().ask({.operation = ipc::Operation::kBpfAttach, .a = program->number}, text);
  if (!made) return -made.error().code;
  return Objects::get().add({.kind = Kind::kLink, .number = static_cast<std::uint32_t>(made->reply.a)});
}

// As much as the caller has room for; says how much there is.
template <typename T>
long copy_info(const T& info, const bpf_attr& call, void* attributes) {
  const std::uint32_t size = std::min<std::uint32_t>(call.info.info_len, sizeof info);
  if (!copy_to_user(call.info.info, &info, size)) return -EFAULT;
  const auto at = reinterpret_cast<std::uint64_t>(attributes) + offsetof(bpf_attr, info.info_len);
  return copy_to_user(at, &size, sizeof size) ? 0 : -EFAULT;
}

std::optional<long> info_of(const bpf_attr& call, void* attributes) {
  const int fd = static_cast<int>(call.info.bpf_fd);
  if (const ObjectRef map = Objects::get().find(fd, Kind::kMap)) {
    bpf_map_info info{};
    info.type = map->layout.kind;
    info.id = map->number;
    info.key_size = map->layout.key_size;
    info.value_size = map->layout.value_size;
    info.max_entries = map->layout.max_entries;
    info.map_flags = map->layout.flags;
    std::memcpy(info.name, map->name, sizeof info.name);
    return copy_info(info, call, attributes);
  }
  if (const ObjectRef program = Objects::get().find(fd, Kind::kProgram)) {
    bpf_prog_info info{};
    info.type = program->type;
    info.id = program->number;
    info.xlated_prog_len = 0;
    info.created_by_uid = 0;
    std::memcpy(info.name, program->name, sizeof info.name);
    return copy_info(info, call, attributes);
  }
  return std::nullopt;
}

using ElementCall = long (*)(const Object&, const bpf_attr&);
std::optional<long> on_map(ElementCall function, const bpf_attr& call) {
  const ObjectRef map = Objects::get().find(static_cast<int>(call.map_fd), Kind::kMap);
  if (map == nullptr) return std::nullopt;
  return function(*map, call);
}

bool has_program(std::uint32_t fd) { return Objects::get().find(static_cast<int>(fd), Kind::kProgram) != nullptr; }

std::optional<long> answer(int command, const bpf_attr& call, void* attributes) {
  switch (command) {
    case BPF_MAP_CREATE:
      if (!is_kind_of_ours(call.map_type)) return std::nullopt;
      return create_map(call);
    case BPF_PROG_LOAD:
      if (!bpf::context_of(call.prog_type)) return std::nullopt;
      return load_program(call);
    case BPF_MAP_LOOKUP_ELEM:
      return on_map(lookup_element, call);
    case BPF_MAP_UPDATE_ELEM:
      return on_map(update_element, call);
    case BPF_MAP_DELETE_ELEM:
      return on_map(delete_element, call);
    case BPF_MAP_GET_NEXT_KEY:
      return on_map(next_key, call);
    case BPF_MAP_FREEZE:
      return on_map(freeze, call);
    case BPF_PROG_TEST_RUN:
      if (const ObjectRef program = Objects::get().find(static_cast<int>(call.test.prog_fd), Kind::kProgram))
        return test_run(*program, call, attributes);
      return std::nullopt;
    case BPF_OBJ_GET_INFO_BY_FD:
      return info_of(call, attributes);
    case BPF_LINK_CREATE:
      // Libraries go on with PERF_EVENT_IOC_SET_BPF.
      if (!has_program(call.link_create.prog_fd)) return std::nullopt;
      return -EINVAL;
    case BPF_RAW_TRACEPOINT_OPEN:
      if (!has_program(call.raw_tracepoint.prog_fd)) return std::nullopt;
      return attach_by_name(call);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<long> bpf_call(int command, const void* attributes, unsigned size) {
  if (!client::Process::get().attach()) return std::nullopt;
  bpf_attr call{};
  if (!copy_from_user(&call, reinterpret_cast<std::uint64_t>(attributes), std::min<std::size_t>(size, sizeof call))) {
    return -EFAULT;
  }
  return answer(command, call, const_cast<void*>(attributes));
}

}  // namespace landtrace::bpf_calls
