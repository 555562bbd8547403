package apptest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/kobo-waas/kobo/internal/apptest"
)

// hookServer is a company's server for webhooks. It verifies each message with the library of the
// Standard Webhooks specification, and stores the messages by their ID.
type hookServer struct {
	t    testing.TB
	addr string

	mu      sync.Mutex
	server  *http.Server
	secrets []string          // at least one of these must verify a message
	retired []string          // none of these may verify a message
	down    bool              // the server responds 503
	mute    chan struct{}     // if not nil, the server never responds to the next message; closed when that message has come
	taken   map[string]string // webhook-id → body
	order   []int64           // the sequence of each message, in the order of first arrival
	times   int               // verified messages
	double  int               // verified messages that more than one secret verifies
}

func newHookServer(t testing.TB) *hookServer {
	h := &hookServer{t: t, addr: "127.0.0.1:0", taken: map[string]string{}}
	h.rise()
	t.Cleanup(h.die)
	return h
}

// URL returns the address for messages.
func (h *hookServer) URL() string { return "http://" + h.addr + "/hooks" }

// die ends every connection and accepts no new connections.
func (h *hookServer) die() {
	_ = h.server.Close() // open requests get no response
}

// rise accepts messages again, at the same address.
func (h *hookServer) rise() {
	h.t.Helper()
	var listener net.Listener
	apptest.Eventually(h.t, func() (trouble string) {
		var err error
		if listener, err = net.Listen("tcp", h.addr); err != nil {
			trouble = err.Error()
		}
		return trouble
	})
	h.addr = listener.Addr().String()
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) {
		if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.t.Error(err)
		}
	}(h.server)
}

// ServeHTTP receives one message.
func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the connection is closed
	}
	if h.take(w, body, r.Header) {
		<-r.Context().Done()
	}
}

// take stores a message, and reports whether the server must give no response.
func (h *hookServer) take(w http.ResponseWriter, body []byte, header http.Header) (silent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	}
	valid, old := verified(body, header, h.secrets), verified(body, header, h.retired)
	id := header.Get("webhook-id")
	if valid == 0 || old > 0 || h.taken[id] != "" && h.taken[id] != string(body) {
		h.t.Errorf("%s: %d of the secrets verify, and %d of those before; first %q, now %q", id, valid, old, h.taken[id], body)
	}
	if h.taken[id] == "" {
		var e apptest.Event
		if err := json.Unmarshal(body, &e); err != nil || e.ID != id {
			h.t.Errorf("%s: %v: %s", id, err, body)
		}
		h.order = append(h.order, e.Sequence)
	}
	h.taken[id] = string(body)
	h.times++
	if valid > 1 {
		h.double++
	}
	if h.mute != nil {
		close(h.mute)
		h.mute = nil
		return true
	}
	return false
}

// verified returns how many of the secrets verify a message.
func verified(body []byte, header http.Header, secrets []string) (n int) {
	for _, s := range secrets {
		verifier, err := standardwebhooks.NewWebhook(s)
		if err == nil && verifier.Verify(body, header) == nil {
			n++
		}
	}
	return n
}

// silence makes the server give no response to the next message. The returned channel is closed
// when that message has arrived.
func (h *hookServer) silence() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mute = make(chan struct{})
	return h.mute
}

func (h *hookServer) set(down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = down
}

// trust sets the secrets that must verify a message. An earlier secret that is not in the list must
// not verify any further message.
func (h *hookServer) trust(secrets ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.secrets {
		if !slices.Contains(secrets, s) {
			h.retired = append(h.retired, s)
		}
	}
	h.secrets = secrets
}

// lacks returns a text that names the events that the server has not received, or "" if it has
// received all.
func (h *hookServer) lacks(events []apptest.Event) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	missing := 0
	for _, e := range events {
		if h.taken[e.ID] == "" {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Sprintf("%d of %d events have not come", missing, len(events))
	}
	return ""
}

// counts returns how many messages came more than once, and how many had two valid signatures.
func (h *hookServer) counts() (again, double int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.times - len(h.taken), h.double
}

// register makes the server a webhook endpoint of a company. It returns the endpoint's ID and
// the number of the company's earlier events.
func (h *hookServer) register(t testing.TB, c *apptest.Client) (id string, before int64) {
	t.Helper()
	var made struct{ Data struct{ ID, Secret string } }
	before = int64(len(c.Events(0)))
	c.Do(http.MethodPost, "/api/v1/webhooks", map[string]string{"url": h.URL()}).Want(t, http.StatusOK).Into(t, &made)
	h.trust(made.Data.Secret)
	return made.Data.ID, before
}
