// Serves a domain over a socket: the event loop of an owner.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/fd.hpp"
#include "bpf_objects/objects.hpp"
#include "domain/domain.hpp"
#include "domain/proxy.hpp"
#include "host/last_words.hpp"
#include "host/user_sets.hpp"
#include "ipc/socket.hpp"
#include "tracefs/tree.hpp"

namespace landtrace::host {

// An event that a client refers to, and the user as whom it asked for that.
struct HeldEvent {
  std::uint32_t slot;
  std::uint32_t uid;
};

// A request whose answer is being made: it is carried out again until that is there. On its connection none waits
// beside it.
struct WaitingRequest {
  ipc::Request request;
  std::string text;
  std::uint32_t pid;
  programs::Identity who;
};

// One client connection.
struct Connection {
  Fd fd;
  domain::FileId file;  // generation 0: not a file
  std::vector<HeldEvent> native;
  std::uint32_t session = 0;  // instance of a consumer; 0: none
  std::string histograms;     // what is left to be read of them: all pieces are of one moment
  struct Reading {
    std::string what;  // the request's text
    bool of_session = false;
    std::unique_ptr<rules::LongReads::Awaited> tables;
  };
  Reading reading;  // histograms that are being read
  std::optional<WaitingRequest> waiting;
  std::uint32_t pid = 0;  // who asked last, and for which user
  std::uint32_t uid = 0;
  std::uint32_t counted_for = 0;  // whose descriptor it is
  bool in_group = false;          // made by a member of the domain's group
  bool offers_mount = false;      // may send a descriptor
  std::unique_ptr<tracefs::OpenFile> tree_file;
  int tree_flags = 0;  // as it was opened
  std::vector<LastWord> last_words;
  bpf_objects::Holdings bpf;
};

// A mounted /dev/fuse that somebody asks the owner to serve.
struct MountOffer {
  Fd fuse;
  std::string_view where;  // as the asker sees it
  std::uint32_t pid;       // the asker, who waits for the answer
  programs::Identity who;
};

// The answer to a request: a reply, its text, and descriptors of the server to send along.
struct Response {
  ipc::Reply reply;
  std::string text;
  int fds[2] = {-1, -1};
};

Response error_response(const Error& error);

// As kReopenFile asks. EBADF.
Result<domain::FileId> reopen_file(domain::Domain& domain, const ipc::Request& request, std::uint32_t pid,
                                   std::uint32_t uid);

// Carries a request out. `pid` and `who` are the sender's as the kernel gives them.
Response handle_request(domain::Domain& domain, rules::Rules& rules, Connection& connection, std::uint32_t pid,
                        programs::Identity who, const ipc::Request& request, std::string_view text);

class Server : private domain::ServingThread {
 public:
  // Listens at `path`; EADDRINUSE when an owner is there. The domain and its rules must outlive the server. With a
  // listener that somebody else has bound there, it takes that, and leaves the path alone when it ends.
  static Result<std::unique_ptr<Server>> create(domain::Domain& domain, rules::Rules& rules, const std::string& path,
                                                Fd listener = {});
  ~Server() override;

  // Serves until stop(). The calling thread is the owner: when it ends, producers see the domain as gone. Clears
  // every enable word before it returns.
  void run();
  // From any thread, and from a signal handler.
  void stop();

  // Before run(): clients wait until let_in(), and only the returned connection, the owner's own, is served.
  Result<Fd> keep_out();
  // From any thread.
  Result<void> let_in();

  // Before run(). `serve` is called in the serving thread for mounts that the domain's user or root hands over; without
  // one they are refused. `abi` is what the files follow, as kOfferMount has it.
  using Mounter = std::function<Result<void>(MountOffer)>;
  void set_mounter(Mounter serve, unsigned abi);
  // Before run(): members of the group may record the domain, too.
  void set_group(std::uint32_t gid) { group_ = gid; }

  [[nodiscard]] const std::string& path() const { return path_; }
  // What the socket's clients see of the domain's files, and what is mounted.
  [[nodiscard]] tracefs::Tree& tree() { return tree_; }

 private:
  Server(domain::Domain& domain, rules::Rules& rules, std::string path, bool owns_path, Fd listener, Fd epoll, Fd wake);

  void wake() override;
  void was_woken();
  void serve_round(std::span<const epoll_event> events);
  struct Reported;
  Reported sort_out(std::span<const epoll_event> events);
  struct Share;
  using Shares = std::map<std::uint32_t, Share>;  // by uid
  Share& share_of(std::uint32_t uid, Shares& shares) const;
  void serve_ended(std::uint32_t uid, Share& share);
  void serve_clients(Shares& shares);
  void follow_threads();
  void accept_some();
  void keep(Fd fd, std::uint32_t peer);
  bool turn_one_away();
  void refuse(int fd, int error, const std::string& why) const;
  void serve(int fd);
  void process_ended(int pidfd);
  bool serve_one(Connection& connection);
  Response carry_out(Connection& connection, const ipc::Request& request, std::string_view text, std::uint32_t pid,
                     programs::Identity who);
  bool finish(Connection& connection, Response response);
  bool answer(const Connection& connection, Response response);
  void answer_late();
  void serve_waiting();
  void open_file(Connection& connection, const ipc::Request& request, std::uint32_t pid, std::uint32_t uid);
  Result<void> offer_mount(Connection& connection, const ipc::Request& request, std::uint32_t uid) const;
  Result<void> serve_mount(Connection& connection, MountOffer offer);
  Connection& holder_of(Connection& asking, const ipc::Request& request);
  void close_connection(int fd);
  void watch_process(std::uint32_t pid) override;
  void note_ended(std::uint32_t pid);
  void sweep(std::chrono::steady_clock::time_point now);
  void keep_house();
  [[nodiscard]] int patience_ms() const;

  domain::Domain& domain_;
  std::string path_;
  bool owns_path_;
  Fd listener_;
  Fd epoll_;
  UserSets clients_;
  Fd wake_;
  Fd reserve_;  // given up for a moment to refuse a client when there is no other descriptor left
  domain::Proxy proxy_;
  tracefs::Tree tree_;  // outlives the connections, which have files of it open
  LastWords last_words_;
  bpf_objects::Objects bpf_objects_;  // outlives the connections, which hold them
  Mounter mounter_;
  unsigned abi_ = 0;
  std::optional<std::uint32_t> group_;
  std::unordered_map<int, Connection> connections_;
  // By user, the descriptor of a connection: the first that asked for something in the last round and was not served.
  std::unordered_map<std::uint32_t, int> left_out_;
  // By the descriptor of a connection: what it is told when the pages that were changed show it (domain/arrivals.hpp).
  std::vector<std::pair<int, Response>> late_answers_;
  std::vector<int> waiting_;  // connections with a waiting request, by their descriptors
  struct Watched {
    Fd pidfd;
    std::uint32_t pid;
  };
  std::unordered_map<int, Watched> processes_;     // by pidfd
  std::unordered_map<std::uint32_t, int> pidfds_;  // by pid
  std::vector<std::byte> buffer_;
  std::vector<epoll_event> second_look_;
  std::vector<std::uint32_t> seen_late_;  // users who were reported when the last round had begun
  bool stopped_ = false;
  // Processes have ended; words of theirs may wait for a child, or for memory to go. A hint that orders nothing:
  // without a partner.
  std::atomic<bool> sweeping_ = false;
  std::vector<std::uint32_t> ended_;  // whose memory was still there
  std::size_t ended_before_ = 0;      // of these, at the last sweep
  std::chrono::milliseconds sweep_interval_{};
  std::chrono::steady_clock::time_point next_sweep_{};
  bool producers_ended_ = false;
  std::chrono::steady_clock::time_point next_reap_{};
  std::chrono::steady_clock::time_point looked_at_guests_{};
  std::chrono::steady_clock::time_point next_look_at_guests_ = std::chrono::steady_clock::time_point::max();
  std::chrono::steady_clock::time_point next_make_up_ = std::chrono::steady_clock::time_point::max();
  bool grace_waits_ = false;
  std::chrono::milliseconds grace_interval_{};
  std::chrono::steady_clock::time_point next_grace_{};
};

}  // namespace landtrace::host
