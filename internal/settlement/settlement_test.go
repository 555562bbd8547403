package settlement_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
	"github.com/kobo-waas/kobo/internal/settlement"
)

var (
	ada = operator.Operator{Name: "ada"}
	bob = operator.Operator{Name: "bob"}
)

type house struct {
	*settlement.Service
	t          testing.TB
	db         *db.DB
	book       *ledger.Book
	clock      *clock.Manual
	companies  *company.Service
	operations *operation.Service
}

func each(t *testing.T, f func(t *testing.T, h *house)) {
	t.Helper()
	for _, dialect := range dbtest.Servers() {
		t.Run(string(dialect), func(t *testing.T) { f(t, newHouse(t, dialect)) })
	}
}

func newHouse(t testing.TB, dialect db.Dialect) *house {
	t.Helper()
	d, clk := dbtest.New(t, dialect), clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	keys, err := secret.Parse(secret.Generate())
	if err != nil {
		t.Fatal(err)
	}
	book := ledger.WithAlerts(d, clk, settlement.LowBalance)
	t.Cleanup(book.Drain)
	operations := operation.NewService(d, book, clk, slog.New(slog.DiscardHandler), time.Second)
	return &house{
		settlement.New(settlement.Config{DB: d, Book: book, Clock: clk, Operations: operations}), t, d, book, clk, company.New(d, book, keys, clk), operations,
	}
}

func (h *house) company() string {
	h.t.Helper()
	c, _, err := h.companies.Create(h.t.Context(), ada, "Acme")
	if err != nil {
		h.t.Fatal(err)
	}
	return c.Reference
}

// owner returns the company that owns a bank account according to the directory.
func (h *house) owner(number, bankCode string) (string, error) {
	return db.One(h.t.Context(), h.db, db.Value[string],
		`SELECT company_id FROM settlement_directory WHERE account_number = $1 AND bank_code = $2`, number, bankCode)
}

// foreign returns the eighth settlement account of a new company. The test's other companies have
// fewer accounts, so none of their accounts has the number 8.
func (h *house) foreign() settlement.Account {
	other := h.company()
	for range 7 {
		h.account(other)
	}
	return h.account(other)
}

func (h *house) account(company string) settlement.Account {
	h.t.Helper()
	a, err := h.Create(h.t.Context(), ada, company, "Main")
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) holds(a settlement.Account, want money.Kobo) {
	h.t.Helper()
	if got, err := h.Find(h.t.Context(), a.Company, a.ID); err != nil || got.Balance != want {
		h.t.Errorf("account %d holds %s, %v; want %s", a.ID, got.Balance, err, want)
	}
}

func TestAccounts(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		one := h.company()
		if none, err := h.Accounts(ctx, one); err != nil || len(none) != 0 {
			t.Errorf("%+v, %v", none, err)
		}
		if _, err := h.Default(ctx, one); !fault.Is(err, fault.Missing) {
			t.Errorf("a default of none: %v", err)
		}
		if _, err := h.Landing(ctx, one, 0); !fault.Is(err, fault.Missing) {
			t.Errorf("a credit to none: %v", err)
		}
		first, foreign, second := h.account(one), h.foreign(), h.account(one)
		accounts, err := h.Accounts(ctx, one)
		if err != nil || len(accounts) != 2 || accounts[0] != first || accounts[1] != second {
			t.Fatalf("%+v, %v", accounts, err)
		}
		if !first.IsDefault || second.IsDefault || first.Status != settlement.Active || first.Balance != 0 || first.Name != "Main" {
			t.Errorf("%+v, %+v", first, second)
		}
		if d, err := h.Default(ctx, one); err != nil || d.ID != first.ID {
			t.Errorf("default %+v, %v", d, err)
		}
		_, err = h.Find(ctx, one, foreign.ID)
		if !fault.Is(err, fault.Missing) || fault.Of(err).Message != "Settlement account not found" {
			t.Errorf("another company's account: %v", err)
		}
		if _, err := h.Create(ctx, ada, id.Cuid(), "Main"); !fault.Is(err, fault.Missing) {
			t.Errorf("an account of nobody: %v", err)
		}
		for _, name := range []string{"", " a ", "\u200b\u200b", "\u2800\u3164", strings.Repeat("a", 101)} {
			if _, err := h.Create(ctx, ada, one, name); !fault.Is(err, fault.Invalid) {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}

// Account numbers count separately for each company, so they reveal nothing about other
// companies.
func TestNumbersCountByCompany(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		companies := []string{h.company(), h.company(), h.company()}
		var mu sync.Mutex
		seen := map[string][]int64{}
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				a, err := h.Create(context.Background(), ada, companies[i%3], "Main")
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				seen[a.Company] = append(seen[a.Company], a.ID)
			})
		}
		all.Wait()
		for _, c := range companies {
			slices.Sort(seen[c])
			if !slices.Equal(seen[c], []int64{1, 2, 3, 4, 5, 6, 7, 8}) {
				t.Errorf("the numbers are %v", seen[c])
			}
		}
	})
}

// An older release numbered accounts across all companies. For a company of that release, the
// next number is one above its highest number. This holds even while a program of the older
// release still runs.
func TestNumbersGoOnAboveTheHighest(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		one := h.company()
		h.account(one)
		renumber := func(from, to int64) {
			t.Helper()
			_, err := h.db.Exec(t.Context(), `UPDATE settlement_account SET id = $3 WHERE company_id = $1 AND id = $2`, one, from, to)
			if err != nil {
				t.Fatal(err)
			}
		}
		renumber(1, 40)
		if a := h.account(one); a.ID != 41 {
			t.Errorf("after 40 comes %d", a.ID)
		}
		renumber(40, 57) // the number that the older program would give
		if a := h.account(one); a.ID != 58 {
			t.Errorf("after 57 comes %d", a.ID)
		}
	})
}

func TestFunding(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		a := h.account(h.company())
		if err := h.Fund(ctx, ada, a.Company, a.ID, 1_000_000*money.Naira, "safehaven", "seed"); err != nil {
			t.Fatal(err)
		}
		h.holds(a, 1_000_000*money.Naira)
		if float, err := h.book.Balance(ctx, a.Company, settlement.ProviderAccount("safehaven")); err != nil || float != -1_000_000*money.Naira {
			t.Errorf("the float holds %s, %v", float, err)
		}
		if err := h.Fund(ctx, ada, a.Company, a.ID, 0, "safehaven", "nothing"); !fault.Is(err, fault.Invalid) {
			t.Errorf("nothing: %v", err)
		}
		if err := h.Fund(ctx, ada, a.Company, a.ID+1, 1, "safehaven", "nowhere"); !fault.Is(err, fault.Missing) {
			t.Errorf("nowhere: %v", err)
		}
	})
}

func TestBankAccountsFeed(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		ctx := t.Context()
		a, foreign := h.foreign(), h.account(h.company())
		bank := func(serial int64) settlement.BankAccount {
			number, err := nuban.Make("090286", serial)
			if err != nil {
				t.Fatal(err)
			}
			return settlement.BankAccount{Number: number, Name: "Acme / Kobo", BankName: "Safe Haven", BankCode: "090286"}
		}
		for _, serial := range []int64{7, 3} {
			h.clock.Advance(time.Second)
			if err := h.Feed(ctx, ada, a.Company, a.ID, bank(serial)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := h.Find(ctx, a.Company, a.ID)
		if err != nil || string(got.AccountNumber) != bank(7).Number || got.BankName != "Safe Haven" || got.AccountName != "Acme / Kobo" {
			t.Errorf("the first is shown: %+v, %v", got, err)
		}
		for serial, owner := range map[int64]string{7: a.Company, 3: a.Company} {
			if c, err := h.owner(bank(serial).Number, "090286"); err != nil || c != owner {
				t.Errorf("%d is of %q, %v", serial, c, err)
			}
		}
		if _, err := h.owner(bank(7).Number, "058"); !errors.Is(err, db.ErrNone) {
			t.Errorf("the same number at another bank: %v", err)
		}
		if err := h.Feed(ctx, ada, a.Company, a.ID, bank(7)); !fault.Is(err, fault.Refused) {
			t.Errorf("twice: %v", err)
		}
		if err := h.Feed(ctx, ada, foreign.Company, foreign.ID, bank(7)); !fault.Is(err, fault.Refused) {
			t.Errorf("two companies: %v", err)
		}
		if err := h.Feed(ctx, ada, foreign.Company, a.ID, bank(9)); !fault.Is(err, fault.Missing) {
			t.Errorf("another company's settlement account: %v", err)
		}
	})
}

// A company can open only as many accounts in a day as its quota allows. Accounts that operators
// open do not count.
func TestTheQuotaOfOwnAccounts(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		company, other := h.company(), h.company()
		for i := range 50 {
			if _, err := h.CreateOwn(t.Context(), company, "Payroll", nil); err != nil {
				t.Fatalf("account %d: %v", i, err)
			}
		}
		_, err := h.CreateOwn(t.Context(), company, "Payroll", nil)
		f := fault.Of(err)
		if f == nil || f.Kind != fault.Limited || f.Message != "Daily limit of 50 settlement accounts reached" || f.Retry <= 0 {
			t.Fatalf("the 51st: %v", err)
		}
		if list, err := h.Accounts(t.Context(), company); err != nil || len(list) != 50 {
			t.Errorf("%d accounts, %v", len(list), err)
		}
		if _, err := h.Create(t.Context(), ada, company, "By an operator"); err != nil {
			t.Errorf("by an operator: %v", err)
		}
		if _, err := h.CreateOwn(t.Context(), other, "Payroll", nil); err != nil {
			t.Errorf("another company: %v", err)
		}
		h.clock.Advance(f.Retry)
		if _, err := h.CreateOwn(t.Context(), company, "Payroll", nil); err != nil {
			t.Errorf("the next day: %v", err)
		}
	})
}
