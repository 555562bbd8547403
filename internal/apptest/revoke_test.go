package apptest_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/keyring"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// The API keys and PINs that were not used since a rotation are revoked at the planned time. The
// company is told a week before, once, and what it uses meanwhile stays valid. Then the old line can
// be removed.
func TestWhatIsNotRenewedIsRevokedAfterANotice(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		ctx, home := t.Context(), apptest.NewHome(t, dialect)
		p := home.Start(t)
		k, by := p.App.Keyring, operator.Local("test")
		unused, _, err := p.App.Companies.IssueKey(ctx, by, p.Reference, time.Time{})
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		do(err)
		file, old := filepath.Join(home.Data, "master.key"), k.Current()
		next, err := secret.File{Path: file}.AddLine()
		do(err)
		do(secret.File{Path: file}.PromoteLine(next))
		do(k.State(ctx))
		_, err = k.Rekey(ctx, func(keyring.Progress) {})
		do(err)
		now := p.App.Clock.Now()
		if err := k.PlanRevocation(ctx, now.Add(6*24*time.Hour)); !fault.Is(err, fault.Invalid) {
			t.Errorf("less than a week: %v", err)
		}
		do(k.PlanRevocation(ctx, now.Add(20*24*time.Hour)))
		p.Advance(10 * 24 * time.Hour)
		told := func() (out []map[string]any) {
			for _, e := range p.Events(0) {
				if e.Event == "company.renewal_due" {
					var data map[string]any
					do(json.Unmarshal(e.Data, &data))
					out = append(out, data)
				}
			}
			return out
		}
		if got := told(); len(got) > 0 {
			t.Errorf("told ten days before: %v", got)
		}
		p.Advance(3 * 24 * time.Hour)
		got := told()
		if len(got) != 1 || got[0]["isPinUnused"] != true || got[0]["companyId"] != p.Reference || !slices.Contains(got[0]["apiKeyIds"].([]any), any(unused.ID)) {
			t.Fatalf("told a week before: %v", got)
		}
		do(p.App.Companies.CheckPIN(ctx, p.Reference, p.PIN))
		p.Advance(6 * 24 * time.Hour)
		if keys, err := p.App.Companies.Keys(ctx, p.Reference); err != nil || slices.ContainsFunc(keys, func(k company.Key) bool { return k.State != "ACTIVE" }) {
			t.Errorf("revoked too early: %v, %v", keys, err)
		}
		if err := k.Remove(ctx, old, false); !fault.Is(err, fault.Refused) {
			t.Errorf("an API key depends on the line: %v", err)
		}
		p.Advance(2 * 24 * time.Hour)
		keys, err := p.App.Companies.Keys(ctx, p.Reference)
		do(err)
		for _, one := range keys {
			if revoked := one.State == "REVOKED"; revoked != (one.ID == unused.ID) {
				t.Errorf("%+v", one)
			}
		}
		if state, err := p.App.Companies.PINState(ctx, p.Reference); err != nil || state != "SET" {
			t.Errorf("the PIN was used: %s, %v", state, err)
		}
		if _, err := p.App.Operators.Authenticate(ctx, p.AdminKey); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the operator's key was not used: %v", err)
		}
		if got := told(); len(got) != 1 {
			t.Errorf("told again: %v", got)
		}
		do(k.Remove(ctx, old, false))
		do(secret.File{Path: file}.RemoveLine(old))
		do(k.State(ctx))
		tokens(t, p.Client)
	})
}

// A PIN that was not used since a rotation is locked at the planned time.
func TestAnUnusedPINIsLocked(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		if err := p.App.Companies.RetirePIN(t.Context(), operator.Itself(), p.Reference, "another"); err != nil {
			t.Fatal(err)
		}
		if err := p.App.Companies.CheckPIN(t.Context(), p.Reference, p.PIN); err != nil {
			t.Errorf("a PIN of a different line was locked: %v", err)
		}
		for range 2 {
			if err := p.App.Companies.RetirePIN(t.Context(), operator.Itself(), p.Reference, p.App.Keyring.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if state, err := p.App.Companies.PINState(t.Context(), p.Reference); err != nil || state != "LOCKED" {
			t.Errorf("%s, %v", state, err)
		}
	})
}
