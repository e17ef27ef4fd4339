// Input: what clients of two connections send an owner, one message after the other. Whatever they say, the owner
// answers each, and goes on. Enable words that they name lie in a child that does nothing.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "host/tree_requests.hpp"
#include "rules/rules.hpp"

namespace {

using namespace landtrace;
using namespace std::string_view_literals;
using ipc::Operation;

constexpr std::array kOperations = {
    Operation::kOpenFile,          Operation::kReopenFile,    Operation::kAttach,      Operation::kRegister,
    Operation::kUnregister,        Operation::kDelete,        Operation::kForking,     Operation::kForked,
    Operation::kRegisterNative,    Operation::kReleaseNative, Operation::kOpenSession, Operation::kSessionEvents,
    Operation::kSessionStop,       Operation::kConsumed,      Operation::kDataSegment, Operation::kSessionSelect,
    Operation::kSessionState,      Operation::kSessionRecord, Operation::kHistograms,  Operation::kRegisterPlain,
    Operation::kRegisterStatusBit, Operation::kStatusPage,    Operation::kStatusText,  Operation::kAbout,
    Operation::kOfferMount,        Operation::kServeMount,    Operation::kTreeStat,    Operation::kTreeList,
    Operation::kTreeOpen,          Operation::kTreeRead,      Operation::kTreeWrite,   Operation::kTreeMakeFolder,
    Operation::kTreeRemoveFolder,  Operation::kTreeClose,     Operation::kHoldEvent,   Operation::kEventLayout,
};

// Texts that lead somewhere; others are spelt out in the input.
constexpr std::array kTexts = {
    "e u32 a; u64 b; char c[8]"sv,
    "f __rel_loc char[] text"sv,
    "e"sv,
    "user_events:e"sv,
    "user_events:*"sv,
    "user_events:e\0a > 5\0traceoff:2 if a == 1\0"sv,
    "instances/i"sv,
    "instances/i/events/user_events/e/trigger"sv,
    "events/user_events/e/filter"sv,
    "events/user_events/e/trigger"sv,
    "events/user_events/e/hist"sv,
    "events/user_events/e/enable"sv,
    "events/user_events/e/format"sv,
    "events/enable"sv,
    "events"sv,
    ""sv,
    "set_event"sv,
    "set_event_pid"sv,
    "synthetic_events"sv,
    "dynamic_events"sv,
    "snapshot"sv,
    "trace"sv,
    "trace_pipe"sv,
    "trace_marker"sv,
    "trace_marker_raw"sv,
    "trace_options"sv,
    "trace_clock"sv,
    "tracing_on"sv,
    "tracing_cpumask"sv,
    "buffer_size_kb"sv,
    "per_cpu/cpu0/trace_pipe_raw"sv,
    "per_cpu/cpu0/stats"sv,
    "saved_cmdlines_size"sv,
    "error_log"sv,
    "hist:keys=a:vals=b:ts0=common_timestamp.usecs if a > 3"sv,
    "hist:keys=a:onmax($x).save(b):x=b"sv,
    "lat u64 d; char name[16]"sv,
    "e:probes/p user_events.e x=$a:u32"sv,
    "a > 5 && c == \"text\""sv,
    "1"sv,
    "0"sv,
};

// A process that waits for its end; what is written to its memory harms nobody.
pid_t make_child() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) ::pause();
}

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    const std::size_t n = std::min(bytes, size_);
    std::memcpy(&value, data_, n);
    skip(n);
    return value;
  }
  // Mostly small.
  std::uint64_t argument() {
    const std::uint64_t first = number(1);
    if (first < 0xf0) return first;
    return first < 0xf8 ? number(2) : first == 0xff ? ~0ull : number(8);
  }
  std::string text() {
    const std::uint64_t first = number(1);
    if (first < kTexts.size()) {
      std::string known(kTexts[first]);
      if ((number(1) & 1) != 0) known += '\0';
      return known;
    }
    const std::size_t n = std::min<std::size_t>(number(2) % 1024, size_);
    std::string spelt(reinterpret_cast<const char*>(data_), n);
    skip(n);
    return spelt;
  }

 private:
  void skip(std::size_t n) {
    data_ += n;
    size_ -= n;
  }

  const std::uint8_t* data_;
  std::size_t size_;
};

// A domain with its connections, as the server has them.
class Owner {
 public:
  Owner() : domain_(*domain::Domain::create({.ring_bytes = 1 << 18})), rules_(*domain_), tree_(*domain_, rules_) {}
  ~Owner() {
    const auto access = domain_->enter();
    for (host::Connection& connection : connections_) close(connection);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void serve(Bytes bytes, pid_t child) {
    const auto access = domain_->enter();
    for (int messages = 0; messages < 64 && !bytes.empty(); ++messages)
      serve_one(bytes, static_cast<std::uint32_t>(child));
    for (host::Connection& connection : connections_) close(connection);
    domain_->maintain();
    domain_->grace().poll();
  }

 private:
  void serve_one(Bytes& bytes, std::uint32_t pid) {
    const std::uint64_t who_sends = bytes.number(1);
    host::Connection& connection = connections_[who_sends & 1];
    constexpr std::uint32_t kGuest = 12'345;
    const std::uint32_t uid = (who_sends & 2) != 0 ? kGuest : ::geteuid();
    const programs::Identity who{uid, uid};
    connection.in_group = (who_sends & 4) != 0;
    connection.pid = pid;
    connection.uid = uid;
    ipc::Request request;
    const std::uint64_t operation = bytes.number(1);
    request.operation =
        operation < 0xf0 ? kOperations[operation % kOperations.size()] : static_cast<Operation>(bytes.number(4));
    if ((who_sends & 8) != 0) request.file_slot = static_cast<std::uint32_t>(bytes.argument());
    if ((who_sends & 8) != 0) request.file_generation = static_cast<std::uint32_t>(bytes.argument());
    if ((who_sends & 16) != 0) {
      request.file_slot = last_file_.slot;
      request.file_generation = last_file_.generation;
    }
    request.a = bytes.argument();
    request.b = bytes.argument();
    if ((who_sends & 64) != 0 && domain_->files().check(last_file_)) {
      request.b = ipc::with_key(domain_->files().key_of(last_file_), static_cast<std::uint8_t>(request.b));
    }
    if ((who_sends & 32) != 0) request.c = bytes.argument();
    if ((who_sends & 32) != 0) request.d = bytes.argument();
    const std::string text = bytes.text();
    request.text_size = static_cast<std::uint32_t>(text.size());
    carry_out(connection, pid, who, request, text);
  }

  void carry_out(host::Connection& connection, std::uint32_t pid, programs::Identity who, const ipc::Request& request,
                 const std::string& text) {
    if (request.operation == Operation::kOpenFile || request.operation == Operation::kReopenFile) {
      if (connection.file.generation != 0) return;
      const auto file = request.operation == Operation::kOpenFile ? domain_->registrar().open_file(who.uid, pid)
                                                                  : host::reopen_file(*domain_, request, pid, who.uid);
      if (file) last_file_ = connection.file = *file;
      return;
    }
    const host::Response response = host::is_tree_request(request.operation)
                                        ? host::handle_tree_request(tree_, connection, {pid, who}, request, text)
                                        : host::handle_request(*domain_, rules_, connection, pid, who, request, text);
    if (response.reply.error < 0 || response.reply.error > 4095) std::abort();
  }

  // As Server::close_connection().
  void close(host::Connection& connection) {
    if (connection.file.generation != 0) domain_->files().close(connection.file);
    for (const auto& [slot, uid] : connection.native) domain_->events().drop_reference(slot, uid);
    if (connection.session != 0)
      domain::destroy_instance(connection.session, domain_->listening(), domain_->instances());
    connection = {};
  }

  std::unique_ptr<domain::Domain> domain_;
  rules::Rules rules_;
  tracefs::Tree tree_;
  std::array<host::Connection, 2> connections_;
  domain::FileId last_file_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const pid_t child = make_child();
  // What lasts (persistent events, instances) fills a domain up.
  constexpr int kInputs = 200;
  static std::unique_ptr<Owner> owner;
  static int inputs = 0;
  if (inputs++ % kInputs == 0) {
    owner.reset();
    owner = std::make_unique<Owner>();
  }
  owner->serve({data, size}, child);
  return 0;
}
