// A fleet's transport: the stream with what hosts send, and the bucket with what they are to do.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/address.hpp"
#include "fleet/outbox.hpp"
#include "fleet/own_lines.hpp"
#include "fleet/serving/handles.hpp"

namespace landtrace::fleet {

class Transport {
 public:
  // ECONNREFUSED where nobody answers, EACCES for who may not.
  static Result<Transport> connect(const Address& address, const std::string& name);
  // Returns at once, and goes on trying for ever; is_connected() says when. What is published is written at once, by
  // the thread that does it, for two seconds at most; what comes is told in a thread that all such transports of the
  // process share.
  static Result<Transport> keep_connecting(const Address& address, const std::string& name);

  // How long the stream keeps what comes.
  static constexpr std::uint64_t kKept_ns = 7ull * 24 * 3600 * 1'000'000'000;
  // Where in a stream a message stands.
  using Sequence = std::uint64_t;

  [[nodiscard]] bool is_connected() const;
  // How often it was connected again.
  [[nodiscard]] std::uint64_t reconnects() const;
  // Bytes that a message may have.
  [[nodiscard]] std::size_t most_bytes() const;

  // Finds the stream and the bucket, and makes them where they are not there. With three servers or more each has
  // three replicas. Who may not look takes them to be there.
  Result<void> prepare();

  // The stream of snapshots, of 1 GB, or what the server has room for.
  Result<void> prepare_snapshots();
  // Removes what the stream of snapshots has of these subjects.
  Result<void> remove_snapshots(const std::string& subjects);

  // Calls `heard` for each message of these subjects, in a thread of libnats, until the subscription is destroyed, or
  // a little longer.
  using Heard = std::function<void(natsMsg*)>;
  Result<Subscription> hear(const std::string& subjects, Heard heard);
  // The same for the bucket: its newest entry of each key, and then each change.
  Result<Subscription> hear_orders(Heard heard);
  // What the bucket has: entries, those that say of a key that it is gone with them, of how many keys (0 from servers
  // that do not say that), and where in its stream the newest stands.
  // EACCES: may not be asked for.
  struct BucketState {
    std::uint64_t entries = 0;
    std::uint64_t ids = 0;
    Sequence newest = 0;
  };
  // EACCES: this user may not ask.
  Result<BucketState> bucket_state();

  // A subject for answers, of this user.
  [[nodiscard]] Result<std::string> new_inbox() const;
  // Sends it, and returns: the answer comes on `reply`, and is_stored() says what it means.
  Result<void> send(const std::string& subject, const std::string& reply, const std::string& bytes);
  static bool is_stored(const natsMsg* answer);
  // To who listens now; and what such a message says of how many there were before. nullopt: it does not say that, as
  // those of older versions.
  Result<void> tell(const ToldLines& lines);
  static std::optional<std::uint64_t> lines_before(natsMsg* message);
  // Returns when the stream has it. ETIMEDOUT: nobody knows.
  Result<void> publish(const std::string& subject, const std::string& bytes);
  enum class From : std::uint8_t { kFirst, kNewest };  // kNewest: of each subject the newest alone
  // All that the stream has of these subjects, in its order, without what it drops meanwhile for newer ones, of which
  // some may be there. ENOENT: there is no stream. For programs that ask and end: a subscription stays until then.
  Result<std::vector<Outbox::Letter>> read(const std::string& subjects, From from = From::kFirst);
  // Of the newest one of these subjects; 0: there is none. ENOENT: there is no stream.
  Result<Sequence> newest_of(const std::string& subjects) const;
  // The newest one of one subject; nullopt: there is none.
  Result<std::optional<std::string>> newest(const std::string& subject) const;
  // Calls `take` for all of it, in its order, and then for what comes, until `is_over` says so.
  Result<void> follow(const std::string& subjects, const std::function<void(const Outbox::Letter&, Sequence)>& take,
                      const std::function<bool()>& is_over);
  // Somebody's answer. ECONNREFUSED: nobody listens there; ETIMEDOUT.
  Result<std::string> ask(const std::string& subject, const std::string& question);

  // The same where an answer comes in several messages: what is behind the first byte of each (history.hpp).
  // EIO with what an error says.
  Result<std::string> ask_for_long(const std::string& subject, const std::string& question, std::int64_t patience_ms);

  // ENOENT: nobody has made one.
  Result<void> open_bucket();
  Result<void> put_order(const std::string& id, const std::string& json);
  // EACCES: this user may not ask.
  Result<bool> has_order(const std::string& id);
  // Also of one that is not there.
  Result<void> remove_order(const std::string& id);

  // What a stream has of these subjects, in its order, and then what comes.
  Result<Subscription> subscribe(const char* stream, const std::string& subjects, From from = From::kFirst);
  // The next one, nullopt: none came within this time.
  static Result<std::optional<Outbox::Letter>> next(const Subscription& subscription, std::int64_t wait_ms);

  // How many have come of it that next() has not given out.
  static std::uint64_t waiting(const Subscription& subscription);
  // Whether a subscription that says this goes on. libnats begins an ordered one again where something is missing.
  static bool goes_on(natsStatus status);

  [[nodiscard]] natsConnection* connection() const { return connection_.get(); }
  [[nodiscard]] jsCtx* stream() const { return stream_.get(); }

 private:
  Result<Subscription> subscribe(const char* stream, const std::string& subjects, From from, jsSubOptions& options);
  static Result<Options> options_of(const Address& address, const std::string& name, std::int64_t patience_ms);
  // What this user was told last that it may not; empty: nothing.
  [[nodiscard]] std::string refusal() const;
  // Whether it was told so since it was told that.
  [[nodiscard]] bool is_refused(const std::string& before = "") const;
  Result<void> change_order(natsMsg* change, const std::string& what_failed);
  static void pass_to_heard(natsConnection* connection, natsSubscription* subscription, natsMsg* made, void* heard);
  static void forget_heard(void* heard);
  static Result<Transport> made(Connection connection, const Address& address, std::int64_t patience_ms);
  Result<void> prepare_stream(std::int64_t replicas);
  Result<void> add_stream(jsStreamConfig& config);
  Result<void> prepare_bucket(std::int64_t replicas);
  [[nodiscard]] std::int64_t replicas() const;
  // Null: there is none.
  Result<Message> newest_message(const std::string& subjects) const;

  // Of who has other things to do, and of a command that somebody waits for: a server with thousands of hosts on few
  // processors answers after seconds.
  static constexpr std::int64_t kPatience_ms = 2000;
  static constexpr std::int64_t kCommandPatience_ms = 5000;

  std::string inbox_;
  Connection connection_;
  JetStream stream_;
  Bucket bucket_;
};

}  // namespace landtrace::fleet
