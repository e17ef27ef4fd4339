// Commands that grow piece by piece: section 7.4.
#include <landtrace/trace_events.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace {

int append(dynevent_cmd& cmd, std::initializer_list<std::string_view> pieces) {
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  if (cmd.length + size >= static_cast<std::size_t>(cmd.maxlen)) return -E2BIG;
  for (const std::string_view piece : pieces) {
    std::memcpy(cmd.buffer + cmd.length, piece.data(), piece.size());
    cmd.length += static_cast<int>(piece.size());
  }
  cmd.buffer[cmd.length] = '\0';
  return 0;
}

constexpr char or_blank(char c) { return c == '\0' ? ' ' : c; }

}  // namespace

extern "C" {

void dynevent_cmd_init(dynevent_cmd* cmd, char* buf, int maxlen, int type, dynevent_create_fn_t run_command) {
  *cmd = {};
  cmd->buffer = buf;
  cmd->maxlen = maxlen < 0 ? 0 : maxlen;
  cmd->type = type;
  cmd->run_command = run_command;
  if (cmd->maxlen > 0) buf[0] = '\0';
}

void dynevent_arg_init(dynevent_arg* arg, dynevent_check_arg_fn_t check_arg, char separator) {
  *arg = {nullptr, check_arg, or_blank(separator)};
}

void dynevent_arg_pair_init(dynevent_arg_pair* arg_pair, dynevent_check_arg_fn_t check_arg, char op, char separator) {
  *arg_pair = {nullptr, nullptr, check_arg, or_blank(op), or_blank(separator)};
}

int dynevent_arg_add(dynevent_cmd* cmd, dynevent_arg* arg) {
  if (arg->check_arg != nullptr) {
    if (const int refused = arg->check_arg(arg); refused != 0) return refused;
  }
  if (arg->str == nullptr) return -EINVAL;
  return append(*cmd, {" ", arg->str, {&arg->separator, 1}});
}

int dynevent_arg_pair_add(dynevent_cmd* cmd, dynevent_arg_pair* arg_pair) {
  if (arg_pair->check_arg != nullptr) {
    if (const int refused = arg_pair->check_arg(arg_pair); refused != 0) return refused;
  }
  if (arg_pair->lhs == nullptr || arg_pair->rhs == nullptr) return -EINVAL;
  return append(*cmd, {" ", arg_pair->lhs, {&arg_pair->op, 1}, arg_pair->rhs, {&arg_pair->separator, 1}});
}

int dynevent_str_add(dynevent_cmd* cmd, const char* str) { return str == nullptr ? -EINVAL : append(*cmd, {str}); }

int dynevent_create(dynevent_cmd* cmd) { return cmd->run_command == nullptr ? -EINVAL : cmd->run_command(cmd); }

}  // extern "C"
