// Long texts on a terminal, page by page.
#pragma once

#include <sys/types.h>

namespace landtrace::cli {

class Pager {
 public:
  // Where standard output is a terminal, and $PAGER (less, where that is not set) can be started, standard output
  // goes there until this ends. An empty $PAGER, or "cat", is none.
  Pager();
  // Waits until the reader is done.
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  pid_t pid_ = 0;
  int terminal_ = -1;
};

// A reader of standard output that goes away, as `head` does, ends the command with success and without a word, by
// EPIPE and not by a signal.
void survive_closed_output();

}  // namespace landtrace::cli
