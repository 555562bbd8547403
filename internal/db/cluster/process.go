package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func (c *Cluster) lock() string { return filepath.Join(c.dir, "data", "postmaster.pid") }

// postmaster returns the first process of the server. The error is os.ErrNotExist if the server was stopped.
func (c *Cluster) postmaster() (int, error) {
	text, err := os.ReadFile(c.lock())
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return 0, fmt.Errorf("postmaster.pid: %w", err)
	}
	return pid, nil
}

// Processes returns the processes of the server, the first one first. The error is os.ErrNotExist if the server was
// stopped.
func (c *Cluster) Processes() ([]int, error) {
	first, err := c.postmaster()
	if err != nil {
		return nil, err
	}
	return append([]int{first}, childrenOf(first)...), nil
}

// unlock removes what a killed server has left: its file, and its shared memory segment. Its process may stay as a
// zombie, which PostgreSQL takes for a running server. Without /proc nobody knows the server's other processes. Then the
// file stays, because PostgreSQL must find out itself whether one of them still runs.
func (c *Cluster) unlock() error {
	text, err := os.ReadFile(c.lock())
	if err != nil || !hasProc() {
		return err
	}
	if lines := strings.Split(string(text), "\n"); len(lines) > 6 {
		if key := strings.Fields(lines[6]); len(key) == 2 {
			_ = c.Command("ipcrm", "-m", key[1]).Run() // the segment may be gone already
		}
	}
	if err := os.Remove(c.lock()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func hasProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// statOf returns the state of a process, its parent and more. It returns nothing if the process has ended, or without
// /proc.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The process name in brackets may contain any characters.
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// childrenOf returns the processes that a process has started. Without /proc it returns none. The
// children of a postmaster then end by themselves soon after the postmaster.
func childrenOf(parent int) (children []int) {
	all, _ := filepath.Glob("/proc/[0-9]*") // cannot fail, because the pattern is well-formed
	for _, path := range all {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue // another name that begins with a digit
		}
		if fields := statOf(pid); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	return children
}
