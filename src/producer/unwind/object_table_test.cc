#include "unwind/object_table.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace landtrace::unwind {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint64_t kNow = 1000;

class ObjectTableTest : public ::testing::Test {
 protected:
  std::vector<MappedObject> objects() {
    std::vector<MappedObject> all;
    for (std::uint32_t i = 0; i < kObjectEntries; ++i) {
      if (((table_->used[i / 64] >> (i % 64)) & 1) == 0) continue;
      if (auto object = copy_entry(*table_, i)) all.push_back(*std::move(object));
    }
    return all;
  }
  // Processes know tables by their addresses, and keep them: no two tests have one at the same place.
  static ObjectTable* next_table() {
    static std::vector<std::unique_ptr<ObjectTable>> tables;
    return tables.emplace_back(std::make_unique<ObjectTable>()).get();
  }
  ObjectTable* table_ = next_table();
  std::uint32_t pid_ = static_cast<std::uint32_t>(::getpid());
};

Object object_of(const void* address) {
  Object object;
  EXPECT_TRUE(find_object(reinterpret_cast<std::uint64_t>(address), object));
  return object;
}

Object made_up(std::uint64_t start) {
  Object object;
  object.start = start;
  object.end = start + 0x1000;
  object.name = "/lib/made_up.so";
  return object;
}

TEST_F(ObjectTableTest, TheProgramAndALibrary) {
  note_object(*table_, pid_, object_of(reinterpret_cast<const void*>(&object_of)), kNow);
  note_object(*table_, pid_, object_of(reinterpret_cast<const void*>(&::qsort)), kNow);
  note_object(*table_, pid_, object_of(reinterpret_cast<const void*>(&::qsort)), kNow + 1);
  const auto all = objects();
  ASSERT_THAT(all, SizeIs(2));
  const auto& own = all[0].path.ends_with("unwind_test") ? all[0] : all[1];
  const auto& library = &own == &all[0] ? all[1] : all[0];
  EXPECT_THAT(own.path, EndsWith("unwind_test"));
  EXPECT_EQ(own.path[0], '/');
#ifdef __SANITIZE_ADDRESS__
  EXPECT_THAT(library.path, HasSubstr("/libasan.so"));  // which intercepts it
#else
  EXPECT_THAT(library.path, EndsWith("libc.so.6"));
#endif
  EXPECT_THAT(library.build_id, SizeIs(20));
  EXPECT_EQ(library.first_seen, kNow);
  EXPECT_EQ(table_->changes, 2u);
}

// What is read of one that may go is what stands there.
TEST_F(ObjectTableTest, FleetingObjectsAreTheSame) {
  for (const void* const address :
       {reinterpret_cast<const void*>(&object_of), reinterpret_cast<const void*>(&::qsort),
        reinterpret_cast<const void*>(::getauxval(AT_SYSINFO_EHDR))}) {  // NOLINT(performance-no-int-to-ptr)
    const Object here = object_of(address);
    Object object;
    char name[kMaxObjectName];
    ASSERT_TRUE(find_fleeting_object(reinterpret_cast<std::uint64_t>(address), object, name));
    EXPECT_EQ(object.start, here.start);
    EXPECT_EQ(object.end, here.end);
    EXPECT_EQ(object.bias, here.bias);
    EXPECT_STREQ(object.name, here.name);
    EXPECT_EQ(object.build_id_size, here.build_id_size);
    EXPECT_EQ(std::memcmp(object.build_id, here.build_id, kMaxBuildId), 0);
    EXPECT_EQ(object.tables.count, 0u);
    note_fleeting_object(*table_, pid_, object, kNow);
    note_object(*table_, pid_, here, kNow);
  }
  EXPECT_THAT(objects(), SizeIs(3)) << "an object has one entry, whichever way it was found";
  Object object;
  char name[kMaxObjectName];
  EXPECT_FALSE(find_fleeting_object(16, object, name));
}

// Reading it as memory would end the program.
TEST_F(ObjectTableTest, ALibraryMayBeClosedWhileItIsLookedAt) {
  const char* const library = "libzstd.so.1";
  void* const first = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (first == nullptr) GTEST_SKIP() << library << " is not installed";
  std::atomic<std::uint64_t> address = reinterpret_cast<std::uint64_t>(::dlsym(first, "ZSTD_versionNumber"));
  ::dlclose(first);
  std::atomic<bool> is_over = false;
  std::thread looking([&] {
    while (!is_over) {
      Object object;
      char name[kMaxObjectName];
      if (find_fleeting_object(address, object, name)) note_fleeting_object(*table_, pid_, object, kNow);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    void* const again = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(again, nullptr);
    address = reinterpret_cast<std::uint64_t>(::dlsym(again, "ZSTD_versionNumber"));
    ::dlclose(again);
  }
  is_over = true;
  looking.join();
  EXPECT_GT(objects().size(), 0u);
}

TEST_F(ObjectTableTest, AnotherObjectAtTheSameAddressIsAnother) {
  Object object = made_up(0x10000);
  note_object(*table_, pid_, object, kNow);
  object.build_id_size = 20;
  object.build_id[0] = 7;
  note_object(*table_, pid_, object, kNow + 1);
  EXPECT_THAT(objects(), SizeIs(2));
}

// Living processes keep what they have.
TEST_F(ObjectTableTest, FullForNewOnes) {
  for (std::uint64_t i = 1; i <= 2 * kObjectEntries; ++i) note_object_at(*table_, pid_, made_up(i << 12), "/x", i);
  const auto full = objects();
  EXPECT_GT(full.size(), kObjectEntries * 9 / 10);
  EXPECT_LE(full.size(), kObjectEntries);
}

TEST_F(ObjectTableTest, EntriesOfTheDeadMakeRoom) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  for (std::uint64_t i = 1; i <= 2 * kObjectEntries; ++i) {
    note_object_at(*table_, static_cast<std::uint32_t>(child), made_up(i << 12), "/x", i);
  }
  note_object_at(*table_, pid_, made_up(0x5000), "/mine", kNow);
  bool found = false;
  for (const auto& object : objects()) found = found || object.path == "/mine";
  EXPECT_TRUE(found);
}

TEST_F(ObjectTableTest, ReadersBelieveNothing) {
  note_object_at(*table_, pid_, made_up(0x5000), "/mine", kNow);
  ObjectEntry* entry = nullptr;
  for (ObjectEntry& one : table_->entries) entry = one.claim != 0 ? &one : entry;
  ASSERT_NE(entry, nullptr);
  const ObjectEntry before = *entry;
  entry->path_size = 60000;
  EXPECT_THAT(objects(), SizeIs(0));
  *entry = before;
  entry->build_id_size = 21;
  EXPECT_THAT(objects(), SizeIs(0));
  *entry = before;
  entry->end = 0;
  EXPECT_THAT(objects(), SizeIs(0));
  *entry = before;
  entry->claim |= 1;  // its writer is at it
  EXPECT_THAT(objects(), SizeIs(0));
  *entry = before;
  EXPECT_THAT(objects(), SizeIs(1));
}

}  // namespace
}  // namespace landtrace::unwind
