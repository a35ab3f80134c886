#include "apps/viewer/event_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "apps/io/usage_error.hpp"

#include <httplib.h>  // last: it defines names that Eigen uses

namespace costate {

void EventLog::append(const std::string& kind, const std::string& data) {
    events_.push_back({++last_, kind, data});
    changed_.notify_all();
}

void EventLog::add(const std::string& kind, const std::string& data) {
    const std::lock_guard lock(mutex_);
    append(kind, data);
}

void EventLog::replace(const std::string& kind, const std::string& data) {
    const std::lock_guard lock(mutex_);
    std::erase_if(events_, [&](const Event& e) { return e.kind == kind; });
    append(kind, data);
}

void EventLog::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
}

bool EventLog::next(size_t& last, std::string& text) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(1), [&] { return closed_ || last_ > last; });
    text.clear();
    for (const Event& e : events_)
        if (e.number > last) text += "event: " + e.kind + "\ndata: " + e.data + "\n\n";
    last = last_;
    return !closed_;
}

struct PageServer::Listening {
    httplib::Server server;
    std::thread thread;
    EventLog& events;
    std::atomic<int> streams = 0;  // number of open event streams
    int port = 0;

    explicit Listening(EventLog& log) : events(log) {}
    ~Listening() {
        events.close();
        server.stop();
        if (thread.joinable()) thread.join();
    }
};

namespace {

constexpr int max_threads = 64;  // each holds one connection
// event streams: they stay open as long as their pages; the other threads serve other requests
constexpr int max_streams = 48;

// Counts an open stream during its life.
class OpenStream {
public:
    explicit OpenStream(std::atomic<int>& count) : count_(count), granted_(++count <= max_streams) {}
    ~OpenStream() { --count_; }
    OpenStream(const OpenStream&) = delete;
    OpenStream& operator=(const OpenStream&) = delete;
    bool granted() const { return granted_; }

private:
    std::atomic<int>& count_;
    const bool granted_;
};

// True if the Host header is a name other than localhost: a page of another site that reached this server by
// DNS rebinding.
bool is_foreign(const std::string& host_header) {
    const size_t colon = host_header.rfind(':'), bracket = host_header.rfind(']');
    const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
    const std::string host = host_header.substr(0, has_port ? colon : std::string::npos);
    return host != "localhost" && host.find_first_not_of("0123456789.") != std::string::npos &&
           !host.starts_with("[");
}

void send_events(EventLog& events, std::atomic<int>& streams, httplib::Response& response) {
    response.set_header("Cache-Control", "no-store");
    const auto stream = std::make_shared<const OpenStream>(streams);
    if (!stream->granted()) {
        response.status = 503;
        response.set_content("There are already " + std::to_string(max_streams) +
                                 " open pages: close one and reload this page.\n",
                             "text/plain");
        return;
    }
    response.set_chunked_content_provider(
        "text/event-stream", [&events, stream, last = size_t{0}](size_t, httplib::DataSink& sink) mutable {
            std::string text;
            const bool open = events.next(last, text);
            // a comment, which detects closed pages
            if (text.empty()) text = ":\n\n";
            if (!sink.is_writable() || !sink.write(text.data(), text.size())) return false;
            if (!open) sink.done();
            return true;
        });
}

}  // namespace

PageServer::PageServer(const std::string& host, int port, std::string page, EventLog& events)
    : listening_(std::make_unique<Listening>(events)) {
    httplib::Server& server = listening_->server;
    server.new_task_queue = [] { return new httplib::ThreadPool(max_threads); };
    server.set_keep_alive_max_count(1);
    // The default options of the library would let a second server listen on the same port.
    server.set_socket_options([](socket_t socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    const bool loopback = host == "localhost" || host.starts_with("127.") || host == "::1";
    server.set_pre_routing_handler([loopback](const httplib::Request& request, httplib::Response& response) {
        response.set_header("Content-Security-Policy",
                            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                            "connect-src 'self'; img-src data: blob:; frame-ancestors 'none'");
        response.set_header("X-Content-Type-Options", "nosniff");
        const int refused = request.method != "GET" && request.method != "HEAD"        ? 405
                            : loopback && is_foreign(request.get_header_value("Host")) ? 403
                                                                                       : 0;
        if (refused == 0) return httplib::Server::HandlerResponse::Unhandled;
        response.status = refused;
        return httplib::Server::HandlerResponse::Handled;
    });
    server.Get("/", [page = std::move(page)](const httplib::Request&, httplib::Response& response) {
        response.set_content(page, "text/html; charset=utf-8");
    });
    server.Get("/events", [&events, &streams = listening_->streams](const httplib::Request&,
                                                                    httplib::Response& response) {
        send_events(events, streams, response);
    });
    listening_->port =
        port == 0 ? server.bind_to_any_port(host) : (server.bind_to_port(host, port) ? port : -1);
    if (listening_->port < 0)
        throw UsageError(
            "cannot listen on " + host + ":" + std::to_string(port) +
            ": the port is in use, or the address is not local; choose another --port, or 0 for any");
    listening_->thread = std::thread([&server] { server.listen_after_bind(); });
    while (!server.is_running())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

PageServer::~PageServer() = default;

int PageServer::port() const { return listening_->port; }

}  // namespace costate
