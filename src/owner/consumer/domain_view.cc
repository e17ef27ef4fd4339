#include "consumer/domain_view.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::consumer {
namespace {

constexpr std::uint32_t kMaxRings = 65536;

}  // namespace

DomainView::DomainView(Fd socket, Mapping control, std::uint64_t data_bytes)
    : socket_(std::move(socket)), control_(std::move(control)), data_bytes_(data_bytes) {
  cpus_ = this->control().cpus;
  claimed_ = this->control().claimed;
}

Result<DomainView> DomainView::connect(const std::string& path) {
  LT_TRY(Fd socket, ipc::connect_to(path));
  ipc::set_timeout(socket.get(), ipc::kAnswerPatience_ms);
  LT_TRY(ipc::Answer answer, ipc::ask(socket.get(), {.operation = ipc::Operation::kAttach}));
  if (!answer.fds[0]) return fail(EPROTO, path + ": the owner sent no control segment");
  LT_CHECK(check_sealed_memfd(answer.fds[0].get(), plan::kControlBytes));
  LT_TRY(Mapping control, Mapping::map(answer.fds[0].get(), plan::kControlBytes, Mapping::Access::kReadOnly));
  DomainView view(std::move(socket), std::move(control), answer.reply.b);
  const plan::ControlSegment& segment = view.control();
  if (segment.magic != plan::kControlMagic || segment.version != plan::kLayoutVersion) {
    return fail(EPROTO, path + ": the domain is of another version of Landtrace");
  }
  if (view.cpus_ == 0 || view.cpus_ > kMaxRings || view.claimed_ > kMaxRings ||
      view.data_bytes_ < sizeof(plan::DataSegment)) {
    return fail(EPROTO, path + ": the domain's control segment makes no sense");
  }
  return view;
}

User* DomainView::user_at(std::uint32_t index) {
  const auto found =
      std::find_if(users_.rbegin(), users_.rend(), [index](const User& user) { return user.index == index; });
  return found == users_.rend() ? nullptr : &*found;
}

Result<void> DomainView::map_user(std::uint32_t index) {
  LT_TRY(ipc::Answer answer, ask({.operation = ipc::Operation::kDataSegment, .a = index}));
  if (!answer.fds[0]) return fail(EPROTO, "the owner sent no data segment");
  User* const known = user_at(index);
  if (known != nullptr && known->serial == answer.reply.b) return {};
  LT_CHECK(check_sealed_memfd(answer.fds[0].get(), data_bytes_));
  LT_TRY(Mapping mapping, Mapping::map(answer.fds[0].get(), data_bytes_, Mapping::Access::kReadOnly));
  if (known != nullptr) known->has_left = true;
  users_.push_back({static_cast<std::uint32_t>(answer.reply.a), index, answer.reply.b, false, std::move(mapping)});
  return {};
}

Result<void> DomainView::map_new_users() {
  const std::uint32_t count = std::min(__atomic_load_n(&control().user_count, __ATOMIC_RELAXED), plan::kMaxUsers);
  // Pairs with the release in Domain::replace_one_who_left().
  const std::uint64_t changes = __atomic_load_n(&control().user_changes, __ATOMIC_ACQUIRE);
  const bool has_changed = std::exchange(changes_seen_, changes) != changes;
  for (std::uint32_t i = has_changed ? 0 : users_seen_; i < count; ++i) LT_CHECK(map_user(i));
  users_seen_ = count;
  return {};
}

}  // namespace landtrace::consumer
