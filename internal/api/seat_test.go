package api_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/person"
)

// mayRead are the operations that change nothing although they are no GET. Everybody of a company may run them.
var mayRead = []string{"generateToken", "refreshAccessToken", "claimKey"}

// Every operation that changes something says which people may run it. So nobody gets a new operation by
// accident.
func TestEveryActSaysWhoMayRunIt(t *testing.T) {
	known := contract(t).Operations()
	for _, id := range api.Acts() {
		if !slices.Contains(known, id) {
			t.Errorf("%s has roles, and is no operation", id)
		}
	}
	for _, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			if listed := slices.Contains(api.Acts(), op.OperationID); method != "GET" && !listed && !slices.Contains(mayRead, op.OperationID) {
				t.Errorf("%s %s changes something: say who may run it (acts)", method, op.OperationID)
			}
		}
	}
	for _, id := range known {
		if slices.Contains(api.Acts(), id) && api.MayRun(person.Viewer, id) {
			t.Errorf("a viewer may run %s", id)
		}
		if !slices.Contains(api.Acts(), id) && !api.MayRun(person.Viewer, id) {
			t.Errorf("a viewer may not read %s", id)
		}
	}
}

// A person's page sends many requests. They take nothing of the limit of the company's programs, and a company at its limit keeps nobody
// from a page.
func TestAPersonsPagesTakeNothingOfTheCompanysLimit(t *testing.T) {
	w := newWorld(t)
	w.Limits.Company = api.Limit{Requests: 1, Period: time.Hour, Burst: 2}
	handler, err := api.New(w.Config)
	if err != nil {
		t.Fatal(err)
	}
	access, _, err := w.stage.Companies.Tokens(t.Context(), w.reference, w.given["api_key"])
	if err != nil {
		t.Fatal(err)
	}
	ask := func(want int, left string, r *http.Request) {
		t.Helper()
		to := httptest.NewRecorder()
		if handler.ServeHTTP(to, r); to.Code != want || to.Header().Get("RateLimit-Remaining") != left {
			t.Errorf("%d with %q left, want %d with %q: %s", to.Code, to.Header().Get("RateLimit-Remaining"), want, left, to.Body)
		}
	}
	page := func() {
		t.Helper()
		for range 5 {
			seat := api.Seat(t.Context(), person.Person{Company: w.reference, Name: "vera", Role: person.Viewer})
			ask(http.StatusOK, "", httptest.NewRequestWithContext(seat, "GET", "/api/v1/company", nil))
		}
	}
	page()
	for _, one := range []struct {
		status int
		left   string
	}{{http.StatusOK, "1"}, {http.StatusOK, "0"}, {http.StatusTooManyRequests, "0"}} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/company", nil)
		r.Header.Set("Authorization", "Bearer "+access)
		ask(one.status, one.left, r)
	}
	page()
}
