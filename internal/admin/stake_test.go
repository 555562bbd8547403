package admin_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/operator"
)

// byTwoHidden runs a test with an admin API that needs a second operator and shows no secret.
func byTwoHidden(t *testing.T, f func(t *testing.T, d *door)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, base *db.DB) {
		f(t, open(t, base, func(c *admin.Config) { c.FourEyes, c.HideSecrets = true, true }))
	})
}

// An operator who claims the key token of a new company alone cannot hide the key. The proposal that
// lets the company use the API shows the key, and a proposal from before the claim dies.
func TestAProposalShowsWhoHoldsAnAPIKey(t *testing.T) {
	byTwoHidden(t, func(t *testing.T, d *door) {
		made := d.ok(d.ada, "POST", "/admin/v1/companies", `{"name":"Acme Ltd"}`)
		reference := made["reference"].(string)
		path := "/admin/v1/companies/" + reference
		was := func(p string) any { return d.state(p, "PROPOSED")["acts"].([]any)[0].(map[string]any)["was"] }
		early := d.propose(d.ada, path+"/live", `{"live":true}`)
		if is := was(early); is != "NOT_STARTED, live false, no working API key, an open key token" {
			t.Errorf("before the claim: %v", is)
		}
		if _, _, err := d.companies.ClaimKey(t.Context(), reference, made["keyToken"].(string)); err != nil {
			t.Fatal(err)
		}
		d.no(d.bob, "POST", early+"/approve", "", 400, "The proposal is dead: company was NOT_STARTED, live false, no working API key, an open key token, and is")
		d.state(early, "DEAD")
		late := d.propose(d.ada, path+"/live", `{"live":true}`)
		if is := was(late); is != "NOT_STARTED, live false, 1 working API key, claimed 2030-01-02T03:04:05.000Z from an unknown address" {
			t.Errorf("after the claim: %v", is)
		}
		d.ok(d.bob, "POST", late+"/approve", "")
		d.ok(d.ada, "POST", path+"/kyb", `{"status":"IN_PROGRESS"}`)
		d.ok(d.ada, "POST", path+"/kyb", `{"status":"SUBMITTED"}`)
		// The company is live, so each of these states would let it use the API.
		d.propose(d.ada, path+"/kyb", `{"status":"CHANGES_REQUESTED"}`)
		p := d.propose(d.ada, path+"/kyb", `{"status":"APPROVED"}`)
		if is := was(p); !strings.HasPrefix(is.(string), "SUBMITTED, live true, 1 working API key, claimed") {
			t.Errorf("KYB: %v", is)
		}
		d.ok(d.bob, "POST", p+"/approve", "")
		d.ok(d.ada, "POST", path+"/kyb", `{"status":"CHANGES_REQUESTED"}`)
	})
}

// The ledger refuses an act that was weighed before another act of the company. So two requests of one
// operator at the same time cannot raise a limit that the other one has lowered.
func TestAnOvertakenActIsWeighedAgain(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := strings.TrimPrefix(path, "/admin/v1/companies/")
		ada := operator.Operator{Name: "ada", Role: operator.Admin}
		acts, err := operator.Acts(t.Context(), d.book, reference)
		if err == nil {
			_, err = d.companies.SetPerSecond(t.Context(), ada.After(acts), reference, 50)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.companies.SetPerSecond(t.Context(), ada.After(acts), reference, 60); !operator.IsOvertaken(err) {
			t.Errorf("weighed too early: %v", err)
		}
		if _, err := d.companies.SetKYB(t.Context(), ada.After(acts), reference, company.InProgress, ""); !operator.IsOvertaken(err) {
			t.Errorf("weighed too early: %v", err)
		}
		for range 20 {
			if _, err := d.companies.SetPerSecond(t.Context(), ada, reference, 100); err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			for _, n := range []string{"100", "50"} {
				both.Go(func() {
					r, _ := http.NewRequestWithContext(t.Context(), "POST", d.url+path+"/request-limit", strings.NewReader(`{"requestsPerSecond":`+n+`}`))
					r.Header.Set("Authorization", "Bearer "+d.ada)
					r.Header.Set("Content-Type", "application/json")
					w, err := http.DefaultClient.Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					_ = w.Body.Close()
				})
			}
			both.Wait()
			if is := d.ok(d.ada, "GET", path, ""); is["requestsPerSecond"] != 50.0 {
				t.Fatalf("one operator raised the limit to %v", is["requestsPerSecond"])
			}
		}
	})
}

// No operator opens alone what Kobo closes at the same time.
func TestNobodyOpensAloneWhatKoboJustCloses(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		root := operator.Local("root")
		for range 30 {
			d.ok(d.ada, "POST", "/admin/v1/door", `{"closed":true,"reason":"a look around"}`)
			var both sync.WaitGroup
			both.Go(func() {
				if err := d.base.Tx(t.Context(), func(q db.Querier) error { return d.operators.Shut(t.Context(), q, "an old copy") }); err != nil {
					t.Error(err)
				}
			})
			both.Go(func() {
				r, _ := http.NewRequestWithContext(t.Context(), "POST", d.url+"/admin/v1/door", strings.NewReader(`{"closed":false}`))
				r.Header.Set("Authorization", "Bearer "+d.ada)
				r.Header.Set("Content-Type", "application/json")
				w, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				_ = w.Body.Close()
			})
			both.Wait()
			if is, err := d.operators.Access(t.Context()); err != nil || !is.Closed || !is.Automatic {
				t.Fatalf("one operator opened it: %+v, %v", is, err)
			}
			if err := d.operators.OpenAccess(t.Context(), root); err != nil {
				t.Fatal(err)
			}
		}
	})
}
