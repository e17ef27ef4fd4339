// What the tests of probes probe: a program that calls its functions so often, and says so.
//
//     probed N [exec|sleep|fork]    N requests; then the same in a child by fork() and exec(); or waits to be ended;
//                                   or has children that end at once, until nobody reads what it says
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" int handle_request(int number, const char* route) {
  usleep(100);
  return static_cast<int>(std::strlen(route)) + number;
}

extern "C" long countdown(long n) {
  volatile long left = n;
  return left <= 1 ? 1 : 1 + countdown(left - 1);
}

namespace shop {
struct Server {
  int run(int requests);
};
int Server::run(int requests) {
  int sum = 0;
  for (int i = 0; i < requests; ++i) sum += handle_request(i, i % 2 == 0 ? "/even" : "/odd");
  return sum;
}
}  // namespace shop

int main(int argc, char** argv) {
  const int requests = argc > 1 ? std::atoi(argv[1]) : 10;
  shop::Server server;
  std::printf("%d %ld\n", server.run(requests), countdown(5));
  std::fflush(stdout);
  if (argc <= 2) return 0;
  if (std::strcmp(argv[2], "sleep") == 0) return static_cast<int>(sleep(60));
  while (std::strcmp(argv[2], "fork") == 0) {
    if (fork() == 0) _exit(0);
    wait(nullptr);
    if (write(STDOUT_FILENO, ".", 1) != 1) return 1;
  }
  if (fork() == 0) {
    char* words[] = {argv[0], argv[1], nullptr};
    execv(argv[0], words);
    return 1;
  }
  int status = 0;
  wait(&status);
  return status;
}
