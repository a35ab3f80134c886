// A small server for a live page: "/" is the page, "/events" its server-sent events (WHATWG HTML, 9.2).
// Requests do not change any state of the program.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace costate {

// A sequence of events, kept for pages that are opened later. Thread-safe.
class EventLog {
public:
    void add(const std::string& kind, const std::string& data);      // data: one line
    void replace(const std::string& kind, const std::string& data);  // discards earlier events of this kind
    void close();

    // Sets `text` to the events after number `last` and advances `last`. Waits up to a second for an event.
    // False after the log is closed.
    bool next(size_t& last, std::string& text);

private:
    struct Event {
        size_t number;
        std::string kind, data;
    };
    void append(const std::string& kind, const std::string& data);
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Event> events_;
    size_t last_ = 0;
    bool closed_ = false;
};

class PageServer {
public:
    // Starts serving in its own threads. Port 0: any free port. Throws UsageError if it cannot listen.
    PageServer(const std::string& host, int port, std::string page, EventLog& events);
    ~PageServer();  // closes the event log and frees the port
    PageServer(const PageServer&) = delete;
    PageServer& operator=(const PageServer&) = delete;
    int port() const;

private:
    struct Listening;
    std::unique_ptr<Listening> listening_;
};

}  // namespace costate
