package torture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

// canFill says whether a run can fill the disk of its programs on this system.
const canFill = true

// canFillServer reports whether a run can fill the disk of its PostgreSQL server.
func canFillServer() bool {
	_, err := exec.LookPath("prlimit")
	return err == nil
}

// disk is the disk of some processes. A run fills it for a while by a limit for the size of files.
// The processes' error is EFBIG in place of ENOSPC.
type disk struct {
	processes func() ([]int, error)
	limit     func(pid int, size uint64) error
}

// diskOf returns the disk of a server. The server may belong to another user, who alone may limit it.
func diskOf(c *cluster.Cluster) disk {
	return disk{c.Processes, func(pid int, size uint64) error {
		text := strconv.FormatUint(size, 10)
		if size == math.MaxUint64 {
			text = "unlimited"
		}
		out, err := c.Command("prlimit", "--pid", strconv.Itoa(pid), "--fsize="+text+":").CombinedOutput()
		if err != nil && syscall.Kill(pid, 0) == nil {
			return fmt.Errorf("prlimit: %w: %s", err, out)
		}
		return nil
	}}
}

// diskOfOwn returns the disk of processes that belong to the user of the run.
func diskOfOwn(processes func() ([]int, error)) disk {
	return disk{processes, func(pid int, size uint64) error {
		var is syscall.Rlimit
		err := prlimit(pid, nil, &is)
		if err == nil {
			is.Cur = size
			err = prlimit(pid, &is, nil)
		}
		if errors.Is(err, syscall.ESRCH) {
			return nil // it has ended meanwhile
		}
		return err
	}}
}

// fill makes each write to a file fail for a while. The processes have inherited the limit before
// from this one.
func (d disk) fill(ctx context.Context, length time.Duration) error {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	err := d.limitAll(0)
	wait(ctx, length)
	return errors.Join(err, d.limitAll(before.Cur))
}

// limitAll sets the limit of all processes. A server gives its own limit to the processes that it
// starts, so those that it started before its own limit was set get theirs in the second round.
func (d disk) limitAll(size uint64) error {
	const rounds = 2
	for range rounds {
		pids, err := d.processes()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server has ended
		}
		if err != nil {
			return err
		}
		for _, pid := range pids {
			if err := d.limit(pid, size); err != nil {
				return err
			}
		}
	}
	return nil
}

// prlimit sets the size that files may have for a process, and returns the size before.
func prlimit(pid int, next, old *syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE,
		uintptr(unsafe.Pointer(next)), uintptr(unsafe.Pointer(old)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
