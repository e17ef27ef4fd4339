// Waits for producers to have changed soft state, for a domain with several users: what a trigger does in one user's
// program reaches the programs of the others by the owner. (Those of one user see it in the memory that they share.)
//
// A producer counts in its data segment's `attention` and wakes whoever waits for that word; here a thread waits for
// the words of all users at once.
#pragma once

#include <mutex>
#include <thread>
#include <vector>

#include "domain/segment_names.hpp"

namespace landtrace::domain {

class Attention {
 public:
  // When producers have changed something the thread takes the domain, by its mutex, and spreads the cells: not more
  // than about a thousand times a second, whatever producers do.
  Attention(std::recursive_mutex& domain, Cells& cells) : domain_(domain), cells_(cells) {}
  ~Attention();
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  // Another word to wait for, which stays as long as this. The thread begins with the second one: before it there is
  // nobody to be told.
  void watch(const std::uint32_t* word);
  // A word is another one by now, at the same address.
  void look_again() { wake(); }

 private:
  void run();
  void wake();

  std::recursive_mutex& domain_;
  Cells& cells_;
  std::mutex mutex_;
  std::vector<const std::uint32_t*> words_;
  bool stopped_ = false;
  std::uint32_t own_word_ = 0;  // counts what changed here
  std::thread thread_;
};

}  // namespace landtrace::domain
