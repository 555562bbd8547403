package torture

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"path"
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
	taken   map[Message]bool    // verified messages
	refused map[string]int      // how often each message was refused
	forged  int                 // messages that no secret of their company verifies
	seen    int
	kind    bool // answer every message with success
	failed  error
}

func newReceiver() (*receiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + l.Addr().String() + "/hooks/", taken: map[Message]bool{}, refused: map[string]int{}, secrets: map[string][]shared{}}
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

// ServeHTTP takes a message. It refuses every seventh, and counts a message only if it accepts it. It refuses none three times, because Kobo
// gives a message up after three days, and these may pass within minutes.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the connection has ended
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	const most = 2
	id := request.Header.Get("Webhook-Id")
	if r.seen++; r.seen%7 == 0 && r.refused[id] < most && !r.kind {
		r.refused[id]++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	company := path.Base(request.URL.Path)
	if !verified(body, request.Header, r.secrets[company]) {
		r.forged++
		return
	}
	r.taken[Message{company, id, digest(body)}] = true
}

// of returns the address of a company's webhook.
func (r *receiver) of(company string) string { return r.url + company }

// verified reports whether one of the company's secrets signed a message. The time of a message is not
// compared, because the clock of a run jumps.
func verified(body []byte, header http.Header, secrets []shared) bool {
	for _, s := range slices.Backward(secrets) {
		w, err := standardwebhooks.NewWebhook(s.secret)
		if err == nil && w.VerifyIgnoringTimestamp(body, header) == nil {
			return true
		}
	}
	return false
}

// messages returns the messages that were taken, and how many no secret verified.
func (r *receiver) messages() ([]Message, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.SortedFunc(maps.Keys(r.taken), func(x, y Message) int {
		return cmp.Or(cmp.Compare(x.Company, y.Company), cmp.Compare(x.Event, y.Event), cmp.Compare(x.Body, y.Body))
	})
	return out, r.forged, r.failed
}

func (r *receiver) close(ctx context.Context) error { return r.server.Shutdown(ctx) }
