package main

import (
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// gcPercent is the growth of the heap after which the garbage collector runs. Kobo keeps little in
// memory, some 15 MB. With Go's 100 percent, the collector would run for every few megabytes of
// short-lived data and take a third of a busy program's time.
const gcPercent = 400

// tuneMemory sets the garbage collector and a memory limit. If the environment has GOGC or
// GOMEMLIMIT, Go has obeyed it already, and tuneMemory does not change that setting.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if limit := groupLimit("/proc/self/cgroup", "/sys/fs/cgroup"); os.Getenv("GOMEMLIMIT") == "" && limit > 0 {
		// The rest is for memory that Go does not manage, such as the code and the page cache.
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}

// groupLimit returns the smallest memory limit of the program's control group (cgroup v2) and of
// the groups above it. A container or a systemd service sets such a limit. Without one, groupLimit
// returns 0. Parameter self is the file that names the group, and root is the folder of the groups.
func groupLimit(self, root string) (smallest int64) {
	text, err := os.ReadFile(self)
	if err != nil {
		return 0 // this is no Linux
	}
	_, group, found := strings.Cut("\n"+string(text), "\n0::")
	if !found {
		return 0
	}
	group, _, _ = strings.Cut(group, "\n")
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		text, err := os.ReadFile(path.Join(root, at, "memory.max")) // "max" means no limit
		limit, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err == nil && wrong == nil && (smallest == 0 || limit < smallest) {
			smallest = limit
		}
		if at == "/" {
			return smallest
		}
	}
}
