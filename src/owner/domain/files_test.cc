// Open files, their write indices, and what producers see of them in the control segment.
#include "domain/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "domain/domain.hpp"
#include "programs/test_child.hpp"

namespace landtrace::domain {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kUser = 1000;

class FilesTest : public testing::Test {
 protected:
  Event& make(const std::string& text) {
    Event* const event = domain_->events().register_event(text, 0, kUser)->event;
    return *event;
  }
  plan::FileSlot& published(FileId file) { return domain_->control().segment().files[file.slot]; }
  // What producers find at the file's write indices.
  std::vector<std::uint32_t> table(FileId file) {
    const std::uint32_t at = published(file).table & ~plan::kPlainFile;
    if (at == 0) return {};
    const auto* const words = reinterpret_cast<const std::uint32_t*>(domain_->control().at(at));
    return {words + 1, words + 1 + words[0]};
  }
  bool is_there(const std::string& name) { return domain_->events().find(kSystem, name) != nullptr; }
  int check(FileId file, Files::Form form) {
    const auto checked = files_.check(file, form);
    return checked ? 0 : checked.error().code;
  }

  std::unique_ptr<Domain> domain_ = *Domain::create({.ring_bytes = 1 << 18});
  Files& files_ = domain_->files();
};

TEST_F(FilesTest, EachEventHasOneWriteIndexInAFile) {
  const FileId one = *files_.open(kUser), other = *files_.open(kUser);
  Event &a = make("a"), &b = make("b");
  EXPECT_EQ(files_.add_event(one, a), 0u);
  EXPECT_EQ(files_.add_event(one, b), 1u);
  EXPECT_EQ(files_.add_event(one, a), 0u);
  EXPECT_EQ(files_.add_event(other, b), 0u);
  EXPECT_THAT(table(one), ElementsAre(a.slot, b.slot));
  EXPECT_THAT(table(other), ElementsAre(b.slot));
  EXPECT_EQ(a.references, 1u) << "the file refers to it once";
  EXPECT_EQ(b.references, 2u);
}

TEST_F(FilesTest, ATableThatGrowsKeepsItsIndicesAndLeavesNothingBehind) {
  const FileId file = *files_.open(kUser);
  const std::uint64_t before = domain_->control().bytes_in_use();
  std::vector<std::uint32_t> slots;
  std::set<std::uint32_t> tables;
  for (std::uint32_t i = 0; i < 100; ++i) {
    Event& event = make("e" + std::to_string(i));
    ASSERT_EQ(files_.add_event(file, event), i);
    slots.push_back(event.slot);
    tables.insert(published(file).table);
    ASSERT_EQ(table(file), slots);
  }
  EXPECT_LE(tables.size(), 5u) << "it grows to twice its size each time";
  files_.close(file);
  EXPECT_TRUE(domain_->events().all().empty()) << "nobody else refers to them";
  EXPECT_FALSE(domain_->grace().poll());
  // The texts of the events stay until their slots are taken again.
  std::uint64_t texts = 0;
  for (const std::uint32_t slot : slots) texts += domain_->control().segment().events[slot].text_size + 32;
  EXPECT_LE(domain_->control().bytes_in_use(), before + texts);
}

TEST_F(FilesTest, FilesAreNotGuessed) {
  const FileId first = *files_.open(kUser), second = *files_.open(kUser);
  EXPECT_NE(first.generation, 0u);
  EXPECT_NE(second.generation, first.generation + 1);
  EXPECT_TRUE(files_.check(first));
  EXPECT_EQ(files_.check({first.slot, second.generation}).error().code, EBADF);
}

TEST_F(FilesTest, AFileThatIsClosedIsNoFile) {
  const FileId file = *files_.open(kUser);
  ASSERT_TRUE(files_.add_event(file, make("a")));
  EXPECT_EQ(published(file).generation, file.generation);
  EXPECT_TRUE(files_.is_any_open());
  files_.close(file);
  EXPECT_FALSE(files_.is_any_open());
  EXPECT_EQ(files_.check(file).error().code, EBADF);
  EXPECT_EQ(check(file, Files::Form::kIndexed), EBADF);
  EXPECT_EQ(published(file).generation, 0u);
  EXPECT_EQ(published(file).table, 0u);
  EXPECT_FALSE(is_there("a"));
  EXPECT_EQ(files_.check({file.slot, 0}).error().code, EBADF);
  EXPECT_EQ(files_.check({file.slot + 1, 1}).error().code, EBADF);
}

TEST_F(FilesTest, APlaceIsUsedAgainWhenNoProducerCanHoldIt) {
  const FileId first = *files_.open(kUser);
  files_.close(first);
  const FileId second = *files_.open(kUser);
  EXPECT_NE(second.slot, first.slot) << "somebody may look at it yet";
  EXPECT_FALSE(domain_->grace().poll());
  const FileId third = *files_.open(kUser);
  EXPECT_EQ(third.slot, first.slot);
  EXPECT_NE(third.generation, first.generation);
  EXPECT_FALSE(files_.check(first));
  EXPECT_TRUE(files_.check(third));
}

TEST_F(FilesTest, TheFilesOfAUserHaveSoManyWriteIndicesAndNoMore) {
  const FileId one = *files_.open(kUser), two = *files_.open(kUser), plain = *files_.open(kUser);
  const FileId others = *files_.open(kUser + 1);
  Event &a = make("a"), &b = make("b");
  EXPECT_EQ(files_.add_event(one, a, 2), 0u);
  EXPECT_EQ(files_.add_event(two, a, 2), 0u);
  EXPECT_EQ(files_.indices_of(kUser), 2u);
  EXPECT_EQ(files_.add_event(one, b, 2).error().code, ENOMEM);
  EXPECT_EQ(files_.set_plain_event(plain, b, 2).error().code, ENOMEM);
  EXPECT_EQ(files_.add_event(one, a, 2), 0u) << "it is there already";
  EXPECT_EQ(files_.add_event(others, b, 2), 0u);
  EXPECT_EQ(b.references, 1u) << "what was refused refers to nothing";
  files_.close(two);
  EXPECT_TRUE(files_.set_plain_event(plain, b, 2));
  EXPECT_TRUE(files_.set_plain_event(plain, b, 2));
  EXPECT_EQ(files_.indices_of(kUser), 2u);
  files_.close(one), files_.close(plain);
  EXPECT_EQ(files_.indices_of(kUser), 0u);
}

TEST_F(FilesTest, AUserHasSoManyFilesAndNoMore) {
  const FileId mine = *files_.open(kUser, 2);
  ASSERT_TRUE(files_.open(kUser, 2));
  EXPECT_EQ(files_.open(kUser, 2).error().code, EMFILE);
  EXPECT_TRUE(files_.open(kUser, 3)) << "it is this call's limit";
  EXPECT_TRUE(files_.open(kUser + 1, 2));
  files_.close(mine);
  EXPECT_EQ(files_.open(kUser, 2).error().code, EMFILE);
  EXPECT_TRUE(files_.open(kUser, 3));
}

TEST_F(FilesTest, ADomainHasSoManyFilesAndNoMore) {
  std::vector<FileId> files;
  for (std::uint32_t i = 0; i < plan::kMaxFiles; ++i) files.push_back(*files_.open(kUser));
  EXPECT_EQ(files_.open(kUser + 1).error().code, EMFILE);
  files_.close(files[77]);
  EXPECT_EQ(files_.open(kUser + 1).error().code, EMFILE);
  domain_->grace().poll();
  EXPECT_EQ(files_.open(kUser + 1)->slot, files[77].slot);
}

TEST_F(FilesTest, WhatIsWrittenToAFileHasOneForm) {
  const FileId indexed = *files_.open(kUser), plain = *files_.open(kUser);
  EXPECT_EQ(check(indexed, Files::Form::kIndexed), 0);
  EXPECT_EQ(check(indexed, Files::Form::kPlain), 0) << "nothing says which it has yet";
  ASSERT_TRUE(files_.add_event(indexed, make("a")));
  EXPECT_EQ(check(indexed, Files::Form::kIndexed), 0);
  EXPECT_EQ(check(indexed, Files::Form::kPlain), EINVAL);
  ASSERT_TRUE(files_.set_plain_event(plain, make("b")));
  EXPECT_EQ(check(plain, Files::Form::kPlain), 0);
  EXPECT_EQ(check(plain, Files::Form::kIndexed), EINVAL);
  EXPECT_EQ(published(indexed).table & plan::kPlainFile, 0u);
  EXPECT_NE(published(plain).table & plan::kPlainFile, 0u);
}

TEST_F(FilesTest, APlainFileIsForTheEventThatCameLast) {
  const FileId file = *files_.open(kUser);
  Event &a = make("a"), &b = make("b");
  ASSERT_TRUE(files_.set_plain_event(file, a));
  EXPECT_THAT(table(file), ElementsAre(a.slot));
  ASSERT_TRUE(files_.set_plain_event(file, b));
  ASSERT_TRUE(files_.set_plain_event(file, b));
  EXPECT_THAT(table(file), ElementsAre(b.slot));
  EXPECT_EQ(a.references, 1u) << "kept until the file is closed";
  EXPECT_EQ(b.references, 1u);
  files_.close(file);
  EXPECT_FALSE(is_there("a"));
  EXPECT_FALSE(is_there("b"));
}

class RestoredFilesTest : public FilesTest {
 protected:
  static SavedFile saved(std::uint32_t slot, bool plain = false) {
    return {slot, 0xabcd0000 + slot, kUser, plain, {}, {}};
  }
  static ProcessId keeper(const programs::TestChild& child) { return process_id(child.pid()); }
  programs::TestChild child_, other_;
};

TEST_F(RestoredFilesTest, AFileComesBackWithItsNumbersAndItsEvents) {
  Event &a = make("a"), &b = make("b");
  const FileId file = *files_.restore(saved(5), {&b, &a, &b}, {keeper(child_)});
  EXPECT_EQ(file, (FileId{5, 0xabcd0005}));
  EXPECT_TRUE(files_.check(file));
  EXPECT_EQ(published(file).generation, file.generation);
  EXPECT_THAT(table(file), ElementsAre(b.slot, a.slot));
  EXPECT_EQ(files_.add_event(file, a), 1u);
  const FileId plain = *files_.restore(saved(6, true), {&a, &b}, {keeper(child_)});
  EXPECT_EQ(check(plain, Files::Form::kIndexed), EINVAL);
  EXPECT_THAT(table(plain), ElementsAre(b.slot));
}

TEST_F(RestoredFilesTest, AFileKeepsItsKeyAndOneWithoutGetsOne) {
  SavedFile with_key = saved(5);
  with_key.key = 4711;
  EXPECT_EQ(files_.key_of(*files_.restore(with_key, {}, {keeper(child_)})), 4711u);
  EXPECT_NE(files_.key_of(*files_.restore(saved(6), {}, {keeper(child_)})), 0u);
}

TEST_F(RestoredFilesTest, IndicesBehindAnEventThatIsGoneAreNotGivenToOthers) {
  Event &a = make("a"), &b = make("b");
  const FileId file = *files_.restore(saved(5), {&a, nullptr, &b}, {keeper(child_)});
  EXPECT_THAT(table(file), ElementsAre(a.slot));
  EXPECT_EQ(b.references, 0u);
}

TEST_F(RestoredFilesTest, OtherFilesDoNotGetItsPlace) {
  const FileId file = *files_.restore(saved(2), {}, {keeper(child_)});
  std::set<std::uint32_t> slots{file.slot};
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(slots.insert(files_.open(kUser)->slot).second);
  EXPECT_EQ(files_.restore(saved(2), {}, {keeper(child_)}).error().code, EBUSY);
  EXPECT_EQ(files_.restore(saved(0), {}, {keeper(child_)}).error().code, EBUSY) << "a new file has it by now";
  EXPECT_EQ(files_.restore(saved(plan::kMaxFiles), {}, {keeper(child_)}).error().code, EINVAL);
  SavedFile never = saved(20);
  never.generation = 0;
  EXPECT_EQ(files_.restore(never, {}, {keeper(child_)}).error().code, EINVAL);
  EXPECT_TRUE(files_.restore(saved(20), {}, {keeper(child_)}));
}

TEST_F(RestoredFilesTest, ItWaitsForThoseWhoMayHaveItOpen) {
  const FileId file = *files_.restore(saved(5), {&make("a")}, {keeper(child_), keeper(other_)});
  const FileId second = *files_.restore(saved(6), {}, {keeper(other_)});
  EXPECT_TRUE(files_.is_any_open());
  EXPECT_THAT(files_.keepers(), testing::UnorderedElementsAre(child_.pid(), other_.pid())) << "each once";
  files_.drop_dead_keepers();
  EXPECT_TRUE(files_.check(file));
  child_.end();
  files_.drop_dead_keepers();
  EXPECT_THAT(files_.keepers(), ElementsAre(other_.pid()));
  EXPECT_TRUE(files_.check(file));
  other_.end();
  files_.drop_dead_keepers();
  EXPECT_FALSE(files_.check(file));
  EXPECT_FALSE(files_.check(second));
  EXPECT_FALSE(is_there("a"));
  EXPECT_FALSE(files_.is_any_open());
}

TEST_F(RestoredFilesTest, ItIsOpenAsLongAsSomebodyHasComeBackForIt) {
  const FileId file = *files_.restore(saved(5), {}, {keeper(child_), keeper(other_)});
  ASSERT_TRUE(files_.reopen(file, child_.pid()));
  ASSERT_TRUE(files_.reopen(file, child_.pid())) << "it has two descriptors";
  EXPECT_THAT(files_.keepers(), ElementsAre(other_.pid()));
  other_.end();
  files_.drop_dead_keepers();
  EXPECT_TRUE(files_.check(file));
  files_.close(file);
  EXPECT_TRUE(files_.check(file));
  files_.close(file);
  EXPECT_FALSE(files_.check(file));
}

TEST_F(RestoredFilesTest, OneThatCameBackAndClosedLeavesItToThoseThatMayCome) {
  const FileId file = *files_.restore(saved(5), {}, {keeper(child_), keeper(other_)});
  ASSERT_TRUE(files_.reopen(file, child_.pid()));
  files_.close(file);
  EXPECT_TRUE(files_.check(file));
  EXPECT_TRUE(files_.reopen(file, other_.pid()));
  files_.close(file);
  EXPECT_FALSE(files_.check(file));
}

TEST_F(RestoredFilesTest, OneThatGaveUpTwiceIsWaitedForOnce) {
  const FileId file = *files_.restore(saved(5), {}, {keeper(child_)});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(files_.reopen(file, child_.pid()));
  for (int i = 0; i < 2; ++i) files_.await_again(file, child_.pid());
  EXPECT_TRUE(files_.check(file));
  ASSERT_TRUE(files_.reopen(file, child_.pid()));
  EXPECT_THAT(files_.keepers(), testing::IsEmpty());
  files_.close(file);
  EXPECT_FALSE(files_.check(file));
}

TEST_F(RestoredFilesTest, OneThatGaveUpBeforeItHeardMayComeBackAgain) {
  const FileId file = *files_.restore(saved(5), {}, {keeper(child_)});
  ASSERT_TRUE(files_.reopen(file, child_.pid()));
  files_.await_again(file, child_.pid());
  EXPECT_THAT(files_.keepers(), ElementsAre(child_.pid()));
  ASSERT_TRUE(files_.reopen(file, child_.pid()));
  const auto pid = child_.pid();
  child_.end();
  files_.await_again(file, pid);
  EXPECT_FALSE(files_.check(file)) << "it has ended";
}

TEST_F(RestoredFilesTest, OnlyAnEarlierOwnersFileIsReopened) {
  const FileId mine = *files_.open(kUser);
  EXPECT_EQ(files_.reopen(mine, child_.pid()).error().code, EBADF);
  const FileId file = *files_.restore(saved(5), {}, {keeper(child_)});
  EXPECT_EQ(files_.reopen({file.slot, file.generation + 1}, child_.pid()).error().code, EBADF);
}

TEST_F(RestoredFilesTest, ItCountsForItsUser) {
  ASSERT_TRUE(files_.restore(saved(5), {}, {keeper(child_)}));
  EXPECT_EQ(files_.open(kUser, 1).error().code, EMFILE);
}

TEST_F(RestoredFilesTest, FilesAreWrittenDownAsTheyChange) {
  const std::string path = testing::TempDir() + "files_test-" + std::to_string(::getpid());
  Journal journal(path);
  ASSERT_TRUE(journal.start());
  files_.keep(&journal);
  Event &a = make("a"), &b = make("b");
  const FileId file = *files_.open(kUser, 10, child_.pid()), plain = *files_.open(kUser);
  ASSERT_TRUE(files_.add_event(file, a));
  ASSERT_TRUE(files_.add_event(file, b));
  ASSERT_TRUE(files_.set_plain_event(plain, a));
  ASSERT_TRUE(files_.set_plain_event(plain, b));
  const auto files = Journal(path).saved().files;
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].slot, file.slot);
  EXPECT_EQ(files[0].generation, file.generation);
  EXPECT_EQ(files[0].uid, kUser);
  EXPECT_EQ(files[0].opener, keeper(child_));
  EXPECT_FALSE(files[0].plain);
  EXPECT_THAT(files[0].events, ElementsAre(a.slot, b.slot));
  EXPECT_TRUE(files[1].plain);
  EXPECT_THAT(files[1].events, ElementsAre(a.slot, b.slot)) << "the last one is what is written to it";
  files_.close(file);
  ASSERT_EQ(Journal(path).saved().files.size(), 1u);
  EXPECT_EQ(Journal(path).saved().files[0].slot, plain.slot);
  const FileId restored = *files_.restore(saved(100), {&b}, {keeper(child_)});
  EXPECT_EQ(Journal(path).saved().files[1].generation, restored.generation);
  EXPECT_THAT(Journal(path).saved().files[1].events, ElementsAre(b.slot));
  files_.keep(nullptr);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace landtrace::domain
