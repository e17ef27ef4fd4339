#include "ipc/tree_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "ipc/socket.hpp"

namespace landtrace::ipc {
namespace {

// A file that takes nothing yet, or is not emptied yet, is asked again, so often, and so long after.
constexpr int kMostTries = 10'000;
constexpr useconds_t kUntilNextTry_us = 4'000;

// Appends what is in one answer to a listing.
Result<void> append_entries(std::vector<TreeClient::Entry>& entries, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    TreeClient::Entry entry;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), entry.mode, 8);
    if (error != std::errc{} || end == line.data() + line.size() || *end != ' ') return fail(EPROTO, "no such entry");
    entry.name.assign(end + 1, line.data() + line.size());
    entries.push_back(std::move(entry));
  }
  return {};
}

}  // namespace

Result<TreeClient> TreeClient::connect(const std::string& socket) {
  LT_TRY(Fd fd, connect_to(socket));
  return over(std::move(fd));
}

TreeClient TreeClient::over(Fd socket) {
  set_timeout(socket.get(), kAnswerPatience_ms);
  return TreeClient(std::move(socket));
}

Result<Answer> TreeClient::ask(Operation operation, std::string_view text, std::uint64_t a, std::uint64_t b) {
  return ipc::ask(socket_.get(), {.operation = operation, .a = a, .b = b}, text);
}

Result<TreeClient::Entry> TreeClient::stat(const std::string& path) {
  LT_TRY(const Answer answer, ask(Operation::kTreeStat, path));
  return Entry{static_cast<unsigned>(answer.reply.a), path};
}

Result<std::vector<TreeClient::Entry>> TreeClient::list(const std::string& path) {
  std::vector<Entry> entries;
  std::uint64_t next = 0;
  do {
    LT_TRY(const Answer answer, ask(Operation::kTreeList, path, next));
    LT_CHECK(append_entries(entries, answer.text));
    if (answer.reply.a != 0 && answer.reply.a <= next) return fail(EPROTO, "a listing without an end");
    next = answer.reply.a;
  } while (next != 0);
  return entries;
}

Result<void> TreeClient::make_folder(const std::string& path) {
  LT_CHECK(ask(Operation::kTreeMakeFolder, path));
  return {};
}

Result<void> TreeClient::remove_folder(const std::string& path) {
  LT_CHECK(ask(Operation::kTreeRemoveFolder, path));
  return {};
}

Result<void> TreeClient::open(const std::string& path, int flags) {
  for (int i = 0;; ++i) {
    const auto opened = ask(Operation::kTreeOpen, path, static_cast<std::uint64_t>(flags));
    if (opened) break;
    if (opened.error().code != EINPROGRESS || i == kMostTries) return tl::unexpected<Error>(opened.error());
    ::usleep(kUntilNextTry_us);
  }
  position_ = 0;
  return {};
}

void TreeClient::close() { std::ignore = ask(Operation::kTreeClose); }

Result<std::string> TreeClient::read() {
  LT_TRY(Answer answer, ask(Operation::kTreeRead, {}, kMaxText, position_));
  position_ += answer.text.size();
  return std::move(answer.text);
}

namespace {

// No more than goes into one request, and whole lines if there are any.
std::string_view first_part(std::string_view bytes) {
  if (bytes.size() <= kMaxText) return bytes;
  const std::size_t end = bytes.rfind('\n', kMaxText - 1);
  return bytes.substr(0, end == std::string_view::npos ? kMaxText : end + 1);
}

}  // namespace

Result<void> TreeClient::write(std::string_view bytes) {
  while (!bytes.empty()) {
    LT_TRY(const std::size_t taken, write_once(first_part(bytes)));
    if (taken == 0) return fail(EPIPE, "the file takes no more");
    bytes.remove_prefix(taken);
  }
  return {};
}

Result<std::size_t> TreeClient::write_once(std::string_view bytes) {
  for (int i = 0; i < kMostTries; ++i) {
    LT_TRY(const std::size_t taken, try_write(bytes));
    if (taken > 0 || bytes.empty()) return taken;
    ::usleep(kUntilNextTry_us);
  }
  return 0;
}

Result<std::size_t> TreeClient::try_write(std::string_view bytes) {
  refused_at_.reset();
  // Not by ask(): with an error, `a` says where the mistake is.
  LT_TRY(Answer answer, exchange(socket_.get(), {.operation = Operation::kTreeWrite, .b = position_}, bytes));
  if (answer.reply.error != 0) {
    if (answer.reply.a > 0) refused_at_ = answer.reply.a - 1;
    return fail(answer.reply.error, std::move(answer.text));
  }
  if (answer.reply.a > bytes.size()) return fail(EPROTO, "more bytes taken than there were");
  position_ += answer.reply.a;
  return answer.reply.a;
}

Result<void> TreeClient::write_at_end(std::string_view bytes) {
  LT_CHECK(ask(Operation::kTreeWriteAtEnd, bytes));
  return {};
}

Result<void> TreeClient::remove_folder_at_end(const std::string& path) {
  LT_CHECK(ask(Operation::kTreeWriteAtEnd, path, 2));
  return {};
}

void TreeClient::forget_at_end(std::string_view bytes) { std::ignore = ask(Operation::kTreeWriteAtEnd, bytes, 1); }

}  // namespace landtrace::ipc
