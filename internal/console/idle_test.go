package console_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
)

// A request that a page sends by itself does not keep a session from its idle end. A request of the person does.
func TestAPageDoesNotKeepItsOwnSession(t *testing.T) {
	each(t, func(w *world) {
		p := w.signIn("dev")
		used := func() int64 {
			at, err := db.One(t.Context(), w.app.DB, func(row db.Scanner) (at int64, err error) { return at, row.Scan(&at) },
				`SELECT MAX(used_at) FROM person_session WHERE company = $1`, "")
			if err != nil {
				w.t.Fatal(err)
			}
			return at
		}
		earlier := clock.Micros(time.Now().Add(-20 * time.Minute))
		if _, err := w.app.DB.Exec(t.Context(), `UPDATE person_session SET used_at = $2 WHERE company = $1`, "", earlier); err != nil {
			w.t.Fatal(err)
		}
		if got := p.load("/console/cases", "HX-Request", "true"); got != http.StatusOK || used() != earlier {
			t.Errorf("a page that loads itself again answers %d; the last use is %d, was %d", got, used(), earlier)
		}
		if got := p.load("/console/cases"); got != http.StatusOK || used() == earlier {
			t.Errorf("a page that the person asks for answers %d; the last use is still %d", got, earlier)
		}
	})
}

// load asks for a page with further headers. It returns the status.
func (p *person) load(path string, headers ...string) int {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Cookie", p.cookie)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}
