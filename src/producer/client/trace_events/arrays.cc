#include "client/trace_events/arrays.hpp"

#include <dlfcn.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <mutex>

#include "client/trace_events/domain_files.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::client {
namespace {

std::mutex lock;
// Pointers into it stay valid after trace_array_put(). Never destroyed: other threads may use it as the program ends.
std::list<trace_array>& arrays() {
  static auto* const all = new std::list<trace_array>;
  return *all;
}

std::list<trace_array>::iterator find(const std::string& name) {
  return std::find_if(arrays().begin(), arrays().end(), [&](const trace_array& tr) { return tr.name == name; });
}

int hold(trace_array& tr) {
  if (tr.name.empty()) return 0;
  auto socket = ipc::connect_to(ipc::default_socket());
  if (!socket) return -socket.error().code;
  const auto opened = ipc::exchange(socket->get(), {.operation = ipc::Operation::kTreeOpen, .a = O_RDONLY},
                                    "instances/" + tr.name + "/tracing_on");
  if (!opened) return -opened.error().code;
  if (opened->reply.error != 0) return -opened->reply.error;
  tr.hold = *std::move(socket);
  return 0;
}

// The caller holds the lock.
int take(trace_array& tr) {
  if (tr.references == 0) {
    if (const int error = hold(tr); error != 0) return error;
  }
  ++tr.references;
  return 0;
}

// In the kernel a probe that is enabled is there when the call returns. The program's own agent, if it has one, would
// see to it a moment later.
void carry_out_probes() {
  void* const agent = ::dlopen("liblandtrace-agent.so", RTLD_LAZY | RTLD_NOLOAD);
  if (agent == nullptr) return;
  auto* const look = reinterpret_cast<void (*)()>(::dlsym(agent, "landtrace_agent_look"));
  if (look != nullptr) look();
  ::dlclose(agent);
}

}  // namespace

trace_array* get_array(const char* name, IfMissing if_missing) {
  const std::string wanted(name == nullptr ? "" : name);
  const std::lock_guard held(lock);
  auto found = find(wanted);
  const bool is_new = found == arrays().end();
  if (is_new) found = arrays().insert(arrays().end(), trace_array{wanted, 0, {}});
  int error = take(*found);
  if (error == -ENOENT && if_missing == IfMissing::kMake) {
    error = make_instance(wanted.c_str());
    if (error == 0 || error == -EEXIST) error = take(*found);
  }
  if (error == 0) return &*found;
  if (is_new) arrays().erase(found);
  return static_cast<trace_array*>(landtrace_err_ptr(error));
}

}  // namespace landtrace::client

using namespace landtrace::client;

extern "C" {

trace_array* trace_array_get_by_name(const char* name) {
  if (name == nullptr || name[0] == '\0') return nullptr;
  trace_array* const tr = get_array(name, IfMissing::kMake);
  return landtrace_is_err(tr) ? nullptr : tr;
}

void trace_array_put(trace_array* tr) {
  if (landtrace_is_err_or_null(tr)) return;
  const std::lock_guard held(lock);
  if (tr->references > 0 && --tr->references == 0) tr->hold = {};
}

int trace_array_destroy(trace_array* tr) {
  if (landtrace_is_err_or_null(tr)) return -EINVAL;
  const std::lock_guard held(lock);
  const auto found = std::find_if(arrays().begin(), arrays().end(), [&](const trace_array& a) { return &a == tr; });
  if (found == arrays().end()) return -ENODEV;
  if (found->name.empty()) return -EINVAL;
  if (found->references > 0) return -EBUSY;
  const int result = remove_instance(found->name.c_str());
  if (result != 0) return result == -ENOENT ? -ENODEV : result;
  arrays().erase(found);
  return 0;
}

int trace_array_set_clr_event(trace_array* tr, const char* system, const char* event, bool enable) {
  if (landtrace_is_err_or_null(tr)) return -ENOENT;
  const auto is_name = [](const std::string& name) {
    return name != "." && name != ".." && name.find('/') == std::string::npos;
  };
  const std::string group(system == nullptr ? "" : system);
  const std::string one(event == nullptr ? "" : event);
  if (group.empty() || !is_name(group) || !is_name(one)) return -EINVAL;
  const std::string folder = tr->name.empty() ? "" : "instances/" + tr->name + "/";
  const std::string path = folder + "events/" + group + (one.empty() ? "" : "/" + one) + "/enable";
  const int result = write_domain_file(path, enable ? "1" : "0");
  if (result == 0 && enable) carry_out_probes();
  return result == -ENOENT ? -EINVAL : result;
}

}  // extern "C"
