//go:build unix

package cluster

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// unprivileged makes the server's user the owner of the folder, and returns the attributes of the
// server's process. The process gets a separate process group. Otherwise a Ctrl-C at the terminal
// would end the supervisor before it has stopped the server.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() != 0 {
		return attributes, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			continue
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			continue
		}
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return attributes, os.Chown(dir, uid, gid)
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

// Freeze stops all processes of the server where they are. Its connections stay open, and nobody replies.
func (c *Cluster) Freeze() error {
	_, err := c.freeze()
	return err
}

// freeze freezes the postmaster first, because it then starts no other process. It returns all processes.
func (c *Cluster) freeze() ([]int, error) {
	first, err := c.postmaster()
	if err == nil {
		err = syscall.Kill(first, syscall.SIGSTOP)
	}
	if err != nil {
		return nil, err
	}
	all := append([]int{first}, childrenOf(first)...)
	return all, signal(all[1:], syscall.SIGSTOP)
}

// Wake lets a frozen server go on.
func (c *Cluster) Wake() error {
	all, err := c.Processes()
	if err != nil {
		return err
	}
	return signal(all, syscall.SIGCONT)
}

// Kill ends all processes of the server immediately, like a power failure, and returns when they have ended. Resume then
// starts the server again.
func (c *Cluster) Kill(ctx context.Context) error {
	all, err := c.freeze()
	if err != nil {
		return err
	}
	if err := signal(all, syscall.SIGKILL); err != nil {
		return err
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for _, pid := range all {
		for isAlive(pid) {
			select {
			case <-look.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return c.unlock()
}

// signal sends a signal to processes. A process that has ended meanwhile gets none.
func signal(to []int, s syscall.Signal) error {
	for _, pid := range to {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// isAlive reports whether a process runs. A zombie does not.
func isAlive(pid int) bool {
	if fields := statOf(pid); len(fields) > 0 {
		return fields[0] != "Z" && fields[0] != "X"
	}
	return !hasProc() && syscall.Kill(pid, 0) == nil
}

// Runs reports whether the server's first process runs.
func (c *Cluster) Runs() bool {
	first, err := c.postmaster()
	return err == nil && isAlive(first)
}
