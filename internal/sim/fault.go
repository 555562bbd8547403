package sim

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// These are the faults of one request to a provider.
const (
	busy        = "503, not done"
	cut         = "cut off, not done"
	silent      = "no answer, not done"
	doneBusy    = "503, done"
	doneCut     = "cut off, done"
	doneSilent  = "no answer, done"
	doneGarbled = "no JSON, done"
	doneTwice   = "request arrives twice"
	crashBefore = "crash before the payment"
	crashAfter  = "crash after the payment"
)

// These are further faults. The world causes them.
const (
	forgotten   = "the provider denies the payment for minutes"
	late        = "the provider pays late"
	crashCommit = "crash after a commit"
	crashTime   = "crash at any time"
	crashQuiet  = "crash of an idle program"
	stopStart   = "stop and start"
	duplicates  = "notifications several times"
	unnoticed   = "no notification"
	twins       = "the same request twice at once"
)

// ofPayment lists the faults of a payment, and ofAll those of all requests in a storm.
var (
	ofPayment = []string{busy, cut, silent, doneBusy, doneCut, doneSilent, doneGarbled, doneTwice, crashBefore, crashAfter}
	ofAll     = []string{busy, cut, silent, doneBusy, doneCut, doneSilent, doneGarbled}
)

// hold is the longest time for which a request gets no answer. All callers give up earlier.
const hold = 5 * time.Minute

// faults stands between the program and the providers.
type faults struct {
	crash func()

	mu     sync.Mutex
	next   string // the fault of the next payment
	storm  string // the fault of all requests
	denied string // the reference that the providers deny
	done   map[string]int
}

func newFaults(crash func()) *faults { return &faults{crash: crash, done: map[string]int{}} }

// count notes that a fault has happened.
func (f *faults) count(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done[kind]++
}

// set sets the fault of the next payment, and of all requests. The texts may be empty.
func (f *faults) set(next, storm string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next, f.storm = next, storm
}

// calm ends all faults, and returns the storm that it has ended.
func (f *faults) calm() (storm string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	storm, f.next, f.storm = f.storm, "", ""
	return storm
}

// deny makes the providers deny a payment with this reference. With "" they deny none.
func (f *faults) deny(reference string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.denied = reference
}

// isPayment reports whether a request moves money.
func isPayment(r *http.Request) bool {
	p := r.URL.Path
	return r.Method == http.MethodPost &&
		(strings.Contains(p, "/vas/pay/") || p == "/transfers" || strings.HasSuffix(p, "/accounts/transfer") || strings.HasSuffix(p, "/pay"))
}

// take returns the fault of a request, and counts it.
func (f *faults) take(r *http.Request) (kind, denied string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if kind = f.storm; isPayment(r) && f.next != "" {
		kind, f.next = f.next, ""
	}
	if kind != "" {
		f.done[kind]++
	}
	return kind, f.denied
}

// around wraps the handler of the simulated providers.
func (f *faults) around(providers http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, denied := f.take(r)
		if denied != "" && !isPayment(r) {
			r = renamed(r, denied)
		}
		switch kind {
		case "":
			providers.ServeHTTP(w, r)
		case crashBefore:
			f.crash()
			panic(http.ErrAbortHandler)
		case crashAfter:
			providers.ServeHTTP(httptest.NewRecorder(), r)
			f.crash()
			panic(http.ErrAbortHandler)
		case doneTwice:
			body, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			first := r.Clone(r.Context())
			first.Body, r.Body = io.NopCloser(bytes.NewReader(body)), io.NopCloser(bytes.NewReader(body))
			providers.ServeHTTP(httptest.NewRecorder(), first)
			providers.ServeHTTP(w, r)
		default:
			f.lose(kind, providers, w, r)
		}
	})
}

// lose carries a request out or not, and loses the answer.
func (f *faults) lose(kind string, providers http.Handler, w http.ResponseWriter, r *http.Request) {
	switch kind {
	case doneBusy, doneCut, doneSilent, doneGarbled:
		providers.ServeHTTP(httptest.NewRecorder(), r)
	}
	switch kind {
	case busy, doneBusy:
		w.WriteHeader(http.StatusServiceUnavailable)
	case doneGarbled:
		_, _ = w.Write([]byte("<html>Bad gateway</html>")) // an error means that nobody waits for the answer
	case silent, doneSilent:
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of a connection only after the whole body
		timer := time.NewTimer(hold)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
		fallthrough
	default:
		panic(http.ErrAbortHandler)
	}
}

// renamed returns the request about a payment as one about a payment that does not exist. It returns
// all other requests unchanged.
func renamed(r *http.Request, reference string) *http.Request {
	const other = "no-such-reference"
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out := r.Clone(r.Context())
	out.URL.Path = strings.ReplaceAll(r.URL.Path, reference, other)
	body = bytes.ReplaceAll(body, []byte(reference), []byte(other))
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return out
}
