package company_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/secret"
)

// founded returns a company that has a key token and no API key.
func (h *house) founded() (reference, token string) {
	h.t.Helper()
	c, t, err := h.CreateWithToken(h.t.Context(), ada, "Acme Ltd")
	if err != nil || t.Company != c.Reference || t.ExpiresAt != h.clock.Now().Add(company.TokenLife) {
		h.t.Fatalf("%+v, %+v, %v", c, t, err)
	}
	return c.Reference, t.Text.Reveal()
}

func (h *house) pinToken(reference string) string {
	h.t.Helper()
	t, err := h.IssuePINToken(h.t.Context(), ada, reference)
	if err != nil {
		h.t.Fatal(err)
	}
	return t.Text.Reveal()
}

// told returns the kinds of a company's events, the oldest first.
func (h *house) told(reference string) (kinds []string) {
	h.t.Helper()
	events, _, err := event.NewService(h.db, h.book).Feed(h.t.Context(), reference, 0, 100, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// noted returns the acts in a company's audit log, the oldest first.
func (h *house) noted(reference string) (acts []string) {
	h.t.Helper()
	lines, _, err := h.log.Audit(h.t.Context(), reference, 100, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, l := range slices.Backward(lines) {
		acts = append(acts, strings.TrimSuffix(l.Operator, reference)+" "+l.Action)
	}
	return acts
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q; want %q", what, got, want)
	}
}

func TestAKeyTokenGivesOneAPIKey(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, token := h.founded()
		if keys, err := h.Keys(ctx, reference); err != nil || len(keys) != 0 {
			t.Fatalf("before the claim: %v, %v", keys, err)
		}
		other, _ := h.founded()
		const wrong = "Key token is not valid"
		for what, try := range map[string][2]string{
			"another company": {other, token}, "an unknown company": {id.Cuid(), token}, "no reference": {"x", token},
			"a wrong end": {reference, token + "x"}, "no token": {reference, ""}, "a PIN token": {reference, h.pinToken(reference)},
			"an unknown token": {reference, "kobo_keytoken_" + id.New() + ".abc"}, "without its prefix": {reference, strings.TrimPrefix(token, "kobo_keytoken_")},
		} {
			_, _, err := h.ClaimKey(ctx, try[0], try[1])
			refused(t, what, err, fault.Invalid, wrong)
		}
		key, text, err := h.ClaimKey(ctx, reference, token)
		if err != nil || !key.ExpiresAt.IsZero() {
			t.Fatal(key, err)
		}
		_, _, err = h.ClaimKey(ctx, reference, token)
		refused(t, "twice", err, fault.Invalid, "Key token was used already")
		h.move(reference, company.InProgress, company.Submitted, company.Approved)
		h.live(reference, true)
		h.tokens(reference, text.Reveal())
		same(t, "events", h.told(reference), []string{
			"company.key_token_issued", "company.pin_token_issued", "company.api_key_issued", "kyb.changed", "kyb.changed", "kyb.changed", "company.live_changed",
		})
		same(t, "audit", h.noted(reference), []string{
			"ada company.create", "ada company.key.token", "ada company.pin.token", "company: company.key.claim",
			"ada company.kyb", "ada company.kyb", "ada company.kyb", "ada company.live",
		})
	})
}

func TestATokenEndsAfterADayOrWithItsKey(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, token := h.founded()
		h.clock.Advance(company.TokenLife - time.Second)
		later, err := h.IssueKeyToken(ctx, ada, reference, h.clock.Now().Add(time.Hour))
		if err != nil || later.ExpiresAt != h.clock.Now().Add(time.Hour) {
			t.Fatal(later, err)
		}
		_, _, err = h.ClaimKey(ctx, reference, token)
		refused(t, "replaced", err, fault.Invalid, "Key token was replaced")
		h.clock.Advance(time.Second)
		_, _, err = h.ClaimKey(ctx, reference, token)
		refused(t, "old", err, fault.Invalid, "Key token has expired")
		if key, _, err := h.ClaimKey(ctx, reference, later.Text.Reveal()); err != nil || key.ExpiresAt != later.ExpiresAt {
			t.Errorf("%v, %v", key, err)
		}
		h.clock.Advance(time.Hour)
		_, _, err = h.ClaimKey(ctx, reference, later.Text.Reveal())
		refused(t, "used and old", err, fault.Invalid, "Key token was used already")
		_, err = h.IssueKeyToken(ctx, ada, reference, h.clock.Now())
		refused(t, "a key of the past", err, fault.Invalid, `"expiresAt" must be in the future`)
		for _, err := range []error{
			second(h.IssueKeyToken(ctx, ada, id.Cuid(), time.Time{})), second(h.IssuePINToken(ctx, ada, id.Cuid())),
		} {
			refused(t, "nobody's", err, fault.Missing, "Company not found")
		}
	})
}

func second[T any](_ T, err error) error { return err }

// Twenty programs that claim one token at the same time get one key, and no key is left over.
func TestConcurrentClaimsGetOneKey(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, token := h.founded()
		h.move(reference, company.InProgress, company.Submitted, company.Approved)
		h.live(reference, true)
		var all sync.WaitGroup
		var mu sync.Mutex
		var got []string
		for range 20 {
			all.Go(func() {
				_, key, err := h.ClaimKey(context.Background(), reference, token)
				if err != nil {
					refused(t, "a loser", err, fault.Invalid, "Key token was used already")
					return
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, key.Reveal())
			})
		}
		all.Wait()
		keys, err := h.Keys(t.Context(), reference)
		if err != nil || len(keys) != 1 || len(got) != 1 {
			t.Fatalf("%d claims, %d keys, %v", len(got), len(keys), err)
		}
		h.tokens(reference, got[0])
	})
}

// While tokens are issued and claimed concurrently, a claim never succeeds with a token that was
// replaced before the claim began.
func TestAReplacedTokenNeverWorks(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, old := h.founded()
		for range 10 {
			var all sync.WaitGroup
			claimed := make(chan error, 1)
			var next company.Token
			all.Go(func() { claimed <- third(h.ClaimKey(context.Background(), reference, old)) })
			all.Go(func() {
				var err error
				if next, err = h.IssueKeyToken(context.Background(), ada, reference, time.Time{}); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			first, again := <-claimed, third(h.ClaimKey(t.Context(), reference, old))
			want := "Key token was used already"
			if first != nil {
				want = "Key token was replaced"
				refused(t, "the race", first, fault.Invalid, want)
			}
			refused(t, "after the race", again, fault.Invalid, want)
			old = next.Text.Reveal()
		}
	})
}

func third[A, B any](_ A, _ B, err error) error { return err }

func TestThePINToken(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, _ := h.create()
		reset := func(token, pin string) error { return h.ResetPIN(ctx, reference, token, secret.NewText(pin), nil) }
		token := h.pinToken(reference)
		refused(t, "shape", reset(token, "12345"), fault.Invalid, `"pin" must be exactly 4 digits`)
		refused(t, "wrong", reset(token+"x", "1234"), fault.Invalid, "PIN token is not valid")
		if err := reset(token, "1234"); err != nil {
			t.Fatal(err)
		}
		refused(t, "twice", reset(token, "4321"), fault.Invalid, "PIN token was used already")
		if err := h.CheckPIN(ctx, reference, "1234"); err != nil {
			t.Error(err)
		}
		voids, err := h.Credentials(ctx, reference)
		if err != nil {
			t.Fatal(err)
		}
		earlier, token := h.pinToken(reference), h.pinToken(reference)
		refused(t, "replaced", reset(earlier, "1234"), fault.Invalid, "PIN token was replaced")
		for range 5 {
			refused(t, "a guess", h.CheckPIN(ctx, reference, "0000"), fault.Refused, "Invalid PIN")
		}
		if err := reset(token, "5678"); err != nil {
			t.Fatalf("a locked PIN: %v", err)
		}
		if err := h.CheckPIN(ctx, reference, "5678"); err != nil {
			t.Error(err)
		}
		if n, err := h.Credentials(ctx, reference); err != nil || n != voids+1 {
			t.Errorf("%d verifications were voided, %v", n-voids, err)
		}
		token = h.pinToken(reference)
		h.pin(reference, "1111")
		refused(t, "after another change", reset(token, "1234"), fault.Invalid, "PIN token was replaced")
		token = h.pinToken(reference)
		h.clock.Advance(company.TokenLife)
		refused(t, "old", reset(token, "1234"), fault.Invalid, "PIN token has expired")
		same(t, "events", h.told(reference), []string{
			"company.pin_token_issued", "company.pin_changed", "company.pin_token_issued", "company.pin_token_issued",
			"company.pin_locked", "company.pin_changed", "company.pin_token_issued", "company.pin_changed", "company.pin_token_issued",
		})
		same(t, "audit", h.noted(reference), []string{
			"ada company.create", "ada company.pin.token", "company: company.pin.reset", "ada company.pin.token", "ada company.pin.token",
			"company: company.pin.lock", "company: company.pin.reset", "ada company.pin.token", "ada company.pin", "ada company.pin.token",
		})
	})
}

func TestACompanyChangesItsPIN(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, _ := h.create()
		change := func(current, pin string) error {
			return h.ChangePIN(ctx, reference, secret.NewText(current), secret.NewText(pin), nil)
		}
		refused(t, "none", change("1234", "4321"), fault.Refused, "PIN not set up")
		h.pin(reference, "1234")
		refused(t, "shape", change("1234", "432"), fault.Invalid, `"pin" must be exactly 4 digits`)
		token := h.pinToken(reference)
		for range 4 {
			refused(t, "wrong", change("0000", "4321"), fault.Refused, "Invalid PIN")
		}
		if err := change("1234", "4321"); err != nil {
			t.Fatal(err)
		}
		refused(t, "the token of before", h.ResetPIN(ctx, reference, token, secret.NewText("9999"), nil), fault.Invalid, "PIN token was replaced")
		if n, err := h.Credentials(ctx, reference); err != nil || n != 1 {
			t.Errorf("%d verifications were voided, %v", n, err)
		}
		for i := range 5 {
			do := func() error { return change("1234", "5555") }
			if i%2 == 0 { // tries of both kinds count together
				do = func() error { return h.CheckPIN(ctx, reference, "1234") }
			}
			refused(t, "wrong", do(), fault.Refused, "Invalid PIN")
		}
		refused(t, "locked", change("4321", "5555"), fault.Refused, lockedPIN)
		if err := h.UnlockPIN(ctx, ada, reference); err != nil {
			t.Fatal(err)
		}
		if err := h.CheckPIN(ctx, reference, "4321"); err != nil {
			t.Error(err)
		}
		same(t, "events", h.told(reference), []string{
			"company.pin_changed", "company.pin_token_issued", "company.pin_changed", "company.pin_locked", "company.pin_unlocked",
		})
		same(t, "audit", h.noted(reference), []string{
			"ada company.create", "ada company.pin", "ada company.pin.token", "company: company.pin.change", "company: company.pin.lock", "ada company.pin.unlock",
		})
	})
}

// If several requests use one PIN token concurrently, one sets the PIN. The others change nothing.
func TestConcurrentResetsSetOnePIN(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, _ := h.create()
		token := h.pinToken(reference)
		var all sync.WaitGroup
		won := make(chan string, 20)
		for i := range 20 {
			all.Go(func() {
				pin := string([]byte{'2', '0', '0' + byte(i/10), '0' + byte(i%10)})
				err := h.ResetPIN(context.Background(), reference, token, secret.NewText(pin), nil)
				if err == nil {
					won <- pin
				} else {
					refused(t, "a loser", err, fault.Invalid, "PIN token was used already")
				}
			})
		}
		all.Wait()
		close(won)
		if len(won) != 1 {
			t.Fatalf("%d PINs were set", len(won))
		}
		if err := h.CheckPIN(t.Context(), reference, <-won); err != nil {
			t.Error(err)
		}
	})
}

// Each act of an operator about the access of a company tells the company. The first key comes with the
// company and is no event.
func TestOperatorsActsTellTheCompany(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		reference, _ := h.create()
		key, _, err := h.IssueKey(ctx, ada, reference, h.clock.Now().Add(time.Hour))
		if err == nil {
			err = h.RevokeKey(ctx, ada, reference, key.ID)
		}
		if err == nil {
			_, err = h.SetPerSecond(ctx, ada, reference, 5)
		}
		if err == nil {
			_, err = h.SetPerSecond(ctx, ada, reference, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.live(reference, true)
		events, _, err := event.NewService(h.db, h.book).Feed(ctx, reference, 0, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			got = append(got, e.Kind+" "+string(e.Data))
		}
		id := `{"companyId":"` + reference + `"`
		same(t, "events", got, []string{
			"company.api_key_issued " + id + `,"id":"` + key.ID + `","expiresAt":"2030-01-02T04:04:05.000Z","by":"operator","otherKeys":1}`,
			"company.api_key_revoked " + id + `,"id":"` + key.ID + `","by":"operator"}`,
			"company.limits_changed " + id + `,"limit":"requests","per":"second","settlementId":null,"amount":null,"count":5}`,
			"company.limits_changed " + id + `,"limit":"requests","per":"second","settlementId":null,"amount":null,"count":null}`,
			"company.live_changed " + id + `,"live":true,"apiKeys":1}`,
		})
	})
}

// A claim whose caller gives up at any time either uses up the token and issues a key, or does neither.
func TestACancelledClaimIsWhole(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for i := range 20 {
			reference, token := h.founded()
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i*i)*50*time.Microsecond)
			_, _, claimed := h.ClaimKey(ctx, reference, token)
			cancel()
			_, _, again := h.ClaimKey(t.Context(), reference, token) // after it, the fate of the first is known
			keys, err := h.Keys(t.Context(), reference)
			if err != nil || len(keys) != 1 || claimed == nil && again == nil {
				t.Errorf("%d keys, the claims: %v, %v; %v", len(keys), claimed, again, err)
			}
		}
	})
}

// No event, no audit line and no row holds a token, an API key or a PIN.
func TestNothingHoldsAToken(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		reference, token := h.founded()
		pinToken := h.pinToken(reference)
		_, key, err := h.ClaimKey(t.Context(), reference, token)
		if err == nil {
			err = h.ResetPIN(t.Context(), reference, pinToken, secret.NewText("7391"), nil)
		}
		if err == nil {
			err = h.ChangePIN(t.Context(), reference, secret.NewText("7391"), secret.NewText("8462"), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{
			`SELECT id || ' ' || hash FROM company_token`, `SELECT hash FROM company_api_key`, `SELECT hash FROM company_pin`,
			`SELECT kind || data FROM event`, `SELECT subject || details FROM operator_audit`,
		} {
			rows, err := db.All(t.Context(), h.db, db.Value[string], query)
			if err != nil || len(rows) == 0 {
				t.Fatal(query, err)
			}
			for _, row := range rows {
				for _, text := range []string{token, pinToken, key.Reveal(), "kobo_", `"7391"`, `"8462"`} {
					if strings.Contains(row, text) {
						t.Errorf("%s: %s holds %s", query, row, text)
					}
				}
				if _, ends, _ := strings.Cut(token, "."); strings.Contains(row, ends) {
					t.Errorf("%s: %s", query, row)
				}
			}
		}
		if text, err := json.Marshal(company.Token{Text: secret.NewText(token)}); err != nil || strings.Contains(string(text), token) {
			t.Errorf("%s, %v", text, err)
		}
	})
}
