// Commands that make probes of functions: section 7.3.
#include <landtrace/trace_events.h>

#include <cerrno>
#include <cstdarg>
#include <string>
#include <tuple>

#include "client/process.hpp"
#include "client/trace_events/domain_files.hpp"

namespace {

using landtrace::client::write_domain_file;

constexpr const char* kDefinitions = "dynamic_events";
constexpr unsigned kMostFields = 128;

// A function without a library's or program's name before it is one of the domain's programs, so this one joins them.
int run_kprobe_command(dynevent_cmd* cmd) {
  std::ignore = landtrace::client::Process::get().attach();
  return write_domain_file(kDefinitions, cmd->buffer);
}

int add(dynevent_cmd& cmd, const char* word) {
  dynevent_arg arg;
  dynevent_arg_init(&arg, nullptr, 0);
  arg.str = word;
  return dynevent_arg_add(&cmd, &arg);
}

int add_fields(dynevent_cmd& cmd, va_list fields) {
  for (const char* field = va_arg(fields, const char*); field != nullptr; field = va_arg(fields, const char*)) {
    if (cmd.n_fields >= kMostFields) return -EINVAL;
    ++cmd.n_fields;
    if (const int refused = add(cmd, field); refused != 0) return refused;
  }
  return 0;
}

int start(dynevent_cmd& cmd, bool kretprobe, const char* name, const char* loc) {
  if (cmd.type != DYNEVENT_TYPE_KPROBE || name == nullptr || loc == nullptr) return -EINVAL;
  cmd.event_name = name;
  const std::string head = (kretprobe ? "r:kprobes/" : "p:kprobes/") + std::string(name);
  const int refused = dynevent_str_add(&cmd, head.c_str());
  return refused != 0 ? refused : add(cmd, loc);
}

}  // namespace

extern "C" {

void kprobe_event_cmd_init(dynevent_cmd* cmd, char* buf, int maxlen) {
  dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_KPROBE, run_kprobe_command);
}

int landtrace_kprobe_event_gen_cmd_start(dynevent_cmd* cmd, bool kretprobe, const char* name, const char* loc, ...) {
  int result = start(*cmd, kretprobe, name, loc);
  va_list fields;
  va_start(fields, loc);
  if (result == 0) result = add_fields(*cmd, fields);
  va_end(fields);
  return result;
}

int landtrace_kprobe_event_add_fields(dynevent_cmd* cmd, ...) {
  if (cmd->type != DYNEVENT_TYPE_KPROBE) return -EINVAL;
  va_list fields;
  va_start(fields, cmd);
  const int result = add_fields(*cmd, fields);
  va_end(fields);
  return result;
}

int kprobe_event_delete(const char* name) {
  if (name == nullptr) return -ENOENT;
  return write_domain_file(kDefinitions, ("-:kprobes/" + std::string(name)).c_str());
}

}  // extern "C"
