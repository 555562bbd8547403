package db

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A primary was silent for longer than another server needs to take its place, and then sends something. It is believed only
// after a look at each server that began later, and not at all if one of them was promoted.
func TestAReplyAfterASilenceWaitsForALookAtEachServer(t *testing.T) {
	for name, promoted := range map[string]bool{"nobody was promoted": false, "another server was promoted": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := three(func() {})
				h.saw(1, "", time.Now())
				h.saw(2, "", time.Now())
				time.Sleep(hostsLease)
				if err := h.vouch(0); err != nil {
					t.Errorf("a reply before the end of the lease: %v", err)
				}
				begun := time.Now()
				time.Sleep(hostsLease / 10)
				h.woken()
				vouched := make(chan error, 1)
				go func() { vouched <- h.vouch(0) }()
				waits := func(after string) {
					t.Helper()
					synctest.Wait()
					select {
					case err := <-vouched:
						t.Fatalf("after %s the reply no longer waits: %v", after, err)
					default:
					}
				}
				waits("a silence")
				if n := h.woken(); n != 3 {
					t.Errorf("the doubt caused looks at %d servers, not 3", n)
				}
				h.saw(0, "00000001", time.Now())
				waits("a look at the primary")
				h.saw(1, "", time.Now())
				waits("a look at one standby")
				h.saw(2, "", begun)
				waits("a look at the other standby that began before the end of the silence")
				if promoted {
					h.saw(2, "00000002", time.Now())
				} else {
					h.saw(2, "", time.Now())
				}
				synctest.Wait()
				if err := <-vouched; promoted != errors.Is(err, errFormer) || !promoted && err != nil {
					t.Errorf("the reply: %v", err)
				}
			})
		})
	}
}

// The look itself shows the silence: nothing arrived from the primary meanwhile, and the next reply waits too.
func TestALookThatComesLateIsASilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := three(func() {})
		time.Sleep(hostsLease + time.Millisecond)
		h.saw(0, "00000001", time.Now())
		if h.lease.doubted.IsZero() {
			t.Error("a primary that was silent for too long is believed")
		}
		for server, timeline := range []string{"00000001", "", ""} {
			h.saw(server, timeline, time.Now())
		}
		if err := h.vouch(0); err != nil {
			t.Errorf("after a look at each server: %v", err)
		}
	})
}

// When there are no more looks, a reply that waits ends with an error.
func TestAReplyThatWaitsEndsWithTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := three(func() {})
		ended := make(chan struct{})
		h.ended = ended
		time.Sleep(2 * hostsLease)
		close(ended)
		if err := h.vouch(0); err == nil {
			t.Error("nobody knows whether the server is the primary, and its reply is believed")
		}
	})
}
