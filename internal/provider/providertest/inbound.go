package providertest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

func on(path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return at(r.URL.Path, path) }
}

func virtualAccounts(t *testing.T, w BankWorld) {
	ctx := context.Background()
	r := provider.VirtualAccountRequest{Reference: id.New(), Amount: 2500 * money.Naira, Control: provider.OverPayment, ValidFor: 10 * time.Minute}
	before := w.Now()
	a := w.Bank.OpenVirtualAccount(ctx, r)
	check(t, "open", a.Answer, done)
	if len(a.Number) != 10 || a.Name == "" || a.BankName == "" || a.BankCode != w.OwnCode {
		t.Errorf("half an account: %+v", a)
	}
	if left := a.ExpiresAt.Sub(before); left < 9*time.Minute || left > 11*time.Minute {
		t.Errorf("it ends in %v", left)
	}
	for what, spoil := range map[string]func(*provider.VirtualAccountRequest){
		"no amount":  func(r *provider.VirtualAccountRequest) { r.Amount = 0 },
		"no control": func(r *provider.VirtualAccountRequest) { r.Control = "Any" },
	} {
		bad := r
		bad.Reference = id.New()
		spoil(&bad)
		check(t, what, w.Bank.OpenVirtualAccount(ctx, bad).Answer, refused)
	}
	w.Credit(t, a.Number, 3000*money.Naira, false)
	n, err := w.Bank.ParseNotification(w.Notice(t))
	if err != nil || n.Kind != provider.VirtualCredit || n.Reference != r.Reference || n.Account != a.Number || n.Amount != 3000*money.Naira {
		t.Fatalf("%+v %v", n, err)
	}
	in := w.Bank.Inbound(ctx, n.SessionID, true)
	check(t, "the credit", in.Answer, done)
	if c := in.Credit; !c.Virtual || c.Reference != r.Reference || c.Amount != n.Amount || c.CreditAccount != a.Number {
		t.Errorf("%+v", c)
	}
	check(t, "in the other register", w.Bank.Inbound(ctx, n.SessionID, false).Answer, missing)

	w.Wire.Plan(on(w.Paths.OpenVirtual), 99, DoesAndCuts)
	r.Reference = id.New()
	check(t, "cut, before", w.Bank.FindAccount(ctx, r.Reference).Answer, missing)
	check(t, "cut", w.Bank.OpenVirtualAccount(ctx, r).Answer, unknown)
	found := w.Bank.FindAccount(ctx, r.Reference)
	check(t, "cut, found", found.Answer, done)
	if len(found.Number) != 10 || found.Name == "" || found.BankCode != w.OwnCode {
		t.Errorf("found half an account: %+v", found)
	}
}

func credits(t *testing.T, w BankWorld) {
	ctx := context.Background()
	account := w.person(t)
	began := w.Now()
	w.Credit(t, account.Number, 100_050, false)
	n, err := w.Bank.ParseNotification(w.Notice(t))
	if err != nil || n.Kind != provider.AccountCredit || n.Account != account.Number || n.Amount != 100_050 || n.SessionID == "" {
		t.Fatalf("%+v %v", n, err)
	}
	in := w.Bank.Inbound(ctx, n.SessionID, false)
	check(t, "the credit", in.Answer, done)
	c := in.Credit
	if c.SessionID != n.SessionID || c.CreditAccount != account.Number || c.Amount != 100_050 || c.SenderName == "" || c.At.IsZero() || c.Virtual {
		t.Errorf("%+v", c)
	}
	check(t, "a session of nobody", w.Bank.Inbound(ctx, "000013300102050000000000000000", false).Answer, missing)

	o := w.order(t, "88")
	check(t, "pay", o.pay(ctx), done)
	out := w.Bank.RequeryTransfer(ctx, o.reference)
	if a := w.Bank.Inbound(ctx, out.SessionID, false); a.Outcome != provider.Unknown || a.Missing {
		t.Errorf("a transfer out is taken for a credit: %+v", a)
	}

	for range 120 { // more credits than fit on one page
		w.Credit(t, account.Number, 1, true)
	}
	list, pages := w.since(t, began.Add(-time.Minute))
	if len(list) != 121 || pages < 2 {
		t.Errorf("%d credits on %d pages", len(list), pages)
	}
	if got := list[n.SessionID]; got != c {
		t.Errorf("listed %+v\n asked %+v", got, c)
	}
	if list, _ := w.since(t, w.Now().Add(time.Hour)); len(list) != 0 {
		t.Errorf("%d credits of the future", len(list))
	}
}

// since returns all credits of all accounts, by session ID, and the number of pages of the longest list.
func (w BankWorld) since(t *testing.T, from time.Time) (list map[string]provider.Inbound, pages int) {
	t.Helper()
	list = map[string]provider.Inbound{}
	for _, a := range w.receiving(t) {
		n := 0
		for more := true; more; n++ {
			var rows []provider.Inbound
			var err error
			rows, more, err = w.Bank.InboundSince(context.Background(), a.ID, from, n)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range rows {
				if c.CreditAccount != a.Number {
					t.Errorf("the list of account %s has a credit of account %s", a.Number, c.CreditAccount)
				}
				list[c.SessionID] = c
			}
		}
		pages = max(pages, n)
	}
	return list, pages
}

// receiving returns all accounts that can receive credits. One of them is our own account.
func (w BankWorld) receiving(t *testing.T) (list []provider.Receiving) {
	t.Helper()
	own := 0
	for n, more := 0, true; more; n++ {
		var rows []provider.Receiving
		var err error
		rows, more, err = w.Bank.Receiving(context.Background(), n)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range rows {
			if list = append(list, a); a.Main {
				own++
			}
		}
	}
	if own != 1 {
		t.Errorf("our own account is on the list %d times", own)
	}
	return list
}

// creditsInTrouble proves that the plug reports a credit as Unknown unless the bank's reply is
// definite.
func creditsInTrouble(t *testing.T, newWorld func(t *testing.T) BankWorld) {
	for _, a := range []struct {
		name     string
		accident Accident
		times    int
		want     expect
	}{
		{"HTTP 500, for a moment", Says(500, `{}`), 1, done},
		{"HTTP 500", Says(500, `{}`), 99, unknown},
		{"garbage", Says(200, `{"statusCode":20`), 99, unknown},
		{"empty", Says(200, `{}`), 99, unknown},
		{"no data", Says(200, `{"statusCode":200,"responseCode":"00","data":null}`), 99, unknown},
		{"never let in", Says(403, `{"statusCode":403,"message":"no"}`), 99, unknown},
		{"a router's 404", Says(404, `{"statusCode":404,"message":"Cannot POST /transfers/status"}`), 99, unknown},
		{"no account", Says(200, `{"statusCode":200,"responseCode":"00","data":{"type":"Inwards","status":"Completed","amount":5}}`), 99, unknown},
		{"somebody else's", Says(200, `{"statusCode":200,"responseCode":"00","data":{"type":"Inwards","status":"Completed","amount":5,`+
			`"sessionId":"1","creditAccountNumber":"8000000000"}}`), 99, unknown},
		{"the answer is cut", DoesAndCuts, 99, unknown},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			w.Credit(t, w.person(t).Number, 500, false)
			n, err := w.Bank.ParseNotification(w.Notice(t))
			if err != nil {
				t.Fatal(err)
			}
			w.Wire.Plan(on(w.Paths.Inbound), a.times, a.accident)
			got := w.Bank.Inbound(context.Background(), n.SessionID, false)
			check(t, "the credit", got.Answer, a.want)
			if a.want == unknown && got.Credit.Outcome == provider.Confirmed {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("the list", func(t *testing.T) {
		w := newWorld(t)
		w.Wire.Plan(on(w.Paths.Transfers), 99, Says(200, `{"statusCode":200,"data":null}`))
		if _, _, err := w.Bank.InboundSince(context.Background(), "1", w.Now(), 0); !isError(err) {
			t.Errorf("a list without data: %v", err)
		}
		w.Wire.Plan(on(w.Paths.List), 99, Says(200, `{"statusCode":200,"data":null}`))
		for page := range 2 {
			if _, _, err := w.Bank.Receiving(context.Background(), page); !isError(err) {
				t.Errorf("page %d of the accounts without data: %v", page, err)
			}
		}
	})
}

func statement(t *testing.T, w BankWorld) {
	began := w.Now().Add(-time.Minute)
	account := w.person(t)
	w.Credit(t, account.Number, 700_000, true)
	paid, back := w.order(t, "88"), w.order(t, "88")
	check(t, "pay", paid.pay(context.Background()), done)
	check(t, "pay", back.pay(context.Background()), done)
	w.Reverse(t, back.reference)
	lines, more, err := w.Bank.Statement(context.Background(), began, w.Now().Add(time.Minute), 0)
	if err != nil || more || len(lines) != 4 {
		t.Fatalf("%d lines, more %v: %v", len(lines), more, err)
	}
	balance := lines[0].Balance - 700_000
	for i, want := range []provider.StatementLine{
		{Credit: true, Amount: 700_000},
		{Reference: paid.reference, Amount: 150_050},
		{Reference: back.reference, Amount: 150_050},
		{Reference: back.reference, Amount: 150_050, Credit: true, Reversal: true},
	} {
		got := lines[i]
		if want.Credit {
			balance += want.Amount
		} else {
			balance -= want.Amount
		}
		if got.Credit != want.Credit || got.Reversal != want.Reversal || got.Amount != want.Amount || got.Balance != balance ||
			want.Reference != "" && got.Reference != want.Reference || got.ID == "" || got.At.IsZero() {
			t.Errorf("line %d: %+v\nwant %+v, balance %v", i, got, want, balance)
		}
	}
	if lines, _, err := w.Bank.Statement(context.Background(), began.Add(-time.Hour), began, 0); err != nil || len(lines) != 0 {
		t.Errorf("before: %v %v", lines, err)
	}
	w.Wire.Plan(on(w.Paths.Statement), 99, Says(200, `{"statusCode":200,"data":[{"_id":"1","type":"Debit","amount":"1.234"}]}`))
	if _, _, err := w.Bank.Statement(context.Background(), began, w.Now(), 0); !isError(err) {
		t.Errorf("a line that cannot be read: %v", err)
	}
}
