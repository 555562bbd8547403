package db

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// three returns three hosts, of which the first is the primary, and what moved was called for.
func three(moved func()) *hosts {
	h := &hosts{moved: moved, primary: nowhere, wires: map[*wire]bool{}, dials: map[*line]context.CancelFunc{}, lease: newLease(3)}
	for range 3 {
		h.each, h.wakes = append(h.each, &pgx.ConnConfig{}), append(h.wakes, make(chan struct{}, 1))
	}
	for server, timeline := range []string{"00000001", "", "", "00000001"} {
		h.saw(server%3, timeline, true, time.Now())
	}
	h.woken()
	h.lease.doubted, h.lease.last = time.Time{}, time.Time{} // the first doubt of a program has ended long ago
	return h
}

// woken returns how many servers get a look now.
func (h *hosts) woken() (n int) {
	for _, wake := range h.wakes {
		select {
		case <-wake:
			n++
		default:
		}
	}
	return n
}

// In the ordinary state, the primary gets a look ten times a second and each standby once. When a connection breaks, each server gets a look at once, and
// many broken connections cause no more looks. While the primary does not respond, the looks follow quickly.
func TestTroubleHastensTheLooks(t *testing.T) {
	h := three(func() {})
	if h.pause(1) != hostsLook || h.woken() != 0 {
		t.Error("the ordinary state is in a hurry")
	}
	for range 1000 {
		h.suspect()
	}
	if n := h.woken(); n != 3 {
		t.Errorf("broken connections caused looks at %d servers, not 3", n)
	}
	h.saw(0, "00000001", true, time.Now())
	if h.pause(1) != hostsLook || h.woken() != 0 {
		t.Error("the primary has responded, and the looks are in a hurry")
	}
	h.saw(0, "", false, time.Now())
	if n := h.woken(); n != 3 || h.pause(1) != hostsHurry {
		t.Errorf("the primary is away: looks at %d servers, then a pause of %v", n, h.pause(1))
	}
	h.saw(0, "", false, time.Now())
	h.suspect()
	if n := h.woken(); n != 0 {
		t.Errorf("%d servers get a look between the quick ones", n)
	}
	h.saw(2, "00000002", true, time.Now())
	if h.primary != 2 || h.pause(1) != hostsLook {
		t.Errorf("server %d is the primary, and the pause is %v", h.primary, h.pause(1))
	}
}

// A connection is being made to a primary that has left the network. When another server becomes the primary, the
// attempt ends, and later ones to the former primary end too.
func TestAnAttemptAtAFormerPrimaryEnds(t *testing.T) {
	h := three(func() {})
	l, begun := &line{server: 0}, make(chan bool, 1)
	hang := func(ctx context.Context) (net.Conn, error) {
		begun <- true
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ended := make(chan error, 1)
	go func() {
		_, err := h.dial(t.Context(), l, hang)
		ended <- err
	}()
	<-begun
	h.saw(1, "00000002", true, time.Now())
	if err := <-ended; err == nil {
		t.Error("there is a connection to the former primary")
	}
	if _, err := h.dial(t.Context(), l, hang); err == nil || len(h.dials) != 0 {
		t.Errorf("a later attempt: %v, and %d are noted", err, len(h.dials))
	}
}
