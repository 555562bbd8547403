package request_test

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/request"
)

// use is a request with an API key, some minutes after the start.
func (h *house) use(company, key, address string, minute int) {
	h.Add(request.Entry{Company: company, Method: "GET", Path: "/", Status: 200, APIKeyID: key, Address: address, CreatedAt: start.Add(time.Duration(minute) * time.Minute)})
}

// lastUse returns when and from where a key was used last.
func (h *house) lastUse(company, key string) (minute int, address string) {
	h.t.Helper()
	all, err := h.Uses(h.t.Context(), company, []string{key})
	if err != nil {
		h.t.Fatal(err)
	}
	one, used := all[key]
	if !used {
		return -1, ""
	}
	return int(one.At.Sub(start) / time.Minute), one.Address
}

// The last use of an API key is known at once, also without a log, and stays after the program has stopped. An earlier use that is
// written later changes nothing, and neither does a person at the pages.
func TestTheLastUseOfAKeyIsKept(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.Keep = 0
		is := func(what, company, key string, minute int, address string) {
			t.Helper()
			if at, from := h.lastUse(company, key); at != minute || from != address {
				t.Errorf("%s: minute %d from %q, want %d from %q", what, at, from, minute, address)
			}
		}
		is("before the first use", "a", "k1", -1, "")
		h.use("a", "k1", "192.0.2.1", 1)
		h.use("a", "k1", "192.0.2.3", 3)
		h.use("a", "k1", "192.0.2.2", 2)
		h.use("a", "k2", "192.0.2.9", 1)
		h.use("a", "person:ada", "192.0.2.8", 4)
		is("in memory", "a", "k1", 3, "192.0.2.3")
		is("another company", "b", "k1", -1, "")
		h.flush()
		is("stored", "a", "k1", 3, "192.0.2.3")
		is("another key", "a", "k2", 1, "192.0.2.9")
		is("a person", "a", "person:ada", -1, "")
		h.use("a", "k1", "192.0.2.2", 2)
		h.flush()
		is("an earlier use that comes later", "a", "k1", 3, "192.0.2.3")
		h.use("a", "k1", "192.0.2.5", 5)
		h.flush()
		is("a later use", "a", "k1", 5, "192.0.2.5")
	})
}

// Uses that cannot be written stay for the next time.
func TestUsesOfKeysAreWrittenLater(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		h.use("a", "k1", "192.0.2.1", 1)
		ended, stop := context.WithCancel(t.Context())
		stop()
		if err := request.WriteUses(h.Service, ended); err == nil {
			t.Error("nothing was written, and nobody is told")
		}
		if err := request.WriteUses(h.Service, t.Context()); err != nil {
			t.Fatal(err)
		}
		if at, _ := h.lastUse("a", "k1"); at != 1 {
			t.Errorf("minute %d", at)
		}
	})
}
