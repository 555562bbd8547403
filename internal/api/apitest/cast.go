package apitest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Raised is a settlement account number above all settlement account numbers of the main company.
const Raised = 1001

// Stage creates the companies that the transcripts need.
type Stage struct {
	Companies   *company.Service
	Settlements *settlement.Service
	Clock       clock.Clock
	// Raise changes the number of a company's first settlement account to Raised.
	Raise func(t testing.TB, company string)
}

// Cast creates the other companies and accounts of the transcripts, in addition to the main
// company, which has the given reference. It returns their values for a player:
//
//   - empty_settlement_id: an account of the main company without money
//   - expired_key: an API key of the main company that expires within the hour
//   - key_token, old_key_token: a key token of the main company, and one that it has replaced
//   - pin_token, old_pin_token: the same for PIN tokens
//   - other_reference, other_key, other_settlement_id: a second company, approved and live
//   - new_reference, new_key: a company whose verification has not begun
//   - kyb_reference, kyb_key, kyb_access, kyb_refresh: a company that got tokens
//     while changes were requested and is now SUBMITTED
//   - off_reference, off_key, off_access, off_refresh: an approved company that got tokens
//     and was then switched off
//   - hook_url: the URL of a company's server that accepts all webhooks, except below /no
func (s Stage) Cast(t testing.TB, reference string) map[string]string {
	t.Helper()
	by := operator.Local("transcripts")
	v := map[string]string{"hook_url": hook(t)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	account := func(company, name string) string {
		a, err := s.Settlements.Create(t.Context(), by, company, name)
		must(err)
		return strconv.FormatInt(a.ID, 10)
	}
	join := func(name string, path ...company.KYB) string {
		c, key, err := s.Companies.Create(t.Context(), by, "Company "+name)
		must(err)
		v[name+"_reference"], v[name+"_key"] = c.Reference, key.Reveal()
		s.move(t, c.Reference, path...)
		if len(path) > 0 {
			_, err = s.Companies.SetLive(t.Context(), by, c.Reference, true)
			must(err)
			v[name+"_access"], v[name+"_refresh"], err = s.Companies.Tokens(t.Context(), c.Reference, key.Reveal())
			must(err)
		}
		return c.Reference
	}
	v["empty_settlement_id"] = account(reference, "Empty")
	_, expired, err := s.Companies.IssueKey(t.Context(), by, reference, s.Clock.Now().Add(time.Hour))
	must(err)
	v["expired_key"] = expired.Reveal()
	for _, name := range []string{"old_", ""} {
		key, err := s.Companies.IssueKeyToken(t.Context(), by, reference, time.Time{})
		must(err)
		pin, err := s.Companies.IssuePINToken(t.Context(), by, reference)
		must(err)
		v[name+"key_token"], v[name+"pin_token"] = key.Text.Reveal(), pin.Text.Reveal()
	}
	other := join("other", company.InProgress, company.Submitted, company.Approved)
	account(other, "Main")
	s.Raise(t, other)
	v["other_settlement_id"] = strconv.Itoa(Raised)
	join("new")
	s.move(t, join("kyb", company.InProgress, company.Submitted, company.ChangesRequested), company.Submitted)
	_, err = s.Companies.SetLive(t.Context(), by, join("off", company.InProgress, company.Submitted, company.Approved), false)
	must(err)
	return v
}

func (s Stage) move(t testing.TB, reference string, path ...company.KYB) {
	t.Helper()
	for _, to := range path {
		if _, err := s.Companies.SetKYB(t.Context(), operator.Local("transcripts"), reference, to, "for a transcript"); err != nil {
			t.Fatal(err)
		}
	}
}

func hook(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/no") {
			http.Error(w, "no thanks", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
