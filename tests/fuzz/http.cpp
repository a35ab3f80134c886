// The target of the server of `costate watch`: bytes sent to it over a connection of this machine.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "apps/viewer/event_server.hpp"
#include "tests/fuzz/targets.hpp"

namespace costate::fuzz {
namespace {

// What the server answers, until it closes the connection. After the end of a request that may be too short it would
// wait for more; `ends` closes the way to it, so that it does not.
std::string answer(int port, const std::string& request, bool ends) {
    const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto connected = [&] {
        return ::connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    };
    // thousands of connections a second use up the ports of this machine, which are free again after a while
    for (int waits = 0; !connected(); ++waits) {
        if (errno != EADDRNOTAVAIL || waits == 80)
            throw std::logic_error(std::string("the server takes no connection: ") + std::strerror(errno));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const linger at_once{1, 0};  // closed connections do not use up the ports of this machine
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    for (size_t sent = 0; sent < request.size();) {
        const ssize_t n = ::send(connection, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;  // refused before its end
        sent += static_cast<size_t>(n);
    }
    if (ends) ::shutdown(connection, SHUT_WR);
    std::string text;
    char part[4096];
    for (ssize_t n = 1; n > 0;) {
        n = ::recv(connection, part, sizeof part, 0);
        text.append(part, n > 0 ? static_cast<size_t>(n) : 0);
    }
    ::close(connection);
    return text;
}

}  // namespace

void serve_request(const std::string& bytes) {
    static EventLog events;
    static const PageServer server("127.0.0.1", 0, "<!DOCTYPE html>the page", events);
    static const bool closed = [] {
        events.add("status", "{}");
        events.close();  // pages then read the events and end
        return true;
    }();
    const std::string text = answer(server.port(), bytes, true);
    const bool got = text.starts_with("HTTP/1.1 200") || text.starts_with("HTTP/1.1 206");
    const auto has = [&](const char* method) { return bytes.find(method) != std::string::npos; };
    const bool asked = has("GET ") || has("HEAD ");  // also after a line that is no request
    if (!closed || (!text.empty() && !text.starts_with("HTTP/1.1 ")))
        throw std::logic_error("no answer of HTTP: " + text.substr(0, 80));
    if (got && !asked) throw std::logic_error("a request that does not ask for a page got one");
    if (bytes.size() % 16 != 0) return;  // ports stay used for a minute, and there are few ten thousand
    // A connection may be cut by the packets of an earlier one from the same port; pages are asked for more than once.
    for (int tries = 0; tries < 5; ++tries)
        if (answer(server.port(), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", false).find("the page") !=
            std::string::npos)
            return;
    throw std::logic_error("the server serves no pages any more");
}

}  // namespace costate::fuzz
