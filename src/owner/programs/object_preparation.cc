#include "programs/object_preparation.hpp"

#include <mutex>

namespace landtrace::programs {
namespace {

// Then whoever asks looks through it itself, and learns why it takes so long.
constexpr std::chrono::seconds kLongest(30);

}  // namespace

struct ObjectPreparation::Job {
  KnownObjects::Key key;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::mutex mutex;
  bool is_done = false;
  KnownObjects found;

  bool done() {
    const std::lock_guard lock(mutex);
    return is_done;
  }
};

bool ObjectPreparation::is_ready(const KnownObjects::Key& key, const std::string& path, KnownObjects::Read read,
                                 KnownObjects& known) {
  if (known.has(key)) return true;
  if (job_ && job_->done()) {
    const std::shared_ptr<Job> done = std::exchange(job_, nullptr);
    known.take(done->found);
    if (done->key == key) return true;
  }
  if (job_) {
    if (std::chrono::steady_clock::now() - job_->begun < kLongest) return false;
    return std::exchange(job_, nullptr)->key == key;
  }
  job_ = std::make_shared<Job>();
  job_->key = key;
  worker_.leave([job = job_, path, read = std::move(read)] {
    std::ignore = job->found.object(job->key, read);
    if (const auto analysis = job->found.analysis(job->key, path, read)) (*analysis)->learn_recipes();
    const std::lock_guard lock(job->mutex);
    job->is_done = true;
  });
  return false;
}

}  // namespace landtrace::programs
