#include "owner.hpp"

namespace landtrace::bench {

Owner::Owner(std::string socket) : socket_(std::move(socket)), child_(role("owner", {socket_})) {
  if (const std::string answer = child_.line(); answer != "ready") throw Broken("owner: " + answer);
}

std::uint64_t Owner::ask(const std::string& line) {
  child_.send(line);
  return std::stoull(child_.line());
}

std::uint64_t Owner::listen(const std::string& pattern, bool on) { return ask((on ? "listen " : "ignore ") + pattern); }
void Owner::write(const std::string& path, const std::string& text) {
  child_.send("write " + path + " " + text);
  if (const std::string answer = child_.line(); answer != "0") throw Broken(path + ": " + text + ": " + answer);
}
std::uint64_t Owner::written() { return ask("written"); }
std::uint64_t Owner::written_portably() { return ask("written-portably"); }

}  // namespace landtrace::bench
