// Texts that take long to make are made while others have the domain: in a thread of its own, one after the other, so
// that however many are asked for, what one of them takes is in memory once.
//
//   begin()  -->  waits for its turn  -->  make(), without the domain  -->  there  -->  take()
//
// What a text is made of is let go of with the domain held.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "base/result.hpp"
#include "rules/domain_names.hpp"

namespace landtrace::rules {

class LongReads {
 public:
  // What a text is made of. Made and let go of with the domain held.
  class Source {
   public:
    virtual ~Source() = default;
    // In another thread, which does not hold the domain. Nobody wants the text any more once `given_up` says so.
    virtual std::string make(const std::stop_token& given_up) = 0;
  };

 private:
  struct Task;
  struct Queue;

 public:
  // Whoever asked for a text has this, and holds the domain with each call. Whoever lets go of it gives it up, and need
  // not hold the domain for that.
  class Awaited {
   public:
    Awaited(std::shared_ptr<Queue> queue, std::shared_ptr<Task> task);
    ~Awaited();
    Awaited(const Awaited&) = delete;
    Awaited& operator=(const Awaited&) = delete;

    [[nodiscard]] bool is_there() const;
    // Once it is there, and only once. ENOMEM; ESHUTDOWN: the domain ends.
    Result<std::string> take();

   private:
    std::shared_ptr<Queue> queue_;
    std::shared_ptr<Task> task_;
  };

  // The domain must outlive it. When a text is there, whoever serves the domain is woken.
  explicit LongReads(Domain& domain);
  // The caller does not hold the domain, which the thread may be waiting for.
  ~LongReads();
  LongReads(const LongReads&) = delete;
  LongReads& operator=(const LongReads&) = delete;

  std::unique_ptr<Awaited> begin(std::unique_ptr<Source> source);

 private:
  void run();
  void carry_out(Task& task);

  Domain& domain_;
  std::shared_ptr<Queue> queue_;
  std::thread thread_;  // from the first text on
};

}  // namespace landtrace::rules
