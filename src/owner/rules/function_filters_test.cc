// Filters that look for functions of the programs that write.
#include "programs/program_functions.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules/filters.hpp"
#include "domain/proxy.hpp"
#include "rules/rules.hpp"
#include "rules/triggers.hpp"

namespace landtrace::rules {

using domain::FileId;
using domain::Proxy;

[[gnu::noinline]] int looked_for_by_the_test(int n) { return n * 3 + ::getppid(); }

namespace {

class FunctionFilters : public testing::Test {
 protected:
  FunctionFilters() : domain_(*Domain::create({.ring_bytes = 1 << 18})), proxy_(*domain_) {
    file_ = *domain_->registrar().open_file(::geteuid());
    event_ = domain_->events().register_event("call u64 ip", 0, ::geteuid())->event;
    EXPECT_TRUE(domain_->files().add_event(file_, *event_));
    EXPECT_TRUE(domain_->listening().set(domain_->top(), {event_}, true));
    EXPECT_TRUE(rules_.triggers().apply(domain_->top(), *event_, "traceon:1000000"));
    domain_->instances().set_tracing(domain_->top(), false);
  }
  // Whether an event with that address passes: the trigger with the filter switches tracing on.
  bool passes(const void* address, std::uint32_t tid) {
    domain_->instances().set_tracing(domain_->top(), false);
    const std::uint32_t index = 0;
    const auto ip = reinterpret_cast<std::uint64_t>(address);
    const iovec vectors[] = {{const_cast<std::uint32_t*>(&index), 4}, {const_cast<std::uint64_t*>(&ip), 8}};
    EXPECT_EQ(proxy_.write(file_, tid, ::geteuid(), vectors), 12);
    return domain_->instances().is_tracing(domain_->top());
  }
  int watch(const char* filter) {
    rules_.triggers().remove_all(domain_->top(), *event_);
    const auto applied = rules_.triggers().apply(domain_->top(), *event_, std::string("traceon if ") + filter);
    return applied ? 0 : applied.error().error.code;
  }
  static const void* inside() { return reinterpret_cast<const char*>(&looked_for_by_the_test) + 1; }

  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  Proxy proxy_;
  FileId file_;
  Event* event_ = nullptr;
  const std::uint32_t me_ = static_cast<std::uint32_t>(::gettid());
};

TEST_F(FunctionFilters, KnowNoFunctionOfNobody) { EXPECT_EQ(watch("ip.function == looked_for_by_the_test"), EINVAL); }

TEST_F(FunctionFilters, FindAFunctionByItsName) {
  domain_->rules()->program_came(static_cast<std::uint32_t>(::getpid()));
  ASSERT_EQ(watch("ip.function == landtrace::rules::looked_for_by_the_test"), 0);
  EXPECT_TRUE(passes(inside(), me_));
  EXPECT_FALSE(passes(reinterpret_cast<const void*>(&::strlen), me_));
  EXPECT_FALSE(passes(inside(), 1)) << "another program's function is elsewhere";
  ASSERT_EQ(watch("ip.function != landtrace::rules::looked_for_by_the_test"), 0);
  EXPECT_FALSE(passes(inside(), me_));
  EXPECT_EQ(watch("ip.function == no_function_has_such_a_name"), EINVAL);
}

TEST_F(FunctionFilters, FindAFunctionByAnAddressInIt) {
  domain_->rules()->program_came(static_cast<std::uint32_t>(::getpid()));
  const auto address = std::to_string(reinterpret_cast<std::uint64_t>(inside()) + 1);
  ASSERT_EQ(watch(("ip.function == " + address).c_str()), 0);
  EXPECT_TRUE(passes(inside(), me_));
}

TEST_F(FunctionFilters, LookIntoProgramsThatComeLater) {
  domain_->rules()->program_came(static_cast<std::uint32_t>(::getpid()));
  ASSERT_EQ(watch("ip.function == landtrace::rules::looked_for_by_the_test"), 0);
  ASSERT_TRUE(rules_.filters().set(domain_->top(), *event_, "ip.function == landtrace::rules::looked_for_by_the_test"));
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  EXPECT_FALSE(passes(inside(), static_cast<std::uint32_t>(child)));
  domain_->rules()->program_came(static_cast<std::uint32_t>(child));
  EXPECT_TRUE(passes(inside(), static_cast<std::uint32_t>(child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace landtrace::rules
