// A program with USDT places, that says what passes them. Built with several options.
//
//     usdt_program N               N rounds
//     usdt_program watch FOLDER    says how its semaphores stand whenever they change; "fork" is a file that makes it
//                                  fork, "end" one that ends it, as does that FOLDER is gone; threads pass the places
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "usdt.h"

USDT_SEMAPHORE(app_guarded_semaphore);
USDT_SEMAPHORE(app_twice_semaphore);
int usdt_global = 77;
static const char* const kRoutes[] = {"/even", "/odd"};
static long table[8] = {10, 11, 12, 13, -14, 15, 16, 17};

struct Item {
  int a;
  signed char b;
  short c;
  unsigned long d;
};

__attribute__((noinline)) static int sizes(int n) {
  unsigned char u8 = (unsigned char)(200 + n);
  signed char s8 = (signed char)(-100 - n);
  unsigned short u16 = (unsigned short)(60000 + n);
  short s16 = (short)(-30000 - n);
  unsigned u32 = 4000000000u + (unsigned)n;
  int s32 = -2000000000 - n;
  unsigned long u64 = 0xfedcba9876543210ul + (unsigned long)n;
  long s64 = -0x123456789abcdefl - n;
  printf("sizes %u %d %u %d %u %d %lu %ld\n", u8, s8, u16, s16, u32, s32, u64, s64);
  USDT("app", "sizes", "1@%0 -1@%1 2@%2 -2@%3 4@%4 -4@%5 8@%6 -8@%7", "nor"(u8), "nor"(s8), "nor"(u16), "nor"(s16),
       "nor"(u32), "nor"(s32), "nor"(u64), "nor"(s64));
  return n + 1;
}

__attribute__((noinline)) static int memory(struct Item* item, long n) {
  printf("memory %d %d %d %lu %d %ld\n", item->a, item->b, item->c, item->d, usdt_global, table[n & 7]);
  USDT("app", "memory", "-4@%0 -1@%1 -2@%2 8@%3 -4@%4 -8@(%5,%6,8)", "m"(item->a), "m"(item->b), "m"(item->c),
       "m"(item->d), "m"(usdt_global), "r"(table), "r"(n & 7));
  return item->a;
}

__attribute__((noinline)) static int request(int number, const char* route, double cost) {
  printf("request %d %s %g\n", number, route, cost);
  USDT("app", "request", "-4@%0 8@%1 8f@%2 8f@%3 -4@$-5", "nor"(number), "nor"(route), "m"(cost), "x"(cost));
  return number;
}

// Its place is the last instruction before where the paths meet.
__attribute__((noinline)) static int last(int n) {
  int sum = n;
  if (n & 1) {
    printf("last %d\n", n);
    USDT("app", "last", "-4@%0", "nor"(n));
  }
  for (int i = 0; i < n % 4; ++i) {
    sum += i;
    USDT("app", "loop", "-4@%0 -4@%1", "nor"(i), "nor"(sum));
  }
  return sum;
}

__attribute__((noinline)) static int twice(int n) {
  USDT_AT("app", "twice", "app_twice_semaphore", "-4@%0", "nor"(n));
  sizes(n);
  USDT_AT("app", "twice", "app_twice_semaphore", "-8@%0", "nor"((long)n + 100));
  printf("twice %d\ntwice %d\n", n, n + 100);
  return n;
}

__attribute__((noinline)) static void guarded(int n) {
  if (__builtin_expect(app_guarded_semaphore != 0, 0)) {
    USDT_AT("app", "guarded", "app_guarded_semaphore", "-4@%0", "nor"(n));
  }
}

static volatile int is_over = 0;
static void* pass(void* unused) {
  for (int n = 0; !is_over; ++n) guarded(n);
  return unused;
}

static int is_there(const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

// The library's semaphore, while it is loaded.
static volatile unsigned short* library_semaphore(void* library) {
  return library == NULL ? NULL : (volatile unsigned short*)dlsym(library, "usdt_library_semaphore");
}

static void watch(const char* folder, const char* library_path) {
  char before[100] = "";
  const char* who = "program";
  void* library = NULL;
  while (!is_there(folder, "end") && is_there(folder, ".")) {
    char now[100];
    if (is_there(folder, "load") && library == NULL) library = dlopen(library_path, RTLD_NOW);
    if (!is_there(folder, "load") && library != NULL) {
      dlclose(library);
      library = NULL;
    }
    volatile unsigned short* const counter = library_semaphore(library);
    snprintf(now, sizeof now, "%s %u %u %d", who, app_guarded_semaphore, app_twice_semaphore,
             counter == NULL ? -1 : *counter);
    if (strcmp(now, before) != 0) {
      char line[110];
      snprintf(line, sizeof line, "%s\n", now);
      if (write(1, line, strlen(line)) < 0) return;
      strcpy(before, now);
    }
    if (is_there(folder, "fork") && strcmp(who, "program") == 0) {
      who = "parent";
      if (fork() == 0) who = "child";
    }
    usleep(1000);
  }
}

int main(int argc, char** argv) {
  if (argc > 3 && strcmp(argv[1], "watch") == 0) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, pass, NULL);
    watch(argv[2], argv[3]);
    is_over = 1;
    while (wait(NULL) > 0) continue;
    _exit(0);
  }
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  void* const library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
  int (*const in_library)(int) = library == NULL ? NULL : (int (*)(int))dlsym(library, "usdt_library_function");
  for (int n = 0; n < rounds; ++n) {
    struct Item item = {-7 - n, (signed char)-n, (short)(-300 - n), 1ul << n};
    sizes(n);
    memory(&item, n);
    request(n, kRoutes[n & 1], n * 0.5);
    last(n);
    twice(n);
    if (app_guarded_semaphore != 0) printf("guarded %d\n", n);
    guarded(n);
    USDT("app", "one", "-4@%0", "nor"(n));
    USDT("app", "next", "-4@%0", "nor"(n));
    USDT("app", "third", "");
    if (in_library != NULL) in_library(n);
  }
  return 0;
}
