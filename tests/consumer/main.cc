#include <landtrace/landtrace.hpp>

using Greeting = landtrace::Event<"greeting", landtrace::Field<"text", std::string_view>>;

int main() {
  const int result = Greeting::emit("hello");
  return Greeting::registration() == 0 && (result == 0 || result == -EBADF) ? 0 : 1;
}
