// Synthetic events are made and removed: section 7.1.
#include <landtrace/trace_events.h>

#include <cerrno>
#include <cstdarg>
#include <memory>
#include <new>
#include <string>

#include "client/trace_events/domain_files.hpp"

namespace {

using landtrace::client::write_domain_file;

constexpr const char* kDefinitions = "synthetic_events";

int run_synth_command(dynevent_cmd* cmd) { return write_domain_file(kDefinitions, cmd->buffer); }

// One more field, if the command takes one.
int count_field(dynevent_cmd& cmd) {
  if (cmd.type != DYNEVENT_TYPE_SYNTH || cmd.n_fields >= SYNTH_FIELDS_MAX) return -EINVAL;
  ++cmd.n_fields;
  return 0;
}

int start(dynevent_cmd& cmd, const char* name, module* mod) {
  if (cmd.type != DYNEVENT_TYPE_SYNTH || name == nullptr) return -EINVAL;
  cmd.event_name = name;
  cmd.private_data = mod;
  dynevent_arg arg;
  dynevent_arg_init(&arg, nullptr, 0);
  arg.str = name;
  return dynevent_arg_add(&cmd, &arg);
}

}  // namespace

extern "C" {

void synth_event_cmd_init(dynevent_cmd* cmd, char* buf, int maxlen) {
  dynevent_cmd_init(cmd, buf, maxlen, DYNEVENT_TYPE_SYNTH, run_synth_command);
}

int synth_event_add_field(dynevent_cmd* cmd, const char* type, const char* name) {
  if (type == nullptr || name == nullptr) return -EINVAL;
  if (const int refused = count_field(*cmd); refused != 0) return refused;
  dynevent_arg_pair pair;
  dynevent_arg_pair_init(&pair, nullptr, 0, ';');
  pair.lhs = type;
  pair.rhs = name;
  return dynevent_arg_pair_add(cmd, &pair);
}

int synth_event_add_field_str(dynevent_cmd* cmd, const char* type_name) {
  if (type_name == nullptr) return -EINVAL;
  if (const int refused = count_field(*cmd); refused != 0) return refused;
  dynevent_arg arg;
  dynevent_arg_init(&arg, nullptr, ';');
  arg.str = type_name;
  return dynevent_arg_add(cmd, &arg);
}

int synth_event_add_fields(dynevent_cmd* cmd, synth_field_desc* fields, unsigned n_fields) {
  for (unsigned i = 0; i < n_fields; ++i) {
    if (const int refused = synth_event_add_field(cmd, fields[i].type, fields[i].name); refused != 0) return refused;
  }
  return 0;
}

int landtrace_synth_event_gen_cmd_start(dynevent_cmd* cmd, const char* name, module* mod, ...) {
  int result = start(*cmd, name, mod);
  va_list rest;
  va_start(rest, mod);
  for (const char* type = va_arg(rest, const char*); result == 0 && type != nullptr; type = va_arg(rest, const char*)) {
    const char* const field = va_arg(rest, const char*);
    result = synth_event_add_field(cmd, type, field);
    if (field == nullptr) break;
  }
  va_end(rest);
  return result;
}

int synth_event_gen_cmd_array_start(dynevent_cmd* cmd, const char* name, module* mod, synth_field_desc* fields,
                                    unsigned n_fields) {
  if (n_fields > SYNTH_FIELDS_MAX) return -EINVAL;
  const int result = start(*cmd, name, mod);
  return result != 0 ? result : synth_event_add_fields(cmd, fields, n_fields);
}

int synth_event_gen_cmd_end(dynevent_cmd* cmd) {
  return cmd->type == DYNEVENT_TYPE_SYNTH ? dynevent_create(cmd) : -EINVAL;
}

int synth_event_create(const char* name, synth_field_desc* fields, unsigned n_fields, module* mod) {
  const std::unique_ptr<char[]> buffer(new (std::nothrow) char[MAX_DYNEVENT_CMD_LEN]);
  if (buffer == nullptr) return -ENOMEM;
  dynevent_cmd cmd;
  synth_event_cmd_init(&cmd, buffer.get(), MAX_DYNEVENT_CMD_LEN);
  const int result = synth_event_gen_cmd_array_start(&cmd, name, mod, fields, n_fields);
  return result != 0 ? result : synth_event_gen_cmd_end(&cmd);
}

int synth_event_delete(const char* event_name) {
  if (event_name == nullptr || event_name[0] == '\0') return -ENOENT;
  return write_domain_file(kDefinitions, ("!" + std::string(event_name)).c_str());
}

}  // extern "C"
