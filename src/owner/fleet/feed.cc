#include "fleet/feed.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "base/child_end.hpp"
#include "base/end_with_parent.hpp"
#include "base/spawn_settings.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::size_t kMostAtOnce = 8u << 20;

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace

Result<Feed> Feed::start(const std::string& program) {
  LT_TRY(Pipe input, make_pipe());
  LT_TRY(Pipe output, make_pipe());
  ::fcntl(output.read_end.get(), F_SETFL, O_NONBLOCK);
  SpawnSettings settings;
  ::posix_spawn_file_actions_adddup2(&settings.files, input.read_end.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.files, output.write_end.get(), STDOUT_FILENO);
  std::string name = program, what = "follow";
  char* const words[] = {name.data(), what.data(), nullptr};
  pid_t pid = -1;
  std::vector<std::string> variables{parent_variable()};
  const int code = ::posix_spawn(&pid, program.c_str(), &settings.files, &settings.attributes, words,
                                 environment_with(variables).data());
  if (code != 0) return fail(code, program + ": " + errno_text(code));
  return Feed(pid, std::move(input.write_end), std::move(output.read_end));
}

Feed::Feed(Feed&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      reader_(std::move(other.reader_)) {}

Feed& Feed::operator=(Feed&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  input_ = std::move(other.input_);
  output_ = std::move(other.output_);
  reader_ = std::move(other.reader_);
  return *this;
}

Feed::~Feed() { end(); }

void Feed::end() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);  // it has nothing to lose
  wait_for_end(pid_);
  pid_ = -1;
}

// The pipe has room for more lines than there are orders. One that has ended is told of by take().
void Feed::say(char what, const std::string& order) {
  const std::string line = what + order + "\n";
  std::ignore = ::write(input_.get(), line.data(), line.size());
}

Result<std::vector<FeedRecord>> Feed::take() {
  std::array<char, 65536> some{};
  std::vector<FeedRecord> records;
  for (std::size_t taken = 0; taken < kMostAtOnce;) {
    const ssize_t size = ::read(output_.get(), some.data(), some.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size <= 0 && records.empty()) return fail(EPIPE, "landtrace-fleet has ended");
    if (size <= 0) break;
    taken += static_cast<std::size_t>(size);
    reader_.add({some.data(), static_cast<std::size_t>(size)});
    for (;;) {
      LT_TRY(std::optional<FeedRecord> next, reader_.next());
      if (!next) break;
      records.push_back(*std::move(next));
    }
  }
  return records;
}

}  // namespace landtrace::fleet
