#include "consumer/remote_tree.hpp"

#include <charconv>

#include "ipc/socket.hpp"

namespace landtrace::consumer {
namespace {

using ipc::Operation;

// Appends what is in one answer to a listing.
Result<void> append_entries(std::vector<RemoteTree::Entry>& entries, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    RemoteTree::Entry entry;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), entry.mode, 8);
    if (error != std::errc{} || end == line.data() + line.size() || *end != ' ') return fail(EPROTO, "no such entry");
    entry.name.assign(end + 1, line.data() + line.size());
    entries.push_back(std::move(entry));
  }
  return {};
}

}  // namespace

Result<RemoteTree> RemoteTree::connect(const std::string& socket) {
  LT_TRY(Fd fd, ipc::connect_to(socket));
  return RemoteTree(std::move(fd));
}

Result<RemoteTree::Entry> RemoteTree::stat(const std::string& path) {
  LT_TRY(const ipc::Answer answer, ipc::ask(socket_.get(), {.operation = Operation::kTreeStat}, path));
  return Entry{static_cast<unsigned>(answer.reply.a), path};
}

Result<std::vector<RemoteTree::Entry>> RemoteTree::list(const std::string& path) {
  std::vector<Entry> entries;
  std::uint64_t next = 0;
  do {
    LT_TRY(const ipc::Answer answer, ipc::ask(socket_.get(), {.operation = Operation::kTreeList, .a = next}, path));
    LT_CHECK(append_entries(entries, answer.text));
    if (answer.reply.a != 0 && answer.reply.a <= next) return fail(EPROTO, "a listing without an end");
    next = answer.reply.a;
  } while (next != 0);
  return entries;
}

Result<void> RemoteTree::make_folder(const std::string& path) {
  LT_CHECK(ipc::ask(socket_.get(), {.operation = Operation::kTreeMakeFolder}, path));
  return {};
}

Result<void> RemoteTree::remove_folder(const std::string& path) {
  LT_CHECK(ipc::ask(socket_.get(), {.operation = Operation::kTreeRemoveFolder}, path));
  return {};
}

Result<void> RemoteTree::open(const std::string& path, int flags) {
  LT_CHECK(ipc::ask(socket_.get(), {.operation = Operation::kTreeOpen, .a = static_cast<std::uint64_t>(flags)}, path));
  position_ = 0;
  return {};
}

Result<std::string> RemoteTree::read() {
  LT_TRY(ipc::Answer answer,
         ipc::ask(socket_.get(), {.operation = Operation::kTreeRead, .a = ipc::kMaxText, .b = position_}));
  position_ += answer.text.size();
  return std::move(answer.text);
}

Result<void> RemoteTree::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, ipc::kMaxText);
    LT_TRY(const ipc::Answer answer,
           ipc::ask(socket_.get(), {.operation = Operation::kTreeWrite, .b = position_}, piece));
    if (answer.reply.a == 0 || answer.reply.a > piece.size()) return fail(EPIPE, "the file takes no more");
    position_ += answer.reply.a;
    bytes.remove_prefix(answer.reply.a);
  }
  return {};
}

}  // namespace landtrace::consumer
