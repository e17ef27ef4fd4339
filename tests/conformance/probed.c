/* The program whose functions the transcripts 90 to 92 probe. Its functions are kept apart and whole; what it prints
 * must be the same whether or not they are probed.
 *
 *   probed add A B | sum6 A B C D E F | greet TEXT | greet-null | point X Y NAME | fact N | tail N | wide | jump N
 *   probed many N | threads T N | fork N | narrow A | chain TEXT | fp A
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define APART __attribute__((noinline, used))
#else
#define APART __attribute__((noinline, noclone, noipa, used))
#endif

struct point {
  int x;
  int y;
  char name[16];
  const char* label;
};

volatile long counter = 77;
const char* volatile words[2] = {"first", "second"};
static jmp_buf back;

APART int add(int a, int b) { return a + b; }
APART long sum6(long a, long b, long c, long d, long e, long f) { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f; }
APART int greet(const char* text) { return text == NULL ? -1 : (int)strlen(text); }
APART int use(const struct point* p) { return p->x * p->y + (int)strlen(p->name); }
APART long fact(long n) { return n <= 1 ? 1 : n * fact(n - 1); }
APART int tail(int n) { return add(n, 1); }
APART uint64_t wide(void) { return 0x123456789abcdef0ull; }
APART int narrow(int8_t a) { return a; }
APART void jump(int n) {
  if (n > 0) longjmp(back, n);
  counter += n;
}
APART const char* chain(const char** pair) { return pair[1]; }
APART double fp(double a) { return a * 2; }

static int calls;
static void* run(void* unused) {
  (void)unused;
  long sum = 0;
  for (int i = 0; i < calls; ++i) sum += add(i, 1);
  return (void*)sum;
}

static long number(char** argv, int i) { return argv[i] == NULL ? 0 : strtol(argv[i], NULL, 0); }

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* what = argv[1];
  if (strcmp(what, "add") == 0) {
    printf("%d\n", add((int)number(argv, 2), (int)number(argv, 3)));
  } else if (strcmp(what, "sum6") == 0) {
    printf("%ld\n", sum6(number(argv, 2), number(argv, 3), number(argv, 4), number(argv, 5), number(argv, 6),
                         number(argv, 7)));
  } else if (strcmp(what, "greet") == 0) {
    printf("%d\n", greet(argv[2]));
  } else if (strcmp(what, "greet-null") == 0) {
    printf("%d\n", greet(NULL));
  } else if (strcmp(what, "point") == 0) {
    struct point p = {(int)number(argv, 2), (int)number(argv, 3), "", "a label"};
    strncpy(p.name, argv[4], sizeof p.name - 1);
    printf("%d\n", use(&p));
  } else if (strcmp(what, "fact") == 0) {
    printf("%ld\n", fact(number(argv, 2)));
  } else if (strcmp(what, "tail") == 0) {
    printf("%d\n", tail((int)number(argv, 2)));
  } else if (strcmp(what, "wide") == 0) {
    printf("%llx\n", (unsigned long long)wide());
  } else if (strcmp(what, "narrow") == 0) {
    printf("%d\n", narrow((int8_t)number(argv, 2)));
  } else if (strcmp(what, "fp") == 0) {
    printf("%g\n", fp((double)number(argv, 2)));
  } else if (strcmp(what, "chain") == 0) {
    const char* pair[2] = {"unused", argv[2]};
    printf("%s\n", chain(pair));
  } else if (strcmp(what, "jump") == 0) {
    const int n = (int)number(argv, 2);
    for (volatile int i = 0; i < n; ++i) {
      if (setjmp(back) == 0) jump(n);
    }
    jump(0);
    printf("back %d times, %d\n", n, add(n, 0));
  } else if (strcmp(what, "many") == 0) {
    calls = (int)number(argv, 2);
    printf("%ld\n", (long)run(NULL));
  } else if (strcmp(what, "threads") == 0) {
    const int threads = (int)number(argv, 2);
    calls = (int)number(argv, 3);
    pthread_t* ids = malloc(sizeof *ids * (size_t)threads);
    long sum = 0;
    for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, run, NULL);
    for (int i = 0; i < threads; ++i) {
      void* part = NULL;
      pthread_join(ids[i], &part);
      sum += (long)part;
    }
    printf("%ld\n", sum);
    free(ids);
  } else if (strcmp(what, "fork") == 0) {
    fflush(stdout);
    const int n = (int)number(argv, 2);
    for (int i = 0; i < n; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(add(i, 10));
      int status = 0;
      waitpid(child, &status, 0);
      printf("%d\n", WEXITSTATUS(status));
    }
  } else {
    return 2;
  }
  return 0;
}
