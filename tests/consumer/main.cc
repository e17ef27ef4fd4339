#include <landtrace/control.hpp>
#include <landtrace/landtrace.hpp>

using Greeting = landtrace::Event<"greeting", landtrace::Field<"text", std::string_view>>;

int main() {
  landtrace::Control control;
  if (control.open("/nonexistent/domain.sock") != -ENOENT || control.is_open()) return 1;
  const int result = Greeting::emit("hello");
  return Greeting::registration() == 0 && (result == 0 || result == -EBADF) ? 0 : 1;
}
