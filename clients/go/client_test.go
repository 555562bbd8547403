package kobo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kobo "github.com/kobo-waas/kobo/clients/go"
	"github.com/kobo-waas/kobo/clients/go/api"
)

// fake is a server that gives tokens, and passes every other request to a function with the number of
// the request.
type fake struct {
	*httptest.Server
	given, asked atomic.Int64
}

func newFake(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int64)) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "/auth/") {
			fmt.Fprintf(w, `{"accessToken":"access-%d","refreshToken":"refresh"}`, f.given.Add(1))
			return
		}
		answer(w, r, f.asked.Add(1))
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) client(t *testing.T) *kobo.Client {
	return must(kobo.New(f.URL, "company", "secret-api-key", kobo.Options{}))(t)
}

func refuse(w http.ResponseWriter, status int, reason api.Reason) {
	w.Header().Set("Kobo-Reason", string(reason))
	w.WriteHeader(status)
	fmt.Fprintln(w, `{"status":"error","message":"No"}`)
}

const paid = `{"status":"success","message":"","data":{"reference":"p1","status":"SUCCESS"}}`

var payout = api.PayoutOrder{VerifyID: "p1", Amount: 100}

// The key is made before the first try, and stays the same in all tries. The server's Retry-After is
// kept.
func TestRetriesKeepTheKey(t *testing.T) {
	keys := map[string]bool{}
	var instants []time.Time
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, n int64) {
		keys[r.Header.Get("Idempotency-Key")] = true
		instants = append(instants, time.Now())
		switch n {
		case 1:
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusTooManyRequests, api.RateLimited)
		case 2:
			panic(http.ErrAbortHandler) // the connection breaks
		case 3:
			refuse(w, http.StatusServiceUnavailable, api.ServiceUnavailable)
		default:
			fmt.Fprint(w, `{"status":"success","data":{}}`)
		}
	})
	must(f.client(t).API().CreateSettlementAccountWithResponse(t.Context(), nil, api.SettlementAccountRequest{Name: "Payroll"}))(t)
	if len(keys) != 1 || keys[""] || len(instants) != 4 {
		t.Errorf("%d tries with the keys %v", len(instants), keys)
	}
	if waited := instants[1].Sub(instants[0]); waited < time.Second {
		t.Errorf("the second try came after %s", waited)
	}
}

// A refusal that will not pass is returned at once, and so is a wait that is longer than the caller's
// deadline.
func TestNoRetry(t *testing.T) {
	for _, one := range []struct {
		reason api.Reason
		status int
		wait   string
	}{
		{api.InsufficientBalance, 400, ""},
		{api.QuotaReached, 429, "1"},
		{api.RateLimited, 429, "20"},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int64) {
			w.Header().Set("Retry-After", one.wait)
			refuse(w, one.status, one.reason)
		})
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		begin := time.Now()
		_, err := f.client(t).API().GenerateVirtualAccountWithResponse(ctx, nil, api.VirtualAccountRequest{})
		var refusal *kobo.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != one.reason || f.asked.Load() != 1 || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: %v after %d requests and %s", one.reason, err, f.asked.Load(), time.Since(begin))
		}
	}
}

// Many goroutines need one exchange of tokens, and one refresh after the token has expired.
func TestTokensAreFetchedOnce(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int64) {
		if r.Header.Get("Authorization") == "Bearer access-1" {
			refuse(w, http.StatusForbidden, api.TokenInvalid)
			return
		}
		fmt.Fprint(w, `{"status":"success","data":[]}`)
	})
	c := f.client(t)
	var all sync.WaitGroup
	for range 20 {
		all.Add(1)
		go func() {
			defer all.Done()
			if _, err := c.API().ListSettlementAccountsWithResponse(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	if n := f.given.Load(); n != 2 {
		t.Errorf("%d exchanges of tokens, not 2", n)
	}
}

// No redirect is followed, so no other server receives the credentials or the order.
func TestNoRedirect(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int64) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	out := f.client(t).SendPayout(t.Context(), kobo.NewKey(), payout)
	if _, open := out.(kobo.Unknown); !open || reached.Load() {
		t.Errorf("%v, and the other server was reached: %v", out, reached.Load())
	}
	if _, err := kobo.New("http://kobo.example.com", "c", "k", kobo.Options{}); err == nil {
		t.Error("credentials may leave without https")
	}
}

// Whatever leaves open whether the order was executed is Unknown, and never Declined.
func TestOutcomeOfAResponse(t *testing.T) {
	for label, one := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"success":           {func(w http.ResponseWriter) { fmt.Fprint(w, paid) }, "succeeded"},
		"pending":           {func(w http.ResponseWriter) { fmt.Fprint(w, strings.Replace(paid, "SUCCESS", "PENDING", 1)) }, "unknown"},
		"confirmed":         {func(w http.ResponseWriter) { refuse(w, 400, api.BeingConfirmed) }, "unknown"},
		"refused":           {func(w http.ResponseWriter) { refuse(w, 400, api.InsufficientBalance) }, "declined: insufficient_balance"},
		"declined":          {func(w http.ResponseWriter) { refuse(w, 400, api.Declined) }, "declined"},
		"for approval":      {func(w http.ResponseWriter) { w.WriteHeader(202); fmt.Fprint(w, paid) }, "unknown"},
		"replayed declined": {func(w http.ResponseWriter) { refuse(w, 200, api.Declined) }, "declined"},
		"no reason":         {func(w http.ResponseWriter) { w.WriteHeader(400) }, "unknown"},
		"new reason":        {func(w http.ResponseWriter) { refuse(w, 400, "new") }, "unknown"},
		"used reference":    {func(w http.ResponseWriter) { refuse(w, 400, api.ReferenceUsed) }, "unknown"},
		"new reason, 500":   {func(w http.ResponseWriter) { refuse(w, 500, "new") }, "unknown"},
		"broken":            {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "unknown"},
		"cut off":           {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "99"); fmt.Fprint(w, paid[:20]) }, "unknown"},
		"a proxy's page":    {func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") }, "unknown"},
		"bad gateway":       {func(w http.ResponseWriter) { w.WriteHeader(502) }, "unknown"},
		"internal error":    {func(w http.ResponseWriter) { refuse(w, 500, api.InternalError) }, "unknown"},
		"unavailable":       {func(w http.ResponseWriter) { refuse(w, 503, api.ServiceUnavailable) }, "unknown"},
		"in progress":       {func(w http.ResponseWriter) { refuse(w, 409, api.RequestInProgress) }, "unknown"},
		"another order":     {func(w http.ResponseWriter) { refuse(w, 422, api.IdempotencyKeyMismatch) }, "unknown"},
		"used verification": {func(w http.ResponseWriter) { refuse(w, 400, api.VerificationUsed) }, "unknown"},
		// An earlier request with this key may have been executed before the company was switched off.
		"switched off": {func(w http.ResponseWriter) { refuse(w, 403, api.CompanyDeactivated) }, "unknown"},
		"too many":     {func(w http.ResponseWriter) { refuse(w, 429, api.RateLimited) }, "unknown"},
	} {
		f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int64) { one.answer(w) })
		c := must(kobo.New(f.URL, "company", "key", kobo.Options{Tries: 1}))(t)
		if out := c.SendPayout(t.Context(), kobo.NewKey(), payout); name(out) != one.want {
			t.Errorf("%s: %s, not %s", label, name(out), one.want)
		}
	}
}

// A caller's deadline ends a payment without an answer as Unknown, and so does a server that is not
// there.
func TestDeadline(t *testing.T) {
	f := newFake(t, func(_ http.ResponseWriter, r *http.Request, _ int64) {
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of a connection after the body
		<-r.Context().Done()
	})
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	out := f.client(t).SendPayout(ctx, kobo.NewKey(), payout)
	u, open := out.(kobo.Unknown)
	if !open || !errors.Is(u.Cause, context.DeadlineExceeded) {
		t.Fatalf("%s: %v", name(out), u.Cause)
	}
	still, err := u.Follow(ctx)
	if name(still) != "unknown" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%s: %v", name(still), err)
	}
	f.Close()
	if out := f.client(t).SendPayout(t.Context(), kobo.NewKey(), payout); name(out) != "unknown" {
		t.Error(name(out))
	}
}

// A key with a space inside is sent. A key that no header can carry is not, and is no proof that nothing
// moved, because another program may have used it.
func TestKeysThatCannotBeSent(t *testing.T) {
	var sent string
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int64) {
		sent = r.Header.Get("Idempotency-Key")
		fmt.Fprint(w, paid)
	})
	for _, key := range []string{"invoice 2417", "!", strings.Repeat("k", 255)} {
		if out := f.client(t).SendPayout(t.Context(), key, payout); name(out) != "succeeded" || sent != key {
			t.Errorf("%q: %s, and %q was sent", key, name(out), sent)
		}
	}
	asked := f.asked.Load()
	for _, key := range []string{"", " a", "a ", "a\nb", "a\tb", "é", "₦1", "a\x7f", strings.Repeat("k", 256)} {
		for _, out := range []kobo.Outcome{
			f.client(t).SendPayout(t.Context(), key, payout),
			f.client(t).BuyAirtime(t.Context(), api.AirtimePurchase{IdempotencyKey: key}),
		} {
			u, open := out.(kobo.Unknown)
			if !open || u.Cause == nil {
				t.Fatalf("%q: %s", key, name(out))
			}
			if still, err := u.Follow(t.Context()); name(still) != "unknown" || !errors.Is(err, u.Cause) {
				t.Errorf("%q: %s after a follow: %v", key, name(still), err)
			}
		}
	}
	if f.asked.Load() != asked {
		t.Error("a request with such a key was sent")
	}
}

// Follow sends an order again whose answer was lost, with the same key.
func TestFollowSendsTheOrderAgain(t *testing.T) {
	keys := map[string]int{}
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, n int64) {
		keys[r.Header.Get("Idempotency-Key")]++
		if n < 3 {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, paid)
	})
	c := must(kobo.New(f.URL, "company", "key", kobo.Options{Tries: 1}))(t)
	u := c.SendPayout(t.Context(), "my-key", payout).(kobo.Unknown)
	out, err := u.Follow(t.Context())
	if err != nil || name(out) != "succeeded" || keys["my-key"] != 3 || len(keys) != 1 {
		t.Errorf("%s %v after %v", name(out), err, keys)
	}
}

// An error has no credentials, because errors end in logs.
func TestErrorsHaveNoCredentials(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int64) { refuse(w, 403, api.KybRequired) })
	_, err := f.client(t).API().ListBanksWithResponse(t.Context(), nil)
	if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "secret-api-key") || strings.Contains(text, "access-1") {
		t.Error(text)
	}
}

// An amount is read from both forms of the contract, digit by digit.
func TestMoney(t *testing.T) {
	for text, want := range map[string]kobo.Kobo{
		`1500`: 150000, `1500.5`: 150050, `"1500.50"`: 150050, `0.07`: 7, `-0.07`: -7, `"-20.00"`: -2000, `92233720368547758.07`: 1<<63 - 1, `0`: 0,
	} {
		var got kobo.Kobo
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d %v", text, got, err)
		}
		again, err := json.Marshal(got)
		var back kobo.Kobo
		if err != nil || json.Unmarshal(again, &back) != nil || back != want {
			t.Errorf("%s: written as %s", text, again)
		}
	}
	for _, text := range []string{`1.005`, `1e3`, `""`, `"."`, `"1."`, `".5"`, `"+1"`, `"--1"`, `"1,000"`, `92233720368547758.08`, `true`, `"0x1"`, `"1.-5"`, `"1_0"`} {
		var got kobo.Kobo
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was read as %d", text, got)
		}
	}
	if text := kobo.Kobo(-1 << 63).String(); text != "-92233720368547758.08" {
		t.Error(text)
	}
}

// A percentage is no amount: 1.5 stays 1.5, and does not become 150 kobo.
func TestAPercentageIsNoMoney(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int64) {
		fmt.Fprint(w, `{"status":"success","data":{"fees":[{"from":5000,"flat":25,"percent":1.5,"cap":2000}]}}`)
	})
	company := must(f.client(t).API().FindCompanyWithResponse(t.Context()))(t)
	if got := fmt.Sprintf("%+v", company.JSON200.Data.Fees); got != "[{From:5000.00 Flat:25.00 Percent:1.5 Cap:2000.00}]" {
		t.Error(got)
	}
}

// An iterator reads all pages and returns no item twice, although new items move the older ones.
func TestPages(t *testing.T) {
	pages := map[string]string{
		"1": `[{"reference":"a"},{"reference":"b"}]`, "2": `[{"reference":"b"},{"reference":"c"}]`,
	}
	f := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int64) {
		page := r.URL.Query().Get("page")
		fmt.Fprintf(w, `{"status":"success","data":{"data":%s,"meta":{"hasNextPage":%v}}}`, pages[page], page == "1")
	})
	var got []string
	for one, err := range f.client(t).OpenOutcomes(t.Context(), api.ListOutcomesParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, one.Reference)
	}
	if strings.Join(got, " ") != "a b c" {
		t.Error(got)
	}
}

// A 202 means that nothing has happened yet. It has a field of its own, so that nobody takes it for done.
func TestAnApprovalThatWaits(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int64) {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"status":"success","message":"Waiting for a second person","data":{"id":"a1","kind":"REVOKE_API_KEY","state":"WAITING"}}`)
	})
	calls := f.client(t).API()
	revoked := must(calls.RevokeAPIKeyWithResponse(t.Context(), "k1", api.APIKeyRevocation{Pin: "1234"}))(t)
	issued := must(calls.IssueAPIKeyWithResponse(t.Context(), nil, api.APIKeyRequest{Pin: "1234", Name: "Shop"}))(t)
	if revoked.JSON200 != nil || issued.JSON200 != nil {
		t.Error("an approval that waits is a key that is revoked or issued")
	}
	if revoked.JSON202 == nil || issued.JSON202 == nil || revoked.JSON202.Data.ID != "a1" || issued.JSON202.Data.State != "WAITING" {
		t.Errorf("the approvals are %+v and %+v", revoked.JSON202, issued.JSON202)
	}
}
