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
				h.saw(0, "00000001", true, time.Now())
				waits("a look at the primary")
				h.saw(1, "", true, time.Now())
				waits("a look at one standby")
				h.saw(2, "", true, begun)
				waits("a look at the other standby that began before the end of the silence")
				if promoted {
					h.saw(2, "00000002", true, time.Now())
				} else {
					h.saw(2, "", true, time.Now())
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
		h.saw(0, "00000001", true, time.Now())
		if h.lease.doubted.IsZero() {
			t.Error("a primary that was silent for too long is believed")
		}
		for server, timeline := range []string{"00000001", "", ""} {
			h.saw(server, timeline, timeline != "", time.Now())
		}
		if err := h.vouch(0); err != nil {
			t.Errorf("after a look at each server: %v", err)
		}
	})
}

// A doubt begins in the middle of a silence, for a reply arrives late. Looks at the standbys from before its end prove nothing: one of them
// may have been promoted since.
func TestADoubtLastsLongerThanTheSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := three(func() {})
		time.Sleep(hostsLease + time.Millisecond)
		vouched := make(chan error, 1)
		go func() { vouched <- h.vouch(0) }()
		synctest.Wait()
		h.saw(1, "", true, time.Now())
		h.saw(2, "", true, time.Now())
		time.Sleep(hostsLease)
		for range 2 {
			h.saw(0, "00000001", true, time.Now())
		}
		synctest.Wait()
		select {
		case err := <-vouched:
			t.Fatalf("the reply no longer waits: %v", err)
		default:
		}
		h.saw(1, "", true, time.Now())
		h.saw(2, "", true, time.Now())
		if err := <-vouched; err != nil {
			t.Errorf("after a look at each server: %v", err)
		}
	})
}

// A program begins while a standby is being promoted, and the former primary answers first. It is not believed before the others
// have had a look.
func TestTheFirstPrimaryIsDoubted(t *testing.T) {
	h := three(func() {})
	h.primary, h.timeline = nowhere, ""
	h.saw(0, "00000001", true, time.Now())
	if !h.isDoubted() || h.pause(1) != hostsHurry {
		t.Error("the first server that accepts writes is believed")
	}
}

// Nobody knows for long whether the server is the primary. The reply then ends with an error, so that no request waits for ever.
func TestAReplyWaitsForALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := three(func() {})
		time.Sleep(2 * hostsLease)
		began := time.Now()
		if err := h.vouch(0); !errors.Is(err, errDoubted) || time.Since(began) != hostsDoubt {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// A primary that refuses the looks, because it has no free connection for one, gives a sign of life. Its replies are believed when the
// others have had a look.
func TestARefusedLookIsASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := three(func() {})
		time.Sleep(2 * hostsLease)
		for _, server := range []int{0, 0, 1, 2} {
			h.saw(server, "", true, time.Now())
		}
		if err := h.vouch(0); err != nil {
			t.Error(err)
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
