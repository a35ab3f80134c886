// Streams the gradient with respect to the controls of every step to a file during the backward pass: a NumPy
// array (steps, nu) of doubles, for numpy.load. Its memory is a buffer of a few rows.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "adjoint/checkpoints/disk_file.hpp"
#include "adjoint/checkpoints/saved_run.hpp"

namespace costate {

class ControlGradientFile {
public:
    // Rows are written to "<path>.part", which finish() renames to the path. Without finish(), it is removed,
    // unless `stays` keeps it for a run that resumes. Throws if another object, in any process, uses the
    // path.
    ControlGradientFile(std::filesystem::path path, int steps, int nu, bool stays = false,
                        bool resumes = false);
    ~ControlGradientFile();
    ControlGradientFile(const ControlGradientFile&) = delete;
    ControlGradientFile& operator=(const ControlGradientFile&) = delete;

    void row(int t, const double* u_bar);  // (nu), t from the last step to the first
    void flush();                          // writes buffered rows to the disk
    void finish();

private:
    void write_rows();
    std::filesystem::path path_, part_;
    RunLock lock_;  // of the path
    std::unique_ptr<DiskFile> file_;
    const size_t nu_;
    const bool stays_;
    size_t header_;
    int first_ = 0;    // step of the first row in the buffer, which is filled from its end
    size_t used_ = 0;  // numbers
    std::vector<double> rows_;
};

}  // namespace costate
