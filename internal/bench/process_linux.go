package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tick is the unit of processor time in /proc, a hundredth of a second on every Linux.
const tick = 10_000_000

// use reads the usage of the process from /proc.
func (p process) use() (usage, error) {
	u, err := useOf(p.pid, p.tree)
	if err != nil || !p.tree {
		return u, err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return u, err
		}
		f, err := statOf(pid)
		if err != nil || f[parent] != int64(p.pid) {
			continue // the process has ended, or is not a child
		}
		if child, err := useOf(pid, false); err == nil { // else the child has ended, and its parent counts its time
			u.cpu, u.memory = u.cpu+child.cpu, u.memory+child.memory
		}
	}
	return u, err
}

// These are the positions of fields in /proc/PID/stat, counted from the field after the name.
const (
	parent          = 1
	userTime        = 11
	systemTime      = 12
	endedUserTime   = 13 // of children that have ended
	endedSystemTime = 14
)

func statOf(pid int) ([]int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name may contain spaces
	out := make([]int64, len(fields))
	for i, field := range fields[1:] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err == nil {
			out[i+1] = n // the fields that are too large for an int64 are not read
		}
	}
	return out, nil
}

func useOf(pid int, ended bool) (u usage, err error) {
	f, err := statOf(pid)
	if err != nil {
		return u, err
	}
	u.cpu = (f[userTime] + f[systemTime]) * tick
	if ended {
		u.cpu += (f[endedUserTime] + f[endedSystemTime]) * tick
	}
	// RssAnon leaves out memory that several processes share, such as PostgreSQL's buffers.
	u.memory, err = valueOf(pid, "status", "RssAnon:")
	if err == nil {
		u.written, err = valueOf(pid, "io", "write_bytes:")
	}
	if os.IsPermission(err) {
		err = nil // only the owner of a process reads its io
	}
	u.memory *= 1024
	return u, err
}

// valueOf returns a number from a file of /proc with one name and one number on each line. It
// returns 0 if the name is missing.
func valueOf(pid int, file, name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, nil
	}
	return strconv.ParseInt(fields[0], 10, 64)
}

// postmaster returns the main process of a PostgreSQL server from one of its backends. It returns
// false if the server does not run on this machine.
func postmaster(backend int) (int, bool) {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", backend))
	if err != nil || !strings.HasPrefix(string(name), "postgres") {
		return 0, false
	}
	f, err := statOf(backend)
	if err != nil {
		return 0, false
	}
	return int(f[parent]), true
}
