// Serialization of objects. A class lists its members once, for both directions:
//     template <class Archive> void transfer(Archive& a) { a(steps_, states_); }
// Supported are numbers, structs of numbers, vectors of either, matrices, text. The bytes are specific to the
// machine and the build. A reader throws std::runtime_error if the bytes do not match; further invariants are
// checked in `transfer`.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "core/math/linalg.hpp"

namespace costate {

class ArchiveWriter {
public:
    template <class T> void operator()(const T& value) requires std::is_trivially_copyable_v<T> {
        append(&value, sizeof value);
    }
    template <class T> void operator()(const std::vector<T>& v) { sized(v.data(), v.size()); }
    template <class T> void operator()(const VecX<T>& v) { sized(v.data(), v.size()); }
    void operator()(const Eigen::MatrixXd& m) {
        (*this)(m.rows());
        sized(m.data(), static_cast<size_t>(m.size()));
    }
    void operator()(const std::string& s) { sized(s.data(), s.size()); }
    template <class... T> void operator()(const T&... values) requires(sizeof...(T) > 1) {
        ((*this)(values), ...);
    }
    template <class V> void of_known_size(const V& v) { (*this)(v); }
    std::vector<char> bytes;

private:
    template <class T> void sized(const T* data, size_t n) {
        static_assert(std::is_trivially_copyable_v<T>);
        append(&n, sizeof n);
        append(data, n * sizeof(T));
    }
    void append(const void* from, size_t n) {
        const char* const begin = static_cast<const char*>(from);
        bytes.insert(bytes.end(), begin, begin + n);
    }
};

class ArchiveReader {
public:
    explicit ArchiveReader(const std::vector<char>& bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}
    template <class T> void operator()(T& value) requires std::is_trivially_copyable_v<T> {
        take(&value, sizeof value);
    }
    void operator()(bool& value) {
        unsigned char byte = 0;
        take(&byte, sizeof byte);
        if (byte > 1) throw std::runtime_error("it contains " + std::to_string(byte) + " instead of 0 or 1");
        value = byte == 1;
    }
    template <class T> void operator()(std::vector<T>& v) {
        v.resize(size(sizeof(T)));
        take(v.data(), v.size() * sizeof(T));
    }
    template <class T> void operator()(VecX<T>& v) {
        v.resize(static_cast<Eigen::Index>(size(sizeof(T))));
        take(v.data(), v.size() * sizeof(T));
    }
    void operator()(Eigen::MatrixXd& m) {
        Eigen::Index rows = 0;
        VecX<double> numbers;
        (*this)(rows);
        (*this)(numbers);
        if (rows < 0 || (rows == 0 ? numbers.size() != 0 : numbers.size() % rows != 0))
            throw std::runtime_error("it contains a matrix of " + std::to_string(numbers.size()) +
                                     " numbers in " + std::to_string(rows) + " rows");
        m = numbers.reshaped(rows, rows == 0 ? 0 : numbers.size() / rows);
    }
    void operator()(std::string& s) {
        s.resize(size(1));
        take(s.data(), s.size());
    }
    template <class... T> void operator()(T&... values) requires(sizeof...(T) > 1) { ((*this)(values), ...); }
    // A vector of a size known to the reader, which must equal that of the writer.
    template <class V> void of_known_size(V& v) {
        const auto due = v.size();
        (*this)(v);
        if (v.size() != due)
            throw std::runtime_error("it contains " + std::to_string(v.size()) + " numbers, but " +
                                     std::to_string(due) + " are expected");
    }
    bool at_end() const { return at_ == end_; }

private:
    size_t size(size_t each) {
        size_t n = 0;
        take(&n, sizeof n);
        if (n > static_cast<size_t>(end_ - at_) / each) throw std::runtime_error("it ends too early");
        return n;
    }
    void take(void* to, size_t n) {
        if (n > static_cast<size_t>(end_ - at_)) throw std::runtime_error("it ends too early");
        if (n > 0) std::memcpy(to, at_, n);
        at_ += n;
    }
    const char *at_, *end_;
};

}  // namespace costate
