package apptest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/secret"
)

// counted returns the rows that depend on a line, by place.
func counted(t *testing.T, p *apptest.Program, keyID string) map[string]int64 {
	t.Helper()
	lines, err := p.App.Keyring.Lines(t.Context(), keyring.Master)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, l := range lines {
		if l.ID != keyID {
			continue
		}
		found, err := p.App.Keyring.Dependents(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			out[d.Name] = d.Count
		}
	}
	return out
}

// kobo rekey seals everything again that the API has stored, while requests are served. An
// interrupted run is repeated. Afterwards the old line opens nothing, and all repeated requests get
// their first response.
func TestRekeyLeavesNothingSealedWithTheOldLine(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		p := home.Start(t, apptest.Routes("UTILITY=vtpass"))
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
		t.Cleanup(hook.Close)
		s := newStory(t, p, hook.URL)
		s.kept["meter"] = p.Verify(t, p.Category("Utility", "Ikeja Electric Payment - IKEDC"), "45012345610")
		firsts := map[string]func() apptest.Answer{}
		answers := map[string]apptest.Answer{}
		for _, o := range posts {
			if o.wait > 0 {
				p.Advance(o.wait)
			}
			path, body := s.request(o)
			send := func() apptest.Answer { return p.Do(http.MethodPost, path, body, header, o.path+" once") }
			answers[o.path], firsts[o.path] = send().Want(t, http.StatusOK), send
			s.took(p, o, answers[o.path])
		}
		file := filepath.Join(home.Data, "master.key")
		lines, err := p.App.Keyring.Programs(t.Context(), keyring.Master)
		if err != nil || len(lines) != 1 {
			t.Fatal(lines, err)
		}
		old := lines[0].Writes
		for _, place := range []string{"API keys", "transaction PINs", "operators' keys", "BVNs", "webhook secrets", "stored responses with a secret", "notifications", "OTP counters", "Idempotency-Keys with a stored response", "tokens"} {
			if counted(t, p, old)[place] == 0 {
				t.Errorf("no %s depend on the line: %v", place, counted(t, p, old))
			}
		}
		next, err := secret.File{Path: file}.AddLine()
		if err == nil {
			err = secret.File{Path: file}.PromoteLine(next)
		}
		if err == nil {
			err = p.App.Keyring.State(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		interrupted, stop := context.WithCancel(t.Context())
		if _, err := p.App.Keyring.Rekey(interrupted, func(keyring.Progress) { stop() }); err == nil {
			t.Error("the run was not interrupted")
		}
		bundle := p.Bundle()
		left, err := p.App.Keyring.Rekey(t.Context(), func(r keyring.Progress) {
			p.Buy(p.Order(bundle, "during "+r.Table, "10")).Want(t, http.StatusOK)
			if r.Broken+r.Changed > 0 {
				t.Errorf("%+v", r)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range left {
			if d.Ends == keyring.ByRekey || d.Line != old {
				t.Errorf("left: %+v", d)
			}
		}
		for path, send := range firsts {
			if a := send(); a.Status != answers[path].Status || a.Body != answers[path].Body && !strings.Contains(answers[path].Body, "whsec_") {
				t.Errorf("%s: first %s, then %s", path, answers[path], a)
			}
		}
		err = p.App.Keyring.Remove(t.Context(), old, true) // without the line, only what rekey has missed is lost
		if err == nil {
			err = secret.File{Path: file}.RemoveLine(old)
		}
		if err == nil {
			err = p.App.Keyring.State(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Do(http.MethodPost, "/api/v1/webhooks/"+s.kept["id"]+"/test", nil).Want(t, http.StatusOK)
		p.Do(http.MethodGet, "/api/v1/idempotency/%2Fapi%2Fv1%2Fwebhooks%20once", nil).Want(t, http.StatusOK)
		holdsTogether(t, p)
	})
}
