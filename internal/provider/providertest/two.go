package providertest

import (
	"context"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// RunTwoBanks proves that two banks with the same plug are separate. An account, a credit, a
// transfer or a statement line of one bank does not appear at the other bank.
func RunTwoBanks(t *testing.T, first, second BankWorld) {
	numbers := map[string]bool{}
	for _, w := range []struct{ here, there BankWorld }{{first, second}, {second, first}} {
		ctx := context.Background()
		r := w.here.wants(t)
		account := w.here.Bank.OpenAccount(ctx, r)
		check(t, "open", account.Answer, done)
		check(t, "find at the other bank", w.there.Bank.FindAccount(ctx, r.Reference).Answer, missing)
		foreign := w.there.wants(t)
		foreign.IdentitySession = w.here.session(t, false)
		check(t, "open with an OTP of the other bank", w.there.Bank.OpenAccount(ctx, foreign).Answer, refused)
		if numbers[account.Number] {
			t.Errorf("both banks have the account %s", account.Number)
		}
		numbers[account.Number] = true

		w.here.Credit(t, account.Number, 12_345, false)
		if n, err := w.here.Bank.ParseNotification(w.here.Notice(t)); err != nil || n.Account != account.Number {
			t.Errorf("the notice of the credit: %+v %v", n, err)
		}
		if !lists(t, w.here, account.Number) || lists(t, w.there, account.Number) {
			t.Error("the credit is not on the list of its bank alone")
		}

		o := w.here.order(t, "10")
		check(t, "pay", o.pay(ctx), done)
		check(t, "ask the other bank", w.there.Bank.RequeryTransfer(ctx, o.reference).Answer, missing)
		if w.here.Executed(t, o.reference) != 1 || w.there.Executed(t, o.reference) != 0 {
			t.Error("the transfer was not carried out by its bank alone")
		}
		if !states(t, w.here, o.reference) || states(t, w.there, o.reference) {
			t.Error("the transfer is not on the statement of its bank alone")
		}
	}
}

// lists reports whether the bank's list of credits has a confirmed credit on this account.
func lists(t *testing.T, w BankWorld, account string) bool {
	t.Helper()
	credits, _ := w.since(t, w.Now().Add(-time.Hour))
	for _, c := range credits {
		if c.CreditAccount == account && c.Outcome == provider.Confirmed {
			return true
		}
	}
	return false
}

// states reports whether the bank's statement has a line with this reference.
func states(t *testing.T, w BankWorld, reference string) bool {
	t.Helper()
	lines, _, err := w.Bank.Statement(context.Background(), w.Now().Add(-time.Hour), w.Now().Add(time.Hour), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if l.Reference == reference {
			return true
		}
	}
	return false
}
