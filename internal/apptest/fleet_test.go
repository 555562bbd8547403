package apptest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operator"
)

// cacheLife is the age at which a program reads a company again in any case.
const cacheLife = 30 * time.Second

// A second program refuses what an operator or a company ends at one program after one round of reading the changes,
// and long before its memory is old: the access tokens of a revoked key, a company that is switched off, a rejected KYB.
// The round is either one that the test asks for, or one of the program itself, which has two of them in each second.
func TestEveryProgramRefusesWhatOneHasEnded(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		ctx, home := t.Context(), apptest.NewHome(t, dialect)
		here, there := home.Start(t), home.Start(t)
		by, companies := operator.Local("test"), here.App.Companies
		endings := map[string]struct {
			end  func(reference string) error
			says string
		}{
			"the key is revoked": {func(reference string) error {
				keys, err := companies.Keys(ctx, reference)
				if err != nil {
					return err
				}
				return companies.RevokeKey(ctx, by, reference, keys[0].ID)
			}, "Invalid or expired access token"},
			"the company is switched off": {func(reference string) error {
				_, err := companies.SetLive(ctx, by, reference, false)
				return err
			}, "ACCOUNT_DEACTIVATED"},
			"the KYB is rejected": {func(reference string) error {
				_, err := companies.SetKYB(ctx, by, reference, company.Rejected, "test")
				return err
			}, "KYB_REQUIRED"},
		}
		for name, e := range endings {
			owner := here.Company(0)
			c := there.As(owner.Reference, owner.APIKey, 0)
			ask := remembered(t, c)
			if err := e.end(c.Reference); err != nil {
				t.Fatal(err)
			}
			if err := there.App.Companies.Follow(ctx); err != nil {
				t.Fatal(err)
			}
			if a := ask().Want(t, http.StatusForbidden); !strings.Contains(a.Body, e.says) {
				t.Errorf("%s: %s", name, a)
			}

			owner = here.Company(0)
			ask = remembered(t, there.As(owner.Reference, owner.APIKey, 0))
			if err := e.end(owner.Reference); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			apptest.Eventually(t, func() string {
				if a := ask(); a.Status != http.StatusForbidden {
					return fmt.Sprintf("%s: %s", name, a)
				}
				return ""
			})
			took := time.Since(began)
			t.Logf("%s: the other program refuses after %v", name, took.Round(time.Millisecond))
			if took > cacheLife/2 {
				t.Errorf("%s: refused only after %v", name, took)
			}
		}
		if app.FollowPace > time.Second/2 {
			t.Errorf("a program reads the changes only every %v", app.FollowPace)
		}
	})
}

// remembered returns a function that sends a request with an access token of a company. The program has answered one such
// request, so it has the company in its memory.
func remembered(t *testing.T, c *apptest.Client) (ask func() apptest.Answer) {
	t.Helper()
	tokens, _, err := c.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask = func() apptest.Answer {
		a, err := c.Raw(t.Context(), http.MethodGet, "/api/v1/settlement/accounts", nil, "Authorization", "Bearer "+tokens.AccessToken)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ask().Want(t, http.StatusOK)
	return ask
}

// Two programs share the limit of a company. When one of them stops, the other one has all of it.
func TestProgramsShareTheLimitOfACompany(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		limited := func(c *app.Config) { c.Limits = app.Defaults().Limits }
		here, there := home.Start(t, limited), home.Start(t, limited)
		has := func(p *apptest.Program, want string) {
			t.Helper()
			apptest.Eventually(t, func() string {
				a := p.Do(http.MethodGet, "/api/v1/settlement/accounts", nil)
				if got := a.Header.Get("RateLimit-Limit"); got != want {
					return fmt.Sprintf("%s at once: %s", got, a)
				}
				return ""
			})
		}
		has(here, "100") // half of limits.company_burst
		has(there, "100")
		there.Stop()
		has(here, "200")
	})
}
