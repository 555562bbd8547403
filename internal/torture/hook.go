package torture

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver takes the webhooks of all companies. It answers some with an error, chosen by the number
// of the message.
type receiver struct {
	server *http.Server
	url    string

	mu      sync.Mutex
	secrets map[string][]shared // of each company, the one in use last
	taken   map[string]int      // verified messages by event
	forged  int                 // messages that no secret verifies
	seen    int
	kind    bool // answer every message with success
	failed  error
}

func newReceiver() (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + l.Addr().String() + "/hooks", taken: map[string]int{}, secrets: map[string][]shared{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := r.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			r.mu.Lock()
			r.failed = err
			r.mu.Unlock()
		}
	}()
	return r, nil
}

// shared is a secret that a company has got from Kobo.
type shared struct {
	secret string
	made   int64
}

// trust adds a secret of a company's endpoint.
func (r *receiver) trust(company, secret string, at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[company] = append(r.secrets[company], shared{secret, at})
}

// forget puts the secrets of a lost time before those that are in use again. Messages that they signed may still arrive.
func (r *receiver) forget(lost Lost) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, all := range r.secrets {
		slices.SortStableFunc(all, func(x, y shared) int {
			return cmp.Compare(btoi(x.made < lost.From), btoi(y.made < lost.From))
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// trustNewest forgets all secrets but the newest of each company, because no rotation is under way any more.
func (r *receiver) trustNewest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for company, all := range r.secrets {
		r.secrets[company] = all[len(all)-1:]
	}
}

// settle makes the receiver accept every message from now on.
func (r *receiver) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kind = true
}

// ServeHTTP takes a message. It refuses every seventh, and counts a message only if it accepts it.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the connection has ended
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen++; r.seen%7 == 0 && !r.kind {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !verified(body, request.Header, r.secrets) {
		r.forged++
		return
	}
	r.taken[request.Header.Get("Webhook-Id")]++
}

// verified reports whether one of the secrets signed a message. The time of a message is not
// compared, because the clock of a run jumps.
func verified(body []byte, header http.Header, secrets map[string][]shared) bool {
	for _, all := range secrets {
		for _, s := range slices.Backward(all) {
			w, err := standardwebhooks.NewWebhook(s.secret)
			if err == nil && w.VerifyIgnoringTimestamp(body, header) == nil {
				return true
			}
		}
	}
	return false
}

// messages returns how often each event was taken, and how many messages no secret verified.
func (r *receiver) messages() (map[string]int, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]int{}
	for id, n := range r.taken {
		out[id] = n
	}
	return out, r.forged, r.failed
}

func (r *receiver) close(ctx context.Context) error { return r.server.Shutdown(ctx) }
