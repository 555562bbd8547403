package console_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
	who "github.com/kobo-waas/kobo/internal/person"
)

// A stream ends when the session ends: after the sign-out, without access, with another role, and when the person ends the
// other sessions, as with a new password. The streams of others go on.
func TestAStreamEndsWithItsSession(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		fola, bola, elsewhere := w.seat(w.company.Reference, "fola", who.Finance), w.seat(w.company.Reference, "bola", who.Finance), w.seat(w.another(), "fola", who.Owner)
		dev, sola, vera, twice, again := w.signIn("dev"), w.add("sola", operator.Support), w.add("vera", operator.Viewer), w.add("tola", operator.Support), w.signIn("tola")
		from := url.QueryEscape(clock.Text(time.Now()))
		own := func(p *person) <-chan string { return p.told("/app/live/nothing?from=" + from) }
		op := func(p *person) <-chan string {
			return p.told("/console/live/" + w.company.Reference + "/nothing?from=" + from)
		}
		opened := time.Now()
		stay := map[string]<-chan string{"ada": own(ada), "fola of another company": own(elsewhere), "dev": op(dev), "the session that ended the others": op(twice)}
		end := map[string]<-chan string{
			"a removed person": own(fola), "a person with another role": own(bola), "an operator who signed out": op(sola), "an operator with another role": op(vera),
			"a session that another one ended": op(again),
		}
		began := time.Now()
		ada.submit("/app/settings/people", "/app/settings/people/"+w.crew("fola").ID+"/remove", nil)
		ada.submit("/app/settings/people", "/app/settings/people/"+w.crew("bola").ID+"/role", map[string]string{"role": "viewer"})
		sola.send("/console/sign-out", sola.form("/console/cases", nil))
		if _, err := w.app.Operators.SetRole(t.Context(), operator.Local("test"), "vera", operator.Support); err != nil {
			w.t.Fatal(err)
		}
		twice.submit("/console/me", "/console/me/sessions", nil)
		for what, lines := range end {
			select {
			case line, open := <-lines:
				if open {
					t.Errorf("%s hears %q", what, line)
				}
			case <-time.After(20 * time.Second): // a stream without this lives for 50 seconds
				t.Errorf("the stream of %s goes on", what)
			}
		}
		t.Logf("all streams had ended %s after the first act", time.Since(began).Round(time.Millisecond))
		for what, lines := range stay {
			if time.Since(opened) > 40*time.Second {
				t.Log("the machine is slow: the other streams may have ended with their life")
				break
			}
			select {
			case line, open := <-lines:
				t.Errorf("the stream of %s has ended or said something: %q, %v", what, line, open)
			default:
			}
		}
	})
}
