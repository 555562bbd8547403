package providertest

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// BankWorld is the test setup of a bank: its plug, the simulated bank, and the wire between them.
// The simulated bank implements the test scenarios ("stories") of completion.md §5, which the last
// two digits of a number choose.
type BankWorld struct {
	Bank     provider.Bank
	Verifier provider.Verifier
	Wire     *Wire
	Paths    BankPaths
	OTP      string // the correct OTP
	// BankCode is the code of a bank that can be paid, and OwnCode is the code of the simulated
	// bank.
	BankCode, OwnCode string
	Now               func() time.Time
	// Executed counts how often the bank carried out a transfer, whatever its replies stated.
	Executed func(t *testing.T, reference string) int
	// Credit pays an amount into an account. If silent is true, the bank sends no notification.
	Credit func(t *testing.T, account string, amount money.Kobo, silent bool)
	// Reverse returns the money of a transfer to the sender.
	Reverse func(t *testing.T, reference string)
	// Notice returns the bank's next notification.
	Notice func(t *testing.T) []byte
}

// BankPaths holds the URL paths of the bank's calls.
type BankPaths struct {
	Start, Confirm                       string
	Open, List, OpenVirtual              string
	Enquiry, Transfer, Status, Inbound   string
	VirtualInbound, Transfers, Statement string
}

// RunBank runs all tests of a bank's plug. Each test creates a new BankWorld.
func RunBank(t *testing.T, newWorld func(t *testing.T) BankWorld) {
	t.Run("transfers", func(t *testing.T) {
		runPayments(t, func(t *testing.T) trade {
			w := newWorld(t)
			return trade{wire: w.Wire, paying: w.Paths.Transfer, asking: w.Paths.Status, executed: w.Executed, order: w.order}
		})
	})
	t.Run("names", func(t *testing.T) { names(t, newWorld(t)) })
	t.Run("names in trouble", func(t *testing.T) { namesInTrouble(t, newWorld) })
	t.Run("a reversal", func(t *testing.T) { reversal(t, newWorld(t)) })
	t.Run("accounts", func(t *testing.T) { accounts(t, newWorld(t)) })
	t.Run("accounts by accident", func(t *testing.T) { accountAccidents(t, newWorld) })
	t.Run("virtual accounts", func(t *testing.T) { virtualAccounts(t, newWorld(t)) })
	t.Run("credits", func(t *testing.T) { credits(t, newWorld(t)) })
	t.Run("credits in trouble", func(t *testing.T) { creditsInTrouble(t, newWorld) })
	t.Run("statement", func(t *testing.T) { statement(t, newWorld(t)) })
}

// order makes a name enquiry and returns a transfer. The receiving account's number ends with the
// digits ending, which choose the test scenario.
func (w BankWorld) order(t *testing.T, ending string) order {
	t.Helper()
	named := w.Bank.NameEnquiry(context.Background(), w.BankCode, "01234567"+ending)
	check(t, "name enquiry", named.Answer, done)
	o := provider.TransferOrder{
		Reference: id.New(), NameEnquirySession: named.Session, BankCode: w.BankCode, Account: "01234567" + ending,
		Amount: 150_050, Narration: "rent",
	}
	return order{
		reference: o.Reference,
		pay:       func(ctx context.Context) provider.Answer { return w.Bank.Transfer(ctx, o).Answer },
		ask:       func(ctx context.Context) provider.Answer { return w.Bank.RequeryTransfer(ctx, o.Reference).Answer },
	}
}

func names(t *testing.T, w BankWorld) {
	ctx := context.Background()
	banks, err := w.Bank.Banks(ctx)
	if err != nil || len(banks) < 40 {
		t.Fatalf("%d banks: %v", len(banks), err)
	}
	seen := map[string]bool{}
	for _, b := range banks {
		if len(b.Code) < 4 || len(b.Code) > 10 || b.Name == "" || seen[b.Code] {
			t.Errorf("half a bank: %+v", b)
		}
		seen[b.Code] = true
	}
	a := w.Bank.NameEnquiry(ctx, w.BankCode, "0123456788")
	check(t, "a name", a.Answer, done)
	if a.Name == "" || a.Session == "" || a.BankCode != w.BankCode || a.Account != "0123456788" {
		t.Errorf("half a name: %+v", a)
	}
	for range 2 { // the bank alternates between two forms of a refusal, so two calls test both
		a := w.Bank.NameEnquiry(ctx, w.BankCode, "0123456799")
		check(t, "nobody's account", a.Answer, refused)
		if a.Name != "" || a.Message == "" {
			t.Errorf("nobody's account: %+v", a)
		}
	}
	account := w.person(t)
	if a := w.Bank.NameEnquiry(ctx, w.OwnCode, account.Number); a.Name != account.Name {
		t.Errorf("our own account %+v is named %q", account, a.Name)
	}
}

// namesInTrouble proves that the plug never reports an account as nonexistent only because a name
// enquiry failed.
func namesInTrouble(t *testing.T, newWorld func(t *testing.T) BankWorld) {
	for _, a := range []struct {
		name     string
		accident Accident
		times    int
		want     expect
	}{
		{"HTTP 500, for a moment", Says(500, `{}`), 1, done},
		{"HTTP 500", Says(500, `{}`), 99, unknown},
		{"HTTP 429", Says(429, `{}`), 99, unknown},
		{"garbage", Says(200, `{"statusCode":20`), 99, unknown},
		{"no data", Says(200, `{"statusCode":200,"responseCode":"00","data":null}`), 99, unknown},
		{"no name", Says(200, `{"statusCode":200,"data":{"responseCode":"00","sessionId":"1","accountName":""}}`), 99, unknown},
		{"never let in", Says(401, `{"statusCode":401,"message":"no"}`), 99, unknown},
		{"a gateway's 404", Says(404, `<html>not found</html>`), 99, unknown},
		{"a router's 404", Says(404, `{"statusCode":404,"message":"Cannot POST /transfers/name-enquiry"}`), 99, unknown},
		{"another bank is down", Says(200, `{"statusCode":400,"responseCode":"91","message":"Issuer or switch inoperative"}`), 99, unknown},
		{"the connection breaks", Hides, 99, unknown},
		{"the answer is cut", DoesAndCuts, 99, unknown},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			w.Wire.Plan(on(w.Paths.Enquiry), a.times, a.accident)
			check(t, "name enquiry", w.Bank.NameEnquiry(context.Background(), w.BankCode, "0123456788").Answer, a.want)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		w := newWorld(t)
		w.Wire.Cut()
		check(t, "name enquiry", w.Bank.NameEnquiry(context.Background(), w.BankCode, "0123456788").Answer, unknown)
		if _, err := w.Bank.Banks(context.Background()); !isError(err) {
			t.Errorf("banks from nowhere: %v", err)
		}
	})
}

func reversal(t *testing.T, w BankWorld) {
	o := w.order(t, "88")
	check(t, "pay", o.pay(context.Background()), done)
	before := w.Bank.RequeryTransfer(context.Background(), o.reference)
	check(t, "before", before.Answer, done)
	if before.SessionID == "" || before.Reversed {
		t.Errorf("before: %+v", before)
	}
	w.expectPayout(t, o.reference)
	w.Reverse(t, o.reference)
	after := w.Bank.RequeryTransfer(context.Background(), o.reference)
	check(t, "after", after.Answer, refused)
	if !after.Reversed {
		t.Errorf("after: %+v", after)
	}
	w.expectPayout(t, o.reference)
}

func (w BankWorld) expectPayout(t *testing.T, reference string) {
	t.Helper()
	n, err := w.Bank.ParseNotification(w.Notice(t))
	if err != nil || n.Kind != provider.PayoutNotice || n.Reference != reference {
		t.Errorf("the notice of a payout: %+v %v", n, err)
	}
}

// session starts an identity check and returns its OTP session. If confirmed is true, it also
// confirms the OTP.
func (w BankWorld) session(t *testing.T, confirmed bool) string {
	t.Helper()
	a := w.Verifier.Start(context.Background(), provider.IdentityStart{Reference: id.New(), BVN: secret.NewText("22222222222")})
	check(t, "start", a, done)
	if confirmed {
		a = w.Verifier.Confirm(context.Background(), provider.IdentityConfirm{Session: a.Reference, OTP: secret.NewText(w.OTP)}).Answer
		check(t, "confirm", a, done)
	}
	return a.Reference
}

// wants returns a request that opens an account for a person, with the correct OTP.
func (w BankWorld) wants(t *testing.T) provider.AccountRequest {
	return provider.AccountRequest{
		Reference: id.New(), Phone: "08031234588", Email: "ada@example.test", IdentitySession: w.session(t, false),
		IdentityNumber: secret.NewText("22222222222"), OTP: secret.NewText(w.OTP),
	}
}

func (w BankWorld) person(t *testing.T) provider.Account {
	t.Helper()
	a := w.Bank.OpenAccount(context.Background(), w.wants(t))
	check(t, "open", a.Answer, done)
	return a.Account
}

func accounts(t *testing.T, w BankWorld) {
	ctx := context.Background()
	whole := func(what string, a provider.AccountAnswer) {
		t.Helper()
		check(t, what, a.Answer, done)
		if own := w.Bank.Own(); own.Code != w.OwnCode || own.Name != a.BankName {
			t.Errorf("%s: at %+v, and the bank is %+v", what, a.Account, own)
		}
		if len(a.Number) != 10 || a.Name == "" || a.BankName == "" || a.BankCode != w.OwnCode || a.ProviderID == "" {
			t.Errorf("%s: half an account: %+v", what, a)
		}
	}
	r := w.wants(t)
	check(t, "before", w.Bank.FindAccount(ctx, r.Reference).Answer, missing)
	wrong := r
	wrong.OTP = secret.NewText("000000")
	check(t, "a wrong OTP", w.Bank.OpenAccount(ctx, wrong).Answer, refused)
	check(t, "after a wrong OTP", w.Bank.FindAccount(ctx, r.Reference).Answer, missing)
	person := w.Bank.OpenAccount(ctx, r)
	whole("a person", person)
	found := w.Bank.FindAccount(ctx, r.Reference)
	whole("found", found)
	if found.Account != person.Account {
		t.Errorf("opened %+v, found %+v", person.Account, found.Account)
	}

	other := w.wants(t)
	other.Reference = r.Reference
	check(t, "the reference of another", w.Bank.OpenAccount(ctx, other).Answer, unknown)

	firm := provider.AccountRequest{
		Reference: id.New(), Phone: "08031234588", Email: "firm@example.test", Corporate: true, CompanyRegistration: "RC-" + id.New()[:8],
		IdentitySession: w.session(t, false),
	}
	check(t, "a signatory without proof", w.Bank.OpenAccount(ctx, firm).Answer, refused)
	firm.IdentitySession = w.session(t, true)
	first := w.Bank.OpenAccount(ctx, firm)
	whole("a company", first)
	firm.Reference, firm.IdentitySession = id.New(), w.session(t, true)
	again := w.Bank.OpenAccount(ctx, firm)
	whole("the company again", again)
	if again.Number != first.Number || first.Number == person.Number {
		t.Errorf("accounts %s, %s and %s", person.Number, first.Number, again.Number)
	}
}

// accountAccidents proves two rules for an opening that fails. The plug never reports an account as
// not opened if the bank may have opened it. If the bank did open it, FindAccount finds it.
func accountAccidents(t *testing.T, newWorld func(t *testing.T) BankWorld) {
	for _, a := range []struct {
		name     string
		accident Accident
		open     expect
		find     expect
	}{
		{"HTTP 500, not done", Says(500, `{}`), unknown, missing},
		{"HTTP 500, done", DoesAndSays(500, `{}`), unknown, done},
		{"the answer is cut", DoesAndCuts, unknown, done},
		{"the answer is garbage", DoesAndSays(200, `{"statusCode":200,"da`), unknown, done},
		{"the answer has no number", DoesAndSays(200, `{"statusCode":200,"data":{"_id":"1","accountNumber":null}}`), unknown, done},
		{"a conflict", DoesAndSays(409, `{"statusCode":409,"message":"Conflict"}`), unknown, done},
		{"no answer in time", DoesAndHangs, unknown, done},
		{"the connection breaks, not done", Hides, unknown, missing},
		{"never let in", Says(403, `{"statusCode":403,"message":"no"}`), refused, missing},
	} {
		t.Run(a.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.wants(t)
			w.Wire.Plan(on(w.Paths.Open), 99, a.accident)
			check(t, "open", w.Bank.OpenAccount(context.Background(), r).Answer, a.open)
			check(t, "find", w.Bank.FindAccount(context.Background(), r.Reference).Answer, a.find)
			if n := w.Wire.Sent(w.Paths.Open); a.open == unknown && n != 1 {
				t.Errorf("it was asked for %d times", n)
			}
			w.Wire.Plan(on(w.Paths.List), 99, Says(400, `{"statusCode":400,"message":"no"}`))
			check(t, "find, refused", w.Bank.FindAccount(context.Background(), r.Reference).Answer, unknown)
		})
	}
}
