// The control API: each call opens, reads or writes a file of the tree.
#include <landtrace/control.h>

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "ipc/path.hpp"
#include "ipc/tree_client.hpp"

using landtrace::Error;
using landtrace::fail;
using landtrace::Result;
namespace ipc = landtrace::ipc;

struct landtrace_control {
  explicit landtrace_control(ipc::TreeClient connected) : tree(std::move(connected)) {}

  ipc::TreeClient tree;
  std::string sentence;
  landtrace_failure failure{0, -1, ""};
};

namespace {

std::string_view text_or_empty(const char* text) { return text == nullptr ? std::string_view() : text; }

bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

Result<std::string> folder_of(const char* instance) {
  const std::string_view name = text_or_empty(instance);
  if (name.empty()) return std::string();
  if (!is_name(name)) return fail(EINVAL, "no instance can have this name");
  return "instances/" + std::string(name) + "/";
}

// The folder of the event, or of a system.
enum class Scope { kEvent, kSystemToo };
Result<std::string> folder_of(const char* instance, const char* event, Scope scope) {
  LT_TRY(const std::string folder, folder_of(instance));
  const std::string_view full = text_or_empty(event);
  const std::size_t colon = full.find(':');
  const std::string_view system = full.substr(0, colon);
  if (!is_name(system)) return fail(EINVAL, "want SYSTEM:EVENT");
  std::string path = folder + "events/" + std::string(system) + "/";
  if (colon == std::string_view::npos) {
    return scope == Scope::kSystemToo ? Result<std::string>(std::move(path)) : fail(EINVAL, "want SYSTEM:EVENT");
  }
  const std::string_view name = full.substr(colon + 1);
  if (!is_name(name)) return fail(EINVAL, "want SYSTEM:EVENT");
  return path + std::string(name) + "/";
}

// One call of the API.
class Call {
 public:
  explicit Call(landtrace_control& control) : control_(control) { control.failure = {0, -1, ""}; }

  ipc::TreeClient& tree() { return control_.tree; }

  Result<void> write(const std::string& path, std::string_view text) {
    if (text.size() > ipc::kMaxText) return fail(EINVAL, "longer than any file takes");
    const OpenFile file(tree());
    LT_CHECK(tree().open(path, O_WRONLY | O_APPEND));
    const auto taken = tree().write_once(text);
    if (const auto place = tree().refused_at()) control_.failure.position = static_cast<int>(*place);
    LT_CHECK(taken);
    if (*taken != text.size()) return fail(EIO, "the file took a part only");
    return {};
  }

  // Copies as much of the file as fits `text`. Returns the length of the file.
  Result<std::size_t> read(const std::string& path, char* text, std::size_t size) {
    const OpenFile file(tree());
    LT_CHECK(tree().open(path, O_RDONLY));
    std::size_t length = 0;
    for (;;) {
      LT_TRY(const std::string piece, tree().read());
      if (piece.empty()) break;
      if (length + 1 < size) std::memcpy(text + length, piece.data(), std::min(piece.size(), size - 1 - length));
      length += piece.size();
    }
    if (size > 0) text[std::min(length, size - 1)] = '\0';
    return length;
  }

  int end(const Result<void>& result) { return result ? 0 : end(result.error()); }
  ssize_t end(const Result<std::size_t>& result) {
    return result ? static_cast<ssize_t>(*result) : static_cast<ssize_t>(end(result.error()));
  }

 private:
  // Closes the file at the end of a call: an open file keeps others from removing its instance.
  class OpenFile {
   public:
    explicit OpenFile(ipc::TreeClient& tree) : tree_(tree) {}
    ~OpenFile() { tree_.close(); }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

   private:
    ipc::TreeClient& tree_;
  };

  int end(const Error& error) {
    control_.sentence = error.message.empty() ? landtrace::errno_text(error.code) : error.message;
    control_.failure.code = error.code;
    control_.failure.sentence = control_.sentence.c_str();
    return -error.code;
  }

  landtrace_control& control_;
};

using ChangeFolder = Result<void> (ipc::TreeClient::*)(const std::string& path);
Result<void> change_instance(Call& call, ChangeFolder change, const char* instance) {
  if (!is_name(text_or_empty(instance))) return fail(EINVAL, "no instance can have this name");
  return (call.tree().*change)("instances/" + std::string(instance));
}

Result<void> write_to_event(Call& call, const char* instance, const char* event, Scope scope, const char* file,
                            std::string_view text) {
  LT_TRY(const std::string folder, folder_of(instance, event, scope));
  return call.write(folder + file, text);
}

Result<void> write_trigger(Call& call, const char* instance, const char* event, const char* trigger, bool removes) {
  std::string text(text_or_empty(trigger));
  if (text.find_first_not_of(" \t\n") == std::string::npos) return fail(EINVAL, "no trigger");
  if (text.starts_with('!')) return fail(EINVAL, "want the trigger without '!'");
  return write_to_event(call, instance, event, Scope::kEvent, "trigger", removes ? "!" + text : text);
}

Result<std::size_t> read_from_event(Call& call, const char* instance, const char* event, const char* file, char* text,
                                    std::size_t size) {
  LT_TRY(const std::string folder, folder_of(instance, event, Scope::kEvent));
  return call.read(folder + file, text, size);
}

}  // namespace

extern "C" {

int landtrace_control_open(landtrace_control** control, const char* socket) {
  *control = nullptr;
  auto tree = ipc::TreeClient::connect(socket == nullptr ? ipc::default_socket() : socket);
  if (!tree) return -tree.error().code;
  *control = new (std::nothrow) landtrace_control(*std::move(tree));
  if (*control == nullptr) return -ENOMEM;
  return 0;
}

void landtrace_control_close(landtrace_control* control) { delete control; }

const landtrace_failure* landtrace_control_failure(const landtrace_control* control) { return &control->failure; }

int landtrace_control_make_instance(landtrace_control* control, const char* instance) {
  Call call(*control);
  return call.end(change_instance(call, &ipc::TreeClient::make_folder, instance));
}

int landtrace_control_remove_instance(landtrace_control* control, const char* instance) {
  Call call(*control);
  return call.end(change_instance(call, &ipc::TreeClient::remove_folder, instance));
}

int landtrace_control_enable(landtrace_control* control, const char* instance, const char* event, int on) {
  Call call(*control);
  return call.end(write_to_event(call, instance, event, Scope::kSystemToo, "enable", on != 0 ? "1" : "0"));
}

int landtrace_control_set_filter(landtrace_control* control, const char* instance, const char* event,
                                 const char* expression) {
  Call call(*control);
  return call.end(write_to_event(call, instance, event, Scope::kSystemToo, "filter",
                                 expression == nullptr ? "0" : std::string_view(expression)));
}

int landtrace_control_add_trigger(landtrace_control* control, const char* instance, const char* event,
                                  const char* trigger) {
  Call call(*control);
  return call.end(write_trigger(call, instance, event, trigger, false));
}

int landtrace_control_remove_trigger(landtrace_control* control, const char* instance, const char* event,
                                     const char* trigger) {
  Call call(*control);
  return call.end(write_trigger(call, instance, event, trigger, true));
}

ssize_t landtrace_control_filter(landtrace_control* control, const char* instance, const char* event, char* text,
                                 size_t size) {
  Call call(*control);
  return call.end(read_from_event(call, instance, event, "filter", text, size));
}

ssize_t landtrace_control_triggers(landtrace_control* control, const char* instance, const char* event, char* text,
                                   size_t size) {
  Call call(*control);
  return call.end(read_from_event(call, instance, event, "trigger", text, size));
}

ssize_t landtrace_control_read(landtrace_control* control, const char* path, char* text, size_t size) {
  Call call(*control);
  return call.end(call.read(path, text, size));
}

int landtrace_control_write(landtrace_control* control, const char* path, const char* text) {
  Call call(*control);
  return call.end(call.write(path, text));
}

}  // extern "C"
