package provider

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

var list = Call{Method: http.MethodGet, Path: "/list"}

// counted returns a server that responds to the nth request with the nth status. All further
// requests get the last status.
func counted(t *testing.T, statuses ...int) (*httptest.Server, *atomic.Int32) {
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i := int(n.Add(1))
		w.WriteHeader(statuses[min(i, len(statuses))-1])
	}))
	t.Cleanup(s.Close)
	return s, &n
}

func TestReadsAreRepeated(t *testing.T) {
	for _, c := range []struct {
		statuses []int
		want     int32
		trouble  string
		status   int
	}{
		{[]int{200}, 1, "", 200},
		{[]int{503, 429, 200}, 3, "", 200},
		{[]int{500, 500, 500, 200}, 3, CodeServerError, 500},
		{[]int{400}, 1, "", 400},
		{[]int{401}, 1, "", 401},
		{[]int{404}, 1, "", 404},
	} {
		s, n := counted(t, c.statuses...)
		r := newClient(t, s.URL).Read(t.Context(), list)
		if n.Load() != c.want || r.Trouble != c.trouble || r.Status != c.status {
			t.Errorf("%v: %d requests, %+v", c.statuses, n.Load(), r)
		}
	}
}

// After many failed reads the circuit breaker opens. Further reads then fail, and the client sends
// no request.
func TestBreaker(t *testing.T) {
	s, n := counted(t, 500)
	c := newClient(t, s.URL)
	for range 20 {
		c.Read(t.Context(), list)
	}
	if r := c.Read(t.Context(), list); r.Trouble != CodeNotSent || r.Cause == nil {
		t.Errorf("%+v", r)
	}
	if got := n.Load(); got < breakerFailed || got > breakerOf {
		t.Errorf("%d requests reached a provider on its knees", got)
	}
	// The open circuit breaker does not affect payments: the client still sends each of them, one
	// time.
	before := n.Load()
	if r := c.Pay(t.Context(), list); r.Trouble != CodeServerError || n.Load() != before+1 {
		t.Errorf("%+v", r)
	}
}

// A refusal such as HTTP 404 is a complete response, so many refusals do not open the circuit
// breaker.
func TestRefusalsAreNoFailures(t *testing.T) {
	s, n := counted(t, 404)
	c := newClient(t, s.URL)
	for range 40 {
		c.Read(t.Context(), list)
	}
	if n.Load() != 40 {
		t.Errorf("%d of 40 requests arrived", n.Load())
	}
}

func TestReadsAtOnce(t *testing.T) {
	var now, most atomic.Int32
	release := make(chan struct{})
	var full sync.Once
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			seen := most.Load()
			if n <= seen || most.CompareAndSwap(seen, n) {
				break
			}
		}
		if n == readsAtOnce {
			full.Do(func() { close(release) })
		}
		<-release
	}))
	defer s.Close()
	c := newClient(t, s.URL)
	var all sync.WaitGroup
	for range readsAtOnce + 20 {
		all.Go(func() {
			if r := c.Read(t.Context(), list); r.Trouble != "" {
				t.Errorf("%+v", r)
			}
		})
	}
	all.Wait()
	if most.Load() != readsAtOnce {
		t.Errorf("%d at once", most.Load())
	}
}

func TestReadsEndWithTheirCaller(t *testing.T) {
	s, n := counted(t, 500)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r := newClient(t, s.URL).Read(gone, list); r.Trouble == "" || n.Load() != 0 {
		t.Errorf("%+v after %d requests", r, n.Load())
	}
}
