package console

import (
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
)

// forms remembers what came of the forms that this program has received, so that a second click or a
// reload does nothing. It forgets them at a restart, and another program does not know them. Money does not rest on it: the
// Idempotency-Key of a company's form follows from the number of the form, and so do the ids of an operator's correction, proposal and
// new company (operator.Operator.Sending). Most other acts end in the same state when they are done again. A form that is sent to two
// programs may open two settlement accounts, or make two API keys where no second person approves them, and the lists show both.
type forms struct {
	mu    sync.Mutex
	seen  map[string]*answer
	order []string // oldest first
}

// answer is what came of a form. It is complete when done is closed.
type answer struct {
	done    chan struct{}
	to      string
	cookies []string // such as that of a session, so that a person whose answer was lost is signed in all the same
	err     error
}

// maxForms is the number of forms that a program remembers.
const maxForms = 10_000

func newForms() *forms { return &forms{seen: map[string]*answer{}} }

// newForm returns the number of a form that a page shows.
func newForm() string { return id.New() }

var errNoForm = fault.New(fault.Invalid, "The form has no number. Load the page again.")

// once runs do for the first request with a form of a sender: a session, or all that a form without a session sends.
// Further requests wait for it, and get the same answer, also the cookies that do has added to the header. A refused form
// may be sent again. A request that lacked a proof answers for itself only, because another may bring one.
func (f *forms) once(sender, form string, header http.Header, do func() (string, error)) (string, error) {
	if len(form) != len(id.New()) {
		return "", errNoForm
	}
	name := sender + " " + form
	a, again := f.claim(name)
	for again {
		if <-a.done; !errors.Is(a.err, errProof) {
			for _, cookie := range a.cookies {
				header.Add("Set-Cookie", cookie)
			}
			return a.to, a.err
		}
		a, again = f.claim(name)
	}
	a.err = fault.New(fault.Unknown, "We do not know whether this was saved. Look at the page before you do it again.")
	defer func() {
		if a.err != nil {
			f.forget(name)
		}
		close(a.done)
	}()
	before := len(header.Values("Set-Cookie"))
	a.to, a.err = do()
	a.cookies = slices.Clone(header.Values("Set-Cookie")[before:])
	return a.to, a.err
}

// claim returns the answer of a form, and whether another request fills it.
func (f *forms) claim(name string) (a *answer, again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, again = f.seen[name]; !again {
		a = &answer{done: make(chan struct{})}
		f.remember(name, a)
	}
	return a, again
}

func (f *forms) remember(name string, a *answer) {
	f.seen[name] = a
	f.order = append(f.order, name)
	if len(f.order) > maxForms {
		delete(f.seen, f.order[0])
		f.order = f.order[1:]
	}
}

func (f *forms) forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.seen, name)
}
