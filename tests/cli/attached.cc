// A program that runs already when it is attached: how it waits, or what it does, is said by its first word. It prints
// "ready", and at its end what it has seen: calls that were interrupted though nobody sent a signal, and how often it
// called tick().
#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

extern "C" __attribute__((noinline)) int tick(int number) {
  asm volatile("movl $0, %%eax\n\tmovl $0, %%eax" : "+r"(number) : : "eax");
  return number + 1;
}

namespace {

std::atomic<bool> over = false;
std::atomic<int> interrupted = 0;
int ticks = 0;

long ms_since(const timespec& begin) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1'000'000;
}

// A call that takes a second by itself: how long it took, and whether it was interrupted.
int wait_once(const std::function<int()>& call) {
  timespec begin{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  std::puts("ready");
  if (call() < 0 && errno == EINTR) ++interrupted;
  std::printf("took %ld ms\n", ms_since(begin));
  return 0;
}

int sleep_once() {
  timespec second{1, 500'000'000};
  return ::nanosleep(&second, nullptr);
}
int epoll_once() {
  epoll_event event{};
  return ::epoll_wait(::epoll_create1(EPOLL_CLOEXEC), &event, 1, 1500);
}
int poll_once() { return ::poll(nullptr, 0, 1500); }
int select_once() {
  timeval second{1, 500'000};
  return ::select(0, nullptr, nullptr, nullptr, &second);
}
int signal_once() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const timespec second{1, 500'000'000};
  return ::sigtimedwait(&set, nullptr, &second);
}
int semaphore_once() {
  const int id = ::semget(IPC_PRIVATE, 1, 0600);
  sembuf down{0, -1, 0};
  const timespec second{1, 500'000'000};
  const int result = ::semtimedop(id, &down, 1, &second);
  const int error = errno;
  ::semctl(id, 0, IPC_RMID);
  errno = error;
  return result;
}
int futex_once() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  condition.wait_for(lock, std::chrono::milliseconds(1500));
  return 0;
}

// Until standard input says something, or ends. Other threads may be at work.
void wait_for_input() {
  char byte;
  while (::read(0, &byte, 1) < 0) ++interrupted;
  over = true;
}

// Waits with a limit, again and again, for what another thread says.
int futex_until_input() {
  std::mutex mutex;
  std::condition_variable condition;
  std::thread other([&] {
    wait_for_input();
    const std::lock_guard lock(mutex);
    condition.notify_one();
  });
  std::unique_lock lock(mutex);
  std::puts("ready");
  while (!over) condition.wait_for(lock, std::chrono::milliseconds(1500));
  lock.unlock();
  other.join();
  return 0;
}

void work(unsigned seed) {
  std::vector<void*> kept(64);
  while (!over) {
    seed = seed * 1103515245 + 12345;
    void*& one = kept[(seed >> 8) % kept.size()];
    std::free(one);
    one = std::malloc((seed >> 16) % 2000 + 1);
    std::memset(one, 1, 1);
  }
  for (void* one : kept) std::free(one);
}

int malloc_in_threads() {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
  std::puts("ready");
  wait_for_input();
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// Nobody waits: all of them do nothing but this.
int malloc_alone() {
  std::thread other([] { wait_for_input(); });
  other.detach();
  std::puts("ready");
  work(7);
  return 0;
}

void spin(int count) {
  for (int i = 0; i < count; ++i) asm volatile("");
}

// Nobody waits, as with input: it ends by SIGUSR1, and after two minutes in any case.
bool goes_on_until_told(const timespec& begin) { return !over && ms_since(begin) < 120'000; }
void hear_that_it_is_over() {
  struct sigaction action {};
  action.sa_handler = [](int) { over = true; };
  ::sigaction(SIGUSR1, &action, nullptr);
}

int busy(int count) {
  hear_that_it_is_over();
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([] {
      while (!over) spin(1);
    });
  }
  std::puts("ready");
  timespec begin{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  while (goes_on_until_told(begin)) spin(100'000);
  over = true;
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// Handlers that run in the middle of malloc(), all the time.
int handlers() {
  hear_that_it_is_over();
  struct sigaction action {};
  action.sa_handler = [](int) { spin(20'000); };
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 300}, {0, 300}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  std::puts("ready");
  timespec begin{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  while (goes_on_until_told(begin)) {
    for (int i = 0; i < 1000; ++i) std::free(std::malloc(static_cast<std::size_t>(i) * 8 + 1));
  }
  return 0;
}

int tick_often() {
  std::puts("ready");
  pollfd input{0, POLLIN, 0};
  for (int ready = 0; ready != 1; ready = ::poll(&input, 1, 1)) {
    if (ready < 0) ++interrupted;
    ticks = tick(ticks);
  }
  return 0;
}

int tick_in_child() {
  std::puts("ready");
  char byte;
  if (::read(0, &byte, 1) != 1) return 1;
  const pid_t child = ::fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i) tick(i);
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("child %d\n", status);
  return 0;
}

// Another thread forks while the loader's lock is held by whoever looks at its list the first time.
struct ForkMeanwhile {
  std::atomic<bool> armed = false;
  std::atomic<bool> wanted = false;
  std::atomic<bool> done = false;
} fork_meanwhile;

void let_fork() {
  if (!fork_meanwhile.armed.exchange(false)) return;
  fork_meanwhile.wanted = true;
  // It may have to wait for us.
  for (int i = 0; i < 500 && !fork_meanwhile.done; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int fork_and_load() {
  fork_meanwhile.armed = true;
  std::thread forks([] {
    while (!over && !fork_meanwhile.wanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (!fork_meanwhile.wanted) return;
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      std::_Exit(::dlopen("libresolv.so.2", RTLD_NOW) != nullptr ? 0 : 1);
    }
    fork_meanwhile.done = true;
    int status = 0;
    ::waitpid(child, &status, 0);
    std::printf("child %d\n", status);
  });
  std::puts("ready");
  wait_for_input();
  over = true;
  forks.join();
  return 0;
}

int read_input() {
  std::puts("ready");
  wait_for_input();
  return 0;
}

int untouchable() {
  ::prctl(PR_SET_DUMPABLE, 0);
  return read_input();
}

const std::map<std::string, std::function<int()>> kWays = {
    {"sleep", [] { return wait_once(sleep_once); }},
    {"epoll", [] { return wait_once(epoll_once); }},
    {"poll", [] { return wait_once(poll_once); }},
    {"select", [] { return wait_once(select_once); }},
    {"signal", [] { return wait_once(signal_once); }},
    {"semaphore", [] { return wait_once(semaphore_once); }},
    {"futex", [] { return wait_once(futex_once); }},
    {"futex_until_input", futex_until_input},
    {"read", read_input},
    {"malloc", malloc_in_threads},
    {"malloc_alone", malloc_alone},
    {"busy", [] { return busy(8); }},
    {"busy_alone", [] { return busy(0); }},
    {"handlers", handlers},
    {"tick", tick_often},
    {"fork", tick_in_child},
    {"fork_and_load", fork_and_load},
    {"untouchable", untouchable},
};

using LookAtObject = int (*)(dl_phdr_info*, std::size_t, void*);
struct Look {
  LookAtObject function;
  void* data;
};

}  // namespace

// Stands in front of the C library's.
extern "C" int dl_iterate_phdr(LookAtObject function, void* data) {
  static const auto real = reinterpret_cast<int (*)(LookAtObject, void*)>(::dlsym(RTLD_NEXT, "dl_iterate_phdr"));
  Look look{function, data};
  return real(
      [](dl_phdr_info* info, std::size_t size, void* what) {
        let_fork();
        const auto& [then, its] = *static_cast<Look*>(what);
        return then(info, size, its);
      },
      &look);
}

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto way = kWays.find(argc > 1 ? argv[1] : "");
  if (way == kWays.end()) return 2;
  const int status = way->second();
  std::printf("interrupted %d ticks %d\n", interrupted.load(), ticks);
  return status;
}
