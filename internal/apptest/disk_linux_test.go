package apptest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
)

// fillDisk makes each write of a child to a file fail with EFBIG, as a full disk would. It
// returns a function that makes writes succeed again.
func fillDisk(t *testing.T, c *apptest.Child) (free func()) {
	t.Helper()
	var before syscall.Rlimit
	limit := func(next, old *syscall.Rlimit) {
		t.Helper()
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(c.PID()), syscall.RLIMIT_FSIZE,
			uintptr(unsafe.Pointer(next)), uintptr(unsafe.Pointer(old)), 0, 0)
		if errno != 0 {
			t.Fatalf("prlimit: %v", errno)
		}
	}
	limit(nil, &before)
	limit(&syscall.Rlimit{Cur: 0, Max: before.Max}, nil)
	return func() { limit(&before, nil) }
}

var noWritesYet = regexp.MustCompile(`^none for (1[5-9]|[2-9][0-9]) s$`)

// On a full disk each write fails. Within fifteen seconds /readyz responds 503 and shows the time
// since the last successful write. When the disk has room again, the program continues without a
// restart. No money has moved in the meantime, and no order is incomplete.
func TestAFullDiskIsNotReady(t *testing.T) {
	t.Parallel()
	home := apptest.NewHome(t, db.SQLite)
	c := home.Spawn(t, apptest.Never, 4*time.Second)
	bundle := c.Bundle()
	c.Bought(c.Buy(c.Order(bundle, "before", "10")))
	ready := func() (status int, said map[string]string) {
		t.Helper()
		a, err := c.Raw(t.Context(), http.MethodGet, "/readyz", nil)
		if err == nil {
			err = json.Unmarshal([]byte(a.Body), &said)
		}
		if err != nil {
			t.Fatal(a, err)
		}
		return a.Status, said
	}
	free := fillDisk(t, c)
	since, order := time.Now(), c.Order(bundle, "full", "10")
	c.Buy(order, header, "full").Want(t, http.StatusServiceUnavailable)
	apptest.Eventually(t, func() string {
		status, said := ready()
		if status != http.StatusServiceUnavailable || !noWritesYet.MatchString(said["writes"]) || said["status"] != "not ready" {
			return fmt.Sprint(status, said)
		}
		return ""
	})
	t.Logf("not ready %v after the disk was full", time.Since(since).Round(time.Millisecond))
	if log := c.Log(); strings.Count(log, "the epoch was not raised or not written") != 1 {
		t.Errorf("the log does not say once that the epoch stands still:\n%s", log)
	}
	if a, err := c.Raw(t.Context(), http.MethodGet, "/healthz", nil); err != nil || a.Status != http.StatusOK {
		t.Errorf("alive: %s, %v", a, err)
	}
	c.Buy(order, header, "full").Want(t, http.StatusServiceUnavailable)
	if n := len(c.Audit(t, apptest.DevFloat)); n != 1 {
		t.Errorf("%d purchases on a full disk", n)
	}
	free()
	apptest.Eventually(t, func() string {
		if status, said := ready(); status != http.StatusOK || said["writes"] != "ok" {
			return fmt.Sprint(status, said)
		}
		return ""
	})
	c.Bought(c.Buy(order, header, "full"))
	if n := len(c.Audit(t, apptest.DevFloat)); n != 2 {
		t.Errorf("%d purchases in the end", n)
	}
	c.Kill()
	home.Start(t).Sound(t)
}
