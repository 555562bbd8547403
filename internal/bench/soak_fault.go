package bench

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
)

// soakRole is what differs for the child that runs Kobo in a soak: it calls the sandbox, whose
// connections fail at times.
type soakRole struct {
	Window time.Duration
	Seed   uint64
}

func (r soakRole) configure(cfg *app.Config) {
	if r.Window > 0 {
		cfg.Window = r.Window
	}
	f := &faulty{rand: rand.New(rand.NewPCG(r.Seed, r.Seed))} //nolint:gosec // the seed repeats the choices
	cfg.AroundProviders = f.around
}

// faultRate is the number of requests to a provider of which one fails.
const faultRate = 300

// fault is what happens to a request to a provider.
type fault int

const (
	none    fault = iota
	busy          // HTTP 503, not done
	cut           // the connection is cut, not done
	doneCut       // the connection is cut, done
	faults
)

// faulty makes a few of the requests to the providers fail.
type faulty struct {
	mu   sync.Mutex
	rand *rand.Rand
}

func (f *faulty) next() fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rand.IntN(faultRate) > 0 {
		return none
	}
	return busy + fault(f.rand.IntN(int(faults-busy)))
}

// around stands between Kobo and its providers.
func (f *faulty) around(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch f.next() {
		case busy:
			w.WriteHeader(http.StatusServiceUnavailable)
		case cut:
			panic(http.ErrAbortHandler)
		case doneCut:
			inner.ServeHTTP(discard{http.Header{}}, r)
			panic(http.ErrAbortHandler)
		default:
			inner.ServeHTTP(w, r)
		}
	})
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

// Header returns the headers.
func (d discard) Header() http.Header { return d.header }

// Write discards the text.
func (d discard) Write(text []byte) (int, error) { return len(text), nil }

// WriteHeader discards the status.
func (d discard) WriteHeader(int) {}
