#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/doctor/attempt.hpp"
#include "cli/doctor/check.hpp"
#include "cli/doctor/program.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"
#include "cli/private_tracefs.hpp"
#include "consumer/collector.hpp"
#include "daemon/hosted_domain.hpp"
#include "ipc/path.hpp"

namespace landtrace::cli::doctor {
namespace {

class Counter : public consumer::Sink {
 public:
  void type(const output::EventType&) override {}
  void task(std::int32_t, const output::Task&) override {}
  void event(const output::Record&, const output::EventType& type) override { events += type.name == kDoctorEvent; }
  void lost(std::uint32_t, std::uint64_t) override {}

  std::uint64_t events = 0;
};

// A folder that is removed with the object.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make() {
    std::string path = (std::filesystem::temp_directory_path() / "landtrace-doctor-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) return fail_errno("mkdtemp " + path);
    return ScratchFolder(path);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~ScratchFolder() {
    if (!path_.empty()) ::rmdir(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A domain with a recorder, and programs that try to get an event into it.
class Trial {
 public:
  static Result<std::unique_ptr<Trial>> start() {
    LT_TRY(const std::string folder, ipc::runtime_folder());
    std::unique_ptr<Trial> trial(new Trial);
    LT_TRY(trial->hosted_,
           daemon::HostedDomain::start({.socket = fmt::format("{}/doctor-{}.sock", folder, ::getpid())}));
    LT_TRY(trial->view_, consumer::DomainView::connect(trial->hosted_->path()));
    LT_TRY(trial->session_, consumer::Session::open(*trial->view_, {.ring_bytes = 64u << 10}));
    LT_CHECK(trial->session_->listen(kDoctorEvent));
    trial->collector_.emplace(*trial->view_, *trial->session_, trial->counter_);
    return trial;
  }

  Result<void> native() {
    std::vector<std::string> environment = own_environment();
    std::erase_if(environment, [](const std::string& word) { return word.starts_with("LANDTRACE_SOCKET="); });
    environment.push_back("LANDTRACE_SOCKET=" + hosted_->path());
    return expect_event("native", environment);
  }
  Result<void> shim() {
    LT_TRY(const std::string preload, find_preload());
    return expect_event("files:/sys/kernel/tracing", traced_environment(hosted_->path(), preload));
  }
  Result<void> mount() {
    LT_TRY(const ScratchFolder folder, ScratchFolder::make());
    LT_TRY([[maybe_unused]] const Fd watch, hosted_->mounts().mount(folder.path(), false));
    auto tried = expect_event("files:" + folder.path(), own_environment());
    auto unmounted = daemon::unmount_folder(folder.path());
    return tried ? std::move(unmounted) : std::move(tried);
  }
  Result<void> private_tracefs() {
    return run_program(tracefs_command(hosted_->path(), Ids::kSame,
                                       {own_program(), "doctor", "--attempt", "readme:/sys/kernel/tracing"}),
                       own_environment());
  }

 private:
  Trial() = default;

  Result<void> expect_event(const std::string& way, const std::vector<std::string>& environment) {
    const std::uint64_t before = counter_.events;
    LT_CHECK(run_program({own_program(), "doctor", "--attempt", way}, environment));
    LT_CHECK(collector_->drain());
    return counter_.events > before ? Result<void>{} : fail(EPROTO, "the event did not arrive");
  }

  std::unique_ptr<daemon::HostedDomain> hosted_;
  std::optional<consumer::DomainView> view_;
  std::optional<consumer::Session> session_;
  Counter counter_;
  std::optional<consumer::Collector> collector_;
};

Check of(const char* group, const char* id, const Result<void>& tried, const char* works, const char* advice) {
  if (tried) return {group, id, State::kWorks, works, ""};
  return {group, id, State::kMissing, sentence(tried.error()), advice};
}

}  // namespace

std::vector<Check> check_ways() {
  const auto trial = Trial::start();
  if (!trial) {
    const std::string why = sentence(trial.error());
    return {{kRecording, "domain", State::kMissing, why, "a folder for sockets is needed: set XDG_RUNTIME_DIR"}};
  }
  return {
      of(kRecording, "native_library", (*trial)->native(), "an event was recorded", "is the library this version's?"),
      of(kRecording, "preload_shim", (*trial)->shim(), "an event of an unmodified program was recorded",
         "install the shim beside this program, or name it with LANDTRACE_PRELOAD"),
      of(kFiles, "mount", (*trial)->mount(), "an event was written to a mounted user_events_data",
         "see dev_fuse and fusermount3; without a mount, `landtrace run` serves programs by the shim"),
      of(kFiles, "private_tracefs", (*trial)->private_tracefs(), "`landtrace run --tracefs` shows a command the files",
         "see dev_fuse and user_namespaces"),
  };
}

}  // namespace landtrace::cli::doctor
