package console

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/id"
)

// answerLife is how long an answer waits for the page that shows it.
const answerLife = 5 * time.Minute

// answers keeps the answers of approved acts and of searches in memory. The answer of an act may be a key, so
// it is never stored, and shown once. The answer of a search is shown for five minutes.
type answers struct {
	mu   sync.Mutex
	kept map[string]keptAnswer
}

type keptAnswer struct {
	session string
	text    json.RawMessage
	since   time.Time
	form    string // the number of the form that acts on the answer
	done    string // the address of the page that shows what came of the form, or ""
}

// keep returns the name under which the session can take the answer once.
func (a *answers) keep(session string, text json.RawMessage) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := clock.System{}.Now()
	for name, one := range a.kept {
		if now.Sub(one.since) > answerLife {
			delete(a.kept, name)
		}
	}
	name := id.New()
	a.kept[name] = keptAnswer{session: session, text: text, since: now, form: name}
	return name
}

// read returns an answer of the session, until it is too old.
func (a *answers) read(session, name string) (json.RawMessage, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, there := a.kept[name]
	if !there || one.session != session || (clock.System{}).Now().Sub(one.since) > answerLife {
		return nil, false
	}
	return one.text, true
}

// form returns the number of the form that acts on an answer, or a new one if the answer is gone. Each page that shows
// the answer has this number. So what the form does happens once, also if somebody opens the page twice.
func (a *answers) form(session, name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, there := a.kept[name]; there && one.session == session {
		return one.form
	}
	return newForm()
}

// renew gives the form another number after the API has refused the old one for good.
func (a *answers) renew(session, name, old string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, there := a.kept[name]; there && one.session == session && one.form == old {
		one.form = newForm()
		a.kept[name] = one
	}
}

// finish notes what came of the form that acts on an answer.
func (a *answers) finish(session, name, page string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one, there := a.kept[name]; there && one.session == session {
		one.done = page
		a.kept[name] = one
	}
}

// finished returns the page that shows what came of the form that acts on an answer, or "".
func (a *answers) finished(session, name string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.kept[name]; one.session == session {
		return one.done
	}
	return ""
}

// take returns an answer of the session, once.
func (a *answers) take(session, name string) (json.RawMessage, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, there := a.kept[name]
	if !there || one.session != session {
		return nil, false
	}
	delete(a.kept, name)
	return one.text, clock.System{}.Now().Sub(one.since) <= answerLife
}
