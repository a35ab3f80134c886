// A sink for gradients by the controls of every step, streamed as the reverse sweep finds them: a NumPy array
// (steps, nu) of doubles, for numpy.load. Room for some rows is all the memory it takes.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "adjoint/checkpoints/disk_file.hpp"
#include "adjoint/checkpoints/saved_run.hpp"

namespace costate {

class ControlGradientFile {
public:
    // Rows go to "<path>.part", which finish() renames to the path. Without finish() it is removed, unless it
    // stays for a run that goes on from there (`stays`), as a run that resumes does. Throws where another
    // such object, of any process, has the path.
    ControlGradientFile(std::filesystem::path path, int steps, int nu, bool stays = false,
                        bool resumes = false);
    ~ControlGradientFile();
    ControlGradientFile(const ControlGradientFile&) = delete;
    ControlGradientFile& operator=(const ControlGradientFile&) = delete;

    void row(int t, const double* u_bar);  // (nu), t from the last step to the first
    void flush();                          // to the disk
    void finish();

private:
    void write_rows();
    std::filesystem::path path_, part_;
    RunLock lock_;  // of the path
    std::unique_ptr<DiskFile> file_;
    const size_t nu_;
    const bool stays_;
    size_t header_;
    int first_ = 0;    // step of the first row in the buffer, whose rows fill it from its end
    size_t used_ = 0;  // numbers
    std::vector<double> rows_;
};

}  // namespace costate
