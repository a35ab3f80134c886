// What a live page is sent while it is open, and the small server that sends it: the page itself at "/", and
// at "/events" its server-sent events (WHATWG HTML, 9.2). Nothing that a browser asks for changes anything
// here.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace costate {

// Events in order, kept for pages that are opened later. Used by several threads.
class Feed {
public:
    void add(const std::string& kind, const std::string& data);      // data: one line
    void replace(const std::string& kind, const std::string& data);  // those of the kind before are forgotten
    void close();

    // The text of the events after number `last`, which moves on; waits for one, at most a second. False once
    // the feed is closed.
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
    // Answers at once, in threads of its own. Port 0: any that is free. Throws UsageError where it cannot
    // listen.
    PageServer(const std::string& host, int port, std::string page, Feed& feed);
    ~PageServer();  // closes the feed and frees the port
    PageServer(const PageServer&) = delete;
    PageServer& operator=(const PageServer&) = delete;
    int port() const;

private:
    struct Listening;
    std::unique_ptr<Listening> listening_;
};

}  // namespace costate
