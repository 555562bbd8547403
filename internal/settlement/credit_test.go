package settlement_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

const bank = "safehaven"

// fed creates a company with a settlement account, and returns the settlement account. Credits to
// the bank account with this number go to the settlement account.
func (h *house) fed(number string) settlement.Account {
	h.t.Helper()
	a := h.account(h.company())
	err := h.Feed(h.t.Context(), ada, a.Company, a.ID, settlement.BankAccount{
		Number: number, Name: "Acme", BankName: "Safe Haven", BankCode: "090286",
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) inbound(session, account string, amount money.Kobo) provider.Inbound {
	return provider.Inbound{
		Outcome: provider.Confirmed, SessionID: session, CreditAccount: account, SenderName: "BOLA SAMPLE",
		Narration: "gift", Amount: amount, At: h.clock.Now(), Status: "completed",
	}
}

func (h *house) receives(in provider.Inbound) {
	h.t.Helper()
	if err := h.Receive(h.t.Context(), bank, in); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) suspended(want money.Kobo) {
	h.t.Helper()
	if got, err := h.book.Balance(h.t.Context(), settlement.House, settlement.SuspenseAccount); err != nil || got != want {
		h.t.Errorf("suspense holds %s, %v; want %s", got, err, want)
	}
}

// cases returns the open cases of a reason.
func (h *house) cases(reason operation.Reason) (found []operation.Case) {
	h.t.Helper()
	list, _, err := h.operations.Cases(h.t.Context(), operation.CaseFilter{State: operation.Open}, 100, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range list {
		if c.Reason == reason {
			found = append(found, c)
		}
	}
	return found
}

// intact fails the test if the ledger of one of these companies is inconsistent.
func (h *house) intact(companies ...string) {
	h.t.Helper()
	for _, c := range companies {
		if i, err := report.New(h.db, h.clock).Integrity(h.t.Context(), c); err != nil || !i.Intact() {
			h.t.Errorf("%v, %v", i.Wrongs, err)
		}
	}
}

func (h *house) events(company string) []event.Event {
	h.t.Helper()
	list, _, err := event.NewService(h.db, h.book).Feed(h.t.Context(), company, 0, 100, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

func TestFiftyNotificationsAreOneCredit(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if err := h.Receive(context.Background(), bank, h.inbound("s-1", "8000000011", 1500)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		h.receives(h.inbound("s-1", "8000000011", 1500))
		h.holds(a, 1500)
		if e := h.events(a.Company); len(e) != 1 || e[0].Kind != event.SettlementCredit {
			t.Errorf("%+v", e)
		}
		// The same session ID at a different bank is a different credit.
		if err := h.Receive(t.Context(), "otherbank", h.inbound("s-1", "8000000011", 500)); err != nil {
			t.Fatal(err)
		}
		h.holds(a, 2000)
		h.intact(a.Company)
	})
}

func TestMoneyOfAnUnknownAccountGoesIntoSuspense(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for range 3 {
			h.receives(h.inbound("s-1", "8000000099", 700))
		}
		h.suspended(700)
		if c := h.cases(operation.UnknownAccount); len(c) != 1 || c[0].Subject != bank+"/s-1" || c[0].Company != settlement.House {
			t.Errorf("%+v", c)
		}
		// The account becomes known only after its credit went into suspense. A repeated
		// notification of that credit does not credit the company. Only operators can assign the
		// money to the company.
		a := h.fed("8000000099")
		h.receives(h.inbound("s-1", "8000000099", 700))
		h.holds(a, 0)
		h.receives(h.inbound("s-2", "8000000099", 300))
		h.holds(a, 300)
		h.suspended(700)
		h.intact(settlement.House, a.Company)
	})
}

// An account number that is in the directory, but whose bank account feeds no settlement account,
// also counts as unknown.
func TestADirectoryEntryWithoutARecipient(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company := h.company()
		for range 2 {
			if err := h.Enter(t.Context(), company, "8000000011", "090286"); err != nil {
				t.Fatal(err)
			}
		}
		// The company must not read why, and the log does.
		err := h.Enter(t.Context(), h.company(), "8000000011", "090286")
		if !fault.Is(err, fault.Refused) || fault.Of(err).Message != "" || !strings.Contains(err.Error(), "belongs to another company") {
			t.Errorf("two companies have one account: %v", err)
		}
		h.receives(h.inbound("s-1", "8000000011", 700))
		h.suspended(700)
		h.intact(settlement.House, company)
	})
}

// Two companies may own the same number at different banks. The number is then one of our accounts too,
// so what is forwarded from it is not a second credit.
func TestANumberOfTwoCompaniesIsOurs(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for i, bankCode := range []string{"", "090286", "000014"} {
			if bankCode != "" {
				if err := h.Enter(t.Context(), h.company(), "8000000011", bankCode); err != nil {
					t.Fatal(err)
				}
			}
			if ours, err := h.Holds(t.Context(), "8000000011"); err != nil || ours != (i > 0) {
				t.Errorf("with %d owners: %v, %v", i, ours, err)
			}
		}
	})
}

func TestAnUnfinishedCreditIsRefused(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		for _, change := range []func(*provider.Inbound){
			func(in *provider.Inbound) { in.Outcome = provider.Unknown },
			func(in *provider.Inbound) { in.SessionID = "" },
			func(in *provider.Inbound) { in.Amount = 0 },
			func(in *provider.Inbound) { in.Amount = -5 },
		} {
			in := h.inbound("s-1", "8000000011", 700)
			change(&in)
			if err := h.Receive(t.Context(), bank, in); err == nil {
				t.Errorf("%+v was credited", in)
			}
		}
		h.holds(a, 0)
	})
}

func TestARejectionAfterTheCreditOpensACase(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.fed("8000000011")
		rejected := h.inbound("s-1", "8000000011", 700)
		rejected.Outcome = provider.Rejected
		h.receives(rejected) // the credit was never booked, so nothing changes
		if c := h.cases(operation.Contradiction); len(c) != 0 {
			t.Errorf("%+v", c)
		}
		h.receives(h.inbound("s-1", "8000000011", 700))
		h.receives(rejected)
		h.receives(rejected)
		if c := h.cases(operation.Contradiction); len(c) != 1 || c[0].Company != a.Company || c[0].Subject != bank+"/s-1" {
			t.Errorf("%+v", c)
		}
		h.holds(a, 700)
	})
}

// accounts is the table of settlement accounts. A recipient in a test uses the table to add a
// transition to the unit of a credit.
var accounts = db.Declare[settlement.Account]("settlement_account")

func TestARecipientIsAskedAgainAfterAChangeOfItsRow(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, other := h.fed("8000000011"), h.account(h.company())
		from, asked := string(settlement.Inactive), 0
		stranger := func(context.Context, string, settlement.Credit) (settlement.Booking, bool, error) {
			return settlement.Booking{}, false, nil // the account is not of this recipient's kind
		}
		h.Recipients = append(h.Recipients, stranger, func(_ context.Context, company string, c settlement.Credit) (settlement.Booking, bool, error) {
			if company != a.Company {
				t.Errorf("asked about %s", company)
			}
			asked++
			expected := from
			if asked == 2 {
				from = string(settlement.Active) // the state that the next call expects
			}
			return settlement.Booking{SettlementID: a.ID, Kind: "collection", Narration: "invoice 7", Effects: func(u *ledger.Unit) {
				u.Transition(accounts.Record(settlement.Account{Company: company, ID: a.ID, Status: settlement.Active}), expected)
			}}, true, nil
		})
		h.receives(h.inbound("s-1", "8000000011", 700))
		if asked != 3 { // to find the owner, to build the first unit, and to build a new unit after the ledger refused the first
			t.Errorf("asked %d times", asked)
		}
		h.holds(a, 700)
		h.holds(other, 0)
	})
}

func TestOwnAccountsByTheCompanyItself(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company := h.company()
		first, err := h.CreateOwn(t.Context(), company, "  Payroll ", nil)
		if err != nil || !first.IsDefault || first.Name != "Payroll" || first.Balance != 0 {
			t.Errorf("%+v, %v", first, err)
		}
		second, err := h.CreateOwn(t.Context(), company, "Taxes", nil)
		if err != nil || second.IsDefault || second.ID <= first.ID {
			t.Errorf("%+v, %v", second, err)
		}
		found, err := h.Find(t.Context(), company, first.ID)
		if err != nil || found != first {
			t.Errorf("said %+v, is %+v, %v", first, found, err)
		}
	})
}

// BenchmarkReceive measures Receive with 16 concurrent workers.
func BenchmarkReceive(b *testing.B) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		b.Run(string(dialect), func(b *testing.B) {
			h := newHouse(b, dialect)
			a := h.account(h.company())
			if err := h.Feed(b.Context(), ada, a.Company, a.ID, settlement.BankAccount{Number: "8000000011", BankCode: "090286"}); err != nil {
				b.Fatal(err)
			}
			at := clock.Micros(h.clock.Now())
			var all sync.WaitGroup
			b.ResetTimer()
			for w := range 16 {
				all.Go(func() {
					for i := w; i < b.N; i += 16 {
						in := h.inbound(fmt.Sprintf("%d-%d", at, i), "8000000011", 100)
						if err := h.Receive(context.Background(), bank, in); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "credits/s")
		})
	}
}

// The event and Senders show the payer, but only to the credit's company.
func TestACreditShowsItsPayer(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a, other := h.fed("8000000011"), h.fed("8000000012")
		in := h.inbound("000013300101020304123456789012", "8000000011", 1500)
		in.SenderBank, in.SenderAccount = "000013", "0123456789"
		h.receives(in)
		h.receives(h.inbound("s-2", "8000000012", 1500))
		events := h.events(a.Company)
		if data := string(events[0].Data); !strings.Contains(data, `"senderName":"BOLA SAMPLE","senderBank":"000013","senderAccount":"0123456789"`) {
			t.Errorf("the event has %s", data)
		}
		if data := string(h.events(other.Company)[0].Data); strings.Contains(data, "senderBank") || strings.Contains(data, "senderAccount") {
			t.Errorf("the event of an unknown bank has %s", data)
		}
		var told struct{ ID string }
		if err := json.Unmarshal(events[0].Data, &told); err != nil {
			t.Fatal(err)
		}
		want := map[string]settlement.Sender{told.ID: {Name: "BOLA SAMPLE", Bank: "000013", Account: "0123456789"}}
		if got, err := h.Senders(t.Context(), a.Company, []string{told.ID, "unknown"}); err != nil || !maps.Equal(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := h.Senders(t.Context(), other.Company, []string{told.ID}); err != nil || len(got) != 0 {
			t.Errorf("another company sees %+v, %v", got, err)
		}
	})
}
