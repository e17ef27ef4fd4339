// Large objects take seconds to look through. A thread of its own does that, so that others need not wait.
#pragma once

#include <chrono>

#include "programs/known_objects.hpp"
#include "programs/patient_worker.hpp"

namespace landtrace::programs {

class ObjectPreparation {
 public:
  // Whether the object is among the known ones. False: it is being looked through, or will be; ask again in a moment.
  // True, too, where it cannot be looked through, or not in time.
  bool is_ready(const KnownObjects::Key& key, const std::string& path, KnownObjects::Read read, KnownObjects& known);

 private:
  struct Job;

  std::shared_ptr<Job> job_;  // one at a time
  PatientWorker worker_;
};

}  // namespace landtrace::programs
