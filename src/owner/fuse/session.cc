#include "fuse/session.hpp"

#include <sys/uio.h>

#include <atomic>

#include "fuse/mounted_tree.hpp"
#include "fuse/wire.hpp"
#include "fuse/workers.hpp"

namespace landtrace::fuse {
namespace {

// Whether the tree has files that can be mapped. If not, mapping is not allowed at all: the kernel allows it for all
// files that are read past the page cache or for none.
bool has_pages(domain::Domain& domain, tracefs::Folder& root) {
  const auto access = domain.enter();
  const auto entries = root.list();
  if (!entries) return false;
  for (const auto& entry : *entries) {
    if (entry.is_folder) continue;
    const auto node = root.find(entry.name);
    if (node && (*node)->file() != nullptr && (*node)->file()->page() != nullptr) return true;
  }
  return false;
}

std::unique_ptr<MountedTree> tree_with(domain::Domain& domain, std::shared_ptr<tracefs::Folder> root,
                                       const SessionOptions& options) {
  return std::make_unique<MountedTree>(domain, std::move(root),
                                       Inodes::Shown{options.uid, options.gid, options.root_mode}, Ids(options.uids),
                                       Ids(options.gids));
}

}  // namespace

class Session::Connection : private domain::StatusPages::Watcher {
 public:
  Connection(domain::Domain& domain, std::shared_ptr<tracefs::Folder> root, const SessionOptions& options)
      : allows_pages_(has_pages(domain, *root)), tree_(tree_with(domain, std::move(root), options)) {}
  // In this order: changes of pages stop coming; requests stop, which may wait for the courier; errands stop using
  // the courier; the courier stops using libfuse's session.
  ~Connection() override {
    {
      const auto access = tree_->domain.enter();
      tree_->domain.status_pages().remove_watcher(*this);
    }
    workers_.reset();
    tree_->errands.stop();
    tree_->courier.stop();
    if (session_ != nullptr) fuse_session_destroy(session_);  // closes the descriptor
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<void> open(Fd fuse);
  Result<void> start();
  [[nodiscard]] bool has_ended() const { return workers_->has_ended(); }
  void page_changed(const std::byte* page, std::size_t offset, std::size_t size);

 private:
  static ssize_t write_answer(int fd, iovec* vectors, int count, void* tree);
  static ssize_t read_nothing(int, void*, std::size_t, void*) { return -ENOSYS; }
  static bool is_prompt(const wire::Request& request);
  void page_changed(domain::Page page, std::size_t offset) override;
  void greet(const wire::Request& request);
  void end();

  bool allows_pages_;
  std::unique_ptr<MountedTree> tree_;
  fuse_session* session_ = nullptr;
  int fd_ = -1;
  std::optional<Workers> workers_;
};

Result<void> Session::Connection::open(Fd fuse) {
  fuse_set_log_func([](fuse_log_level, const char*, va_list) {});  // it would write to stderr
  std::string name = "landtrace";
  char* arguments[] = {name.data(), nullptr};
  fuse_args args = FUSE_ARGS_INIT(1, arguments);
  const fuse_lowlevel_ops handlers = operations();
  session_ = fuse_session_new(&args, &handlers, sizeof handlers, tree_.get());
  fuse_opt_free_args(&args);
  if (session_ == nullptr) return fail(ENOMEM, "libfuse gives no session");
  fuse_custom_io io{};
  io.writev = write_answer;
  io.read = read_nothing;
  if (const int result = fuse_session_custom_io(session_, &io, fuse.get()); result != 0) {
    return fail_errno("libfuse does not take the descriptor", -result);
  }
  fd_ = fuse.release();
  return {};
}

Result<void> Session::Connection::start() {
  tree_->courier.start(session_, tree_->errands);
  {
    const auto access = tree_->domain.enter();
    tree_->domain.status_pages().add_watcher(*this);
  }
  workers_.emplace(tree_->domain, session_, fd_,
                   Workers::Hooks{is_prompt, [this](const auto& request) { greet(request); }, [this] { end(); }});
  tree_->let_pass = [this] { workers_->let_pass(); };
  return workers_->start();
}

void Session::Connection::page_changed(domain::Page page, std::size_t offset) {
  const domain::StatusPages& pages = tree_->domain.status_pages();
  page_changed(page == domain::Page::kBits ? pages.bits() : pages.bytes(), offset, 1);
}

void Session::Connection::page_changed(const std::byte* page, std::size_t offset, std::size_t size) {
  tree_->inodes.for_page(page, [&](std::uint64_t inode) { tree_->courier.bring(inode, page, offset, size); });
}

// Requests that are done at once (Workers). They must neither take the domain nor wait.
bool Session::Connection::is_prompt(const wire::Request& request) {
  if (wire::is_interrupt(request)) return true;
  if (wire::is_write(request)) return Handles::named(request.file).event_data.has_value();
  return wire::is_read(request) && request.is_cached_read && !Handles::named(request.file).is_paged;
}

void Session::Connection::greet(const wire::Request& request) {
  if (allows_pages_ && request.may_map_direct_io) tree_->init_to_allow_pages = request.unique;
}

// libfuse 3.14 has no field for the flag that lets files be mapped, so it is added to the answer to INIT on its way
// to the kernel.
ssize_t Session::Connection::write_answer(int fd, iovec* vectors, int count, void* tree) {
  // Pairs with the store in greet().
  std::atomic<std::uint64_t>& init = static_cast<MountedTree*>(tree)->init_to_allow_pages;
  if (init.load(std::memory_order_relaxed) == 0) return ::writev(fd, vectors, count);
  std::vector<std::byte> answer;
  for (const iovec& part : std::span(vectors, static_cast<std::size_t>(count))) {
    const auto* const bytes = static_cast<const std::byte*>(part.iov_base);
    answer.insert(answer.end(), bytes, bytes + part.iov_len);
  }
  if (wire::answers(answer, init)) {
    wire::allow_mapping_direct_io(answer);
    init = 0;
  }
  return ::write(fd, answer.data(), answer.size());
}

// The tree is unmounted, or the session stops. No thread works on a request any more.
void Session::Connection::end() {
  const auto access = tree_->domain.enter();
  tree_->waiters.give_up(ENOTCONN);
  tree_->handles.for_each([this](Handle& handle) { tree_->waiters.drop(handle); });
  tree_->handles.clear();
  tree_->listings.clear();
  tree_->inodes.forget_all();
}

Session::Session(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::serve(domain::Domain& domain, std::shared_ptr<tracefs::Folder> root, Fd fuse,
                                                const SessionOptions& options) {
  auto connection = std::make_unique<Connection>(domain, std::move(root), options);
  LT_CHECK(connection->open(std::move(fuse)));
  LT_CHECK(connection->start());
  return std::unique_ptr<Session>(new Session(std::move(connection)));
}

bool Session::has_ended() const { return connection_->has_ended(); }

void Session::page_changed(const std::byte* page, std::size_t offset, std::size_t size) {
  connection_->page_changed(page, offset, size);
}

}  // namespace landtrace::fuse
