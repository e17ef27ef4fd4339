// The kernel's user_events behind a file of the test's: what is asked of it is seen by an ioctl() that stands in front
// of the C library's.
#include "client/backend_kernel.hpp"

#include <landtrace/landtrace.h>

#include <cstdarg>
#include <cstdlib>
#include <fstream>

#include "abi/user_events.hpp"
#include "base/fd.hpp"
#include "client/fake_owner.hpp"

namespace {

struct Kernel {
  int error = 0;
  std::uint32_t write_index = 0;
  landtrace::abi::UserReg registered{};
  landtrace::abi::UserUnreg unregistered{};
  int calls = 0;
};
Kernel kernel;

}  // namespace

extern "C" int ioctl(int, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  ++kernel.calls;
  if (kernel.error != 0) {
    errno = kernel.error;
    return -1;
  }
  if (request == landtrace::abi::kIoctlRegister) {
    auto* const registration = static_cast<landtrace::abi::UserReg*>(argument);
    kernel.registered = *registration;
    registration->write_index = kernel.write_index;
  } else if (request == landtrace::abi::kIoctlUnregister) {
    kernel.unregistered = *static_cast<landtrace::abi::UserUnreg*>(argument);
  }
  return 0;
}

namespace landtrace::client::kernel {
namespace {

class BackendKernelTest : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    std::ofstream(data_file()).close();
  }
  [[nodiscard]] std::string data_file() const { return folder() + "/user_events_data"; }
  [[nodiscard]] std::string written() const { return *read_file(data_file()); }
  void with_tracefs(const std::function<void()>& body) const {
    in_child([&] {
      ::setenv("LANDTRACE_TRACEFS", folder().c_str(), 1);
      ::setenv("LANDTRACE_BACKEND", "kernel", 1);
      body();
    });
  }
};

TEST_F(BackendKernelTest, WithoutATracefsThereIsNone) {
  in_child([&] {
    ::setenv("LANDTRACE_TRACEFS", (folder() + "/nowhere").c_str(), 1);
    std::uint32_t word = 0;
    const auto index = register_event("done u32 id", 0, &word);
    ASSERT_FALSE(index.has_value());
    EXPECT_EQ(index.error().code, ENOENT);
    EXPECT_EQ(::kernel.calls, 0);
  });
}

TEST_F(BackendKernelTest, ADeclarationIsRegisteredWithItsWord) {
  with_tracefs([] {
    ::kernel.write_index = 5;
    std::uint32_t word = 0;
    const char* const declaration = "done u32 id";
    const auto index = register_event(declaration, LANDTRACE_PERSIST, &word);
    ASSERT_TRUE(index.has_value());
    EXPECT_EQ(*index, 5);
    const abi::UserReg& asked = ::kernel.registered;
    EXPECT_EQ(asked.size, sizeof asked);
    EXPECT_EQ(asked.enable_size, sizeof word);
    EXPECT_EQ(asked.enable_bit, 0);
    EXPECT_EQ(asked.flags, LANDTRACE_PERSIST);
    EXPECT_EQ(asked.enable_addr, reinterpret_cast<std::uint64_t>(&word));
    EXPECT_EQ(asked.name_args, reinterpret_cast<std::uint64_t>(declaration));
    unregister_event(&word);
    EXPECT_EQ(::kernel.unregistered.size, sizeof(abi::UserUnreg));
    EXPECT_EQ(::kernel.unregistered.disable_addr, reinterpret_cast<std::uint64_t>(&word));
    EXPECT_EQ(::kernel.unregistered.disable_bit, 0);
  });
}

TEST_F(BackendKernelTest, TheKernelsErrorIsTheAnswer) {
  with_tracefs([] {
    ::kernel.error = EADDRINUSE;
    std::uint32_t word = 0;
    EXPECT_EQ(register_event("done u32 id", 0, &word).error().code, EADDRINUSE);
    landtrace_event event = LANDTRACE_EVENT_INIT;
    EXPECT_EQ(landtrace_register(&event, "done u32 id", 0), -EADDRINUSE);
  });
}

TEST_F(BackendKernelTest, AnEventIsOneWriteOfItsIndexAndPayload) {
  with_tracefs([&] {
    char first[] = "first";
    char second[] = "second";
    const iovec vectors[] = {{first, 5}, {second, 6}};
    errno = EDOM;
    EXPECT_EQ(write_event(7, vectors, 2), 0);
    EXPECT_EQ(write_event(8, nullptr, 0), 0);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(written(), plan::bytes_of(7) + "firstsecond" + plan::bytes_of(8));
  });
}

TEST_F(BackendKernelTest, LimitsAreThoseOfTheDomain) {
  with_tracefs([&] {
    std::string large(LANDTRACE_MAX_PAYLOAD, 'x');
    std::vector<iovec> vectors(64, iovec{large.data(), large.size() / 64});
    EXPECT_EQ(write_event(1, vectors.data(), 64), 0);
    EXPECT_EQ(written().size(), 4 + large.size());
    ++vectors[0].iov_len;
    EXPECT_EQ(write_event(1, vectors.data(), 64), -E2BIG);
    vectors.assign(65, iovec{large.data(), 1});
    EXPECT_EQ(write_event(1, vectors.data(), 65), -EINVAL);
    EXPECT_EQ(write_event(1, vectors.data(), -1), -EINVAL);
    EXPECT_EQ(written().size(), 4 + large.size());
  });
}

TEST_F(BackendKernelTest, AWriteThatFailsIsItsError) {
  ASSERT_EQ(::unlink(data_file().c_str()), 0);
  ASSERT_EQ(::symlink("/dev/full", data_file().c_str()), 0);
  with_tracefs([] {
    errno = EDOM;
    EXPECT_EQ(write_event(1, nullptr, 0), -ENOSPC);
    EXPECT_EQ(errno, EDOM);
  });
}

TEST_F(BackendKernelTest, AnEventOfTheApiGoesThereWhereThereIsNoDomain) {
  with_tracefs([&] {
    landtrace_event event = LANDTRACE_EVENT_INIT;
    ::kernel.write_index = 3;
    ASSERT_EQ(landtrace_register(&event, "done u32 id", LANDTRACE_PERSIST), 0);
    EXPECT_EQ(landtrace_event_backend(&event), LANDTRACE_KERNEL);
    EXPECT_EQ(::kernel.registered.enable_addr, reinterpret_cast<std::uint64_t>(&event.word));
    char four[] = "four";
    const iovec payload{four, 4};
    EXPECT_EQ(landtrace_emit(&event, &payload, 1), -EBADF);
    event.word = 1;  // as the kernel does
    EXPECT_EQ(landtrace_emit(&event, &payload, 1), 0);
    EXPECT_EQ(written(), plan::bytes_of(3) + "four");
    EXPECT_EQ(landtrace_unregister(&event), 0);
    EXPECT_EQ(::kernel.unregistered.disable_addr, reinterpret_cast<std::uint64_t>(&event.word));
    EXPECT_EQ(landtrace_enabled(&event), 0);
  });
}

}  // namespace
}  // namespace landtrace::client::kernel
