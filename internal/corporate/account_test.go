package corporate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const notCreated = "Failed to create COOP subaccount"

func (w *world) request(kycID string) corporate.Request {
	return corporate.Request{Company: w.company, KYCID: kycID, PhoneNumber: "08012345678", EmailAddress: "ada@example.test", RNNumber: "RC123456"}
}

// because checks that err is the fault for an account that was not opened, and states this reason.
func because(t *testing.T, err error, reason string) {
	t.Helper()
	want(t, err, fault.Refused, notCreated)
	if f := fault.Of(err); f == nil || f.Extra["error"] != reason {
		t.Errorf("want the reason %q, got %v", reason, f.Extra)
	}
}

func TestAnAccountFeedsASettlementAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		a, err := w.GenerateAccount(t.Context(), w.request(w.proven(t)))
		must(t, err)
		shown, err := w.settlements.Find(t.Context(), w.company, w.account.ID)
		must(t, err)
		if a.Bank.Number != "8000000011" || string(shown.AccountNumber) != a.Bank.Number || string(shown.AccountName) != a.Bank.Name {
			t.Errorf("the account is %+v and the settlement account shows %+v", a, shown)
		}
		must(t, w.settlements.Receive(t.Context(), "safehaven", provider.Inbound{
			Outcome: provider.Confirmed, SessionID: "s1", CreditAccount: a.Bank.Number, Amount: 250_00, Narration: "rent",
		}))
		shown, err = w.settlements.Find(t.Context(), w.company, w.account.ID)
		must(t, err)
		if shown.Balance != 250_00 {
			t.Errorf("the balance is %s", shown.Balance)
		}
		if told := w.told(t); !slices.Equal(told, []string{"corporate.kyc_verified", "corporate.account_created", "settlement.credit"}) {
			t.Errorf("the events are %v", told)
		}
		r := w.bank.opened[0]
		if !r.Corporate || r.IdentitySession != "session-1" || r.CompanyRegistration != "RC123456" || r.Reference != a.ID {
			t.Errorf("the bank was asked for %+v", r)
		}
	})
}

func TestTheBankKnowsTheAccountAlready(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		first, err := w.GenerateAccount(t.Context(), w.request(w.proven(t)))
		must(t, err)
		r := w.request(w.proven(t))
		r.EmailAddress = "new@example.test"
		second, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if second.ID != first.ID || second.EmailAddress != r.EmailAddress {
			t.Errorf("the existing record was not updated: %+v, after %+v", second, first)
		}
		states, err := db.All(t.Context(), d, db.Value[string], `SELECT state FROM corporate_account WHERE company_id = $1 ORDER BY id`, w.company)
		must(t, err)
		if !slices.Equal(states, []string{"ACTIVE", "DUPLICATE"}) {
			t.Errorf("the attempts are %v", states)
		}
		if told := w.told(t); !slices.Equal(told, []string{
			"corporate.kyc_verified", "corporate.account_created", "corporate.kyc_verified", "corporate.account_updated",
		}) {
			t.Errorf("the events are %v", told)
		}
		r = w.request(w.proven(t))
		r.EmailAddress, r.SettlementID = "new@example.test", w.account.ID // the account already has these values
		_, err = w.GenerateAccount(t.Context(), r)
		must(t, err)
		if told := w.told(t); len(told) != 5 || told[4] != "corporate.kyc_verified" {
			t.Errorf("nothing has changed, and the events are %v", told)
		}
	})
}

// The bank names an account that another company has. The company reads what it reads of a bank that refuses without a reason.
func TestAnAccountOfAnotherCompanyIsRefusedAsByTheBank(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		must(t, w.settlements.Enter(t.Context(), "another", "8000000011", "999240"))
		_, err := w.GenerateAccount(t.Context(), w.request(w.proven(t)))
		foreign := fault.Of(err)
		because(t, err, "The bank refused to open the account")
		w.bank.open = func(int) provider.AccountAnswer {
			return provider.AccountAnswer{Answer: provider.Answer{Outcome: provider.Rejected}}
		}
		_, err = w.GenerateAccount(t.Context(), w.request(w.proven(t)))
		because(t, err, "The bank refused to open the account")
		if foreign.Reason() != fault.Of(err).Reason() {
			t.Errorf("the words are %s and %s", foreign.Reason(), fault.Of(err).Reason())
		}
	})
}

func TestAHeldAccountIsUpdated(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		_, err := w.GenerateAccount(t.Context(), w.request(w.proven(t)))
		must(t, err)
		other, err := w.settlements.Create(t.Context(), me, w.company, "Other")
		must(t, err)
		credit := func(session string) {
			t.Helper()
			must(t, w.settlements.Receive(t.Context(), "safehaven", provider.Inbound{
				Outcome: provider.Confirmed, SessionID: session, CreditAccount: "8000000011", Amount: 250_00,
			}))
		}
		balances := func(main, second money.Kobo) {
			t.Helper()
			for id, want := range map[int64]money.Kobo{w.account.ID: main, other.ID: second} {
				if a, err := w.settlements.Find(t.Context(), w.company, id); err != nil || a.Balance != want {
					t.Errorf("settlement account %d holds %s, want %s (%v)", id, a.Balance, want, err)
				}
			}
		}
		credit("before")
		balances(250_00, 0)
		r := w.request(w.proven(t))
		r.SettlementID = other.ID
		a, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if a.SettlementID != other.ID {
			t.Errorf("the account feeds %d", a.SettlementID)
		}
		credit("after")
		balances(250_00, 250_00)

		_, err = w.GenerateAccount(t.Context(), w.request(w.proven(t))) // this request contains no settlement account
		must(t, err)
		credit("still")
		balances(250_00, 500_00)
	})
}

func TestAnAttachedAccountFeedsTheWantedSettlementAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		must(t, w.settlements.Feed(t.Context(), me, w.company, w.account.ID, settlement.BankAccount{Number: "8000000011", Name: "ACME", BankName: "Safe Haven MFB", BankCode: "999240"}))
		other, err := w.settlements.Create(t.Context(), me, w.company, "Other")
		must(t, err)
		r := w.request(w.proven(t))
		r.SettlementID = other.ID
		_, err = w.GenerateAccount(t.Context(), r)
		must(t, err)
		shown, err := w.settlements.Find(t.Context(), w.company, other.ID)
		must(t, err)
		if shown.AccountNumber != "8000000011" {
			t.Errorf("the settlement account that was asked for shows %q", shown.AccountNumber)
		}
		found, err := report.New(d, w.clock).Verify(t.Context(), w.company)
		must(t, err)
		if lines := strings.Join(found.Lines(), "\n"); strings.Contains(lines, "settlement.feed") {
			t.Errorf("kobo verify misses the audit line of the account: %s", lines)
		}
	})
}

func TestALostAnswerOpensNoSecondAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.request(w.proven(t))
		w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} }
		_, err := w.GenerateAccount(t.Context(), r)
		because(t, err, "The bank has not said whether the account was opened. Try again.")
		w.bank.found = provider.AccountAnswer{Answer: provider.Answer{Message: "Gateway error"}}
		_, err = w.GenerateAccount(t.Context(), r)
		because(t, err, "Gateway error")
		w.bank.found = account("8000000012")
		a, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if a.Bank.Number != "8000000012" || len(w.bank.opened) != 1 || w.bank.sought[0] != w.bank.opened[0].Reference {
			t.Errorf("%d accounts were asked for, %v looked for, and the account is %+v", len(w.bank.opened), w.bank.sought, a)
		}
	})
}

func TestAnAccountThatTheBankNeverHeardOfIsAskedForAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.request(w.proven(t))
		w.bank.open = func(n int) provider.AccountAnswer {
			if n == 1 {
				return provider.AccountAnswer{}
			}
			return account("8000000013")
		}
		w.bank.found = provider.AccountAnswer{Answer: provider.Answer{Missing: true}}
		_, err := w.GenerateAccount(t.Context(), r)
		want(t, err, fault.Refused, notCreated)
		_, err = w.GenerateAccount(t.Context(), r)
		must(t, err)
		if w.bank.opened[0].Reference != w.bank.opened[1].Reference {
			t.Error("the reference is another one")
		}
	})
}

func TestTwentyAtOnceAskTheBankOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.request(w.proven(t))
		gate := make(chan struct{})
		w.bank.open = func(int) provider.AccountAnswer { <-gate; return account("8000000011") }
		results := make(chan error, 20)
		for range 20 {
			go func() {
				_, err := w.GenerateAccount(t.Context(), r)
				results <- err
			}()
		}
		for range 19 {
			because(t, <-results, "The account is being opened. Try again in a minute.")
		}
		close(gate)
		must(t, <-results)
		if len(w.bank.opened) != 1 {
			t.Errorf("the bank was asked %d times", len(w.bank.opened))
		}
	})
}

func TestRequestsWithoutAnAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		sent, err := w.Initiate(t.Context(), w.company, secret.NewText("22212345679"), nil)
		must(t, err)
		_, err = w.GenerateAccount(t.Context(), w.request(sent.SessionID))
		want(t, err, fault.Refused, "KYC not verified")
		_, err = w.GenerateAccount(t.Context(), w.request("nobody"))
		want(t, err, fault.Missing, "KYC record not found")
		r := w.request(w.proven(t))
		r.SettlementID = 999
		_, err = w.GenerateAccount(t.Context(), r)
		want(t, err, fault.Refused, "Settlement account not found")
		r.SettlementID = w.account.ID
		w.bank.open = func(n int) provider.AccountAnswer {
			if n == 1 {
				return provider.AccountAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "Unknown RC number"}}
			}
			return account("8000000014")
		}
		_, err = w.GenerateAccount(t.Context(), r)
		because(t, err, "Unknown RC number")
		_, err = w.GenerateAccount(t.Context(), r)
		must(t, err)
		if w.bank.opened[0].Reference == w.bank.opened[1].Reference {
			t.Error("a definite no is asked for again under the same reference")
		}
	})
}

// If a program crashes during an attempt, a later request continues the attempt, but only after the
// crashed program's call to the bank must have ended.
func TestAnAttemptThatWasCutOffIsTakenUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		r := w.request(w.proven(t))
		w.bank.open = func(int) provider.AccountAnswer { return provider.AccountAnswer{} }
		_, err := w.GenerateAccount(t.Context(), r)
		want(t, err, fault.Refused, notCreated)
		// Write the state that the row has while the program waits for the bank's reply.
		_, err = d.Exec(t.Context(), `UPDATE corporate_account SET called_until = $2 WHERE company_id = $1`,
			w.company, clock.Micros(w.clock.Now().Add(5*time.Second)))
		must(t, err)
		w.bank.found = account("8000000015")
		_, err = w.GenerateAccount(t.Context(), r)
		because(t, err, "The account is being opened. Try again in a minute.")
		w.clock.Advance(time.Minute)
		a, err := w.GenerateAccount(t.Context(), r)
		must(t, err)
		if a.Bank.Number != "8000000015" || len(w.bank.opened) != 1 {
			t.Errorf("the account is %+v, and the bank was asked %d times", a, len(w.bank.opened))
		}
	})
}
