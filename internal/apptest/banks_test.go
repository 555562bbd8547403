package apptest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// numbers are the numbers of a company's own account, a customer's account and a virtual
// account.
type numbers struct{ own, customer, virtual string }

// customerOf creates a customer of the company. The bank then sends the customer an OTP.
func customerOf(t *testing.T, c *apptest.Client, bvn string) (id string) {
	t.Helper()
	var made struct{ Data struct{ ID string } }
	c.Do(http.MethodPost, "/api/v1/customer/create", map[string]any{
		"firstName": "Ada", "lastName": "Tester", "email": bvn + "@example.com", "phoneNumber": "08012345678", "bvn": bvn,
	}).Want(t, http.StatusOK).Into(t, &made)
	return made.Data.ID
}

// accountOf makes a bank open an account for the customer, and returns the account number.
func accountOf(t *testing.T, c *apptest.Client, customer string) string {
	t.Helper()
	c.Do(http.MethodPost, "/api/v1/customer/generate-account", map[string]any{"customerId": customer, "otp": "123456"}).Want(t, http.StatusOK)
	var shown struct {
		BankAccount struct{ AccountNumber string }
	}
	c.Data("/api/v1/customer/"+customer, &shown)
	return shown.BankAccount.AccountNumber
}

// openAll opens one account of each kind, and returns the account numbers.
func openAll(t *testing.T, c *apptest.Client, bvn string) (o numbers) {
	t.Helper()
	o.customer = accountOf(t, c, customerOf(t, c, bvn+"1"))
	ask := func(path string, body map[string]any) (said struct {
		Data struct {
			AccountNumber string
			KYC           string `json:"kyc_id"`
		}
	},
	) {
		t.Helper()
		a := c.Do(http.MethodPost, "/api/v1/"+path, body).Want(t, http.StatusOK)
		a.Into(t, &said)
		return said
	}
	o.virtual = ask("virtual-account/generate", map[string]any{"amount": 2500, "externalReference": "invoice"}).Data.AccountNumber
	session := ask("coop/initiate-kyc", map[string]any{"bvn": bvn + "2"}).Data.KYC
	proof := ask("coop/validate-kyc", map[string]any{"session_id": session, "otp": "123456"}).Data.KYC
	o.own = ask("coop/generate-account", map[string]any{
		"phoneNumber": "08012345678", "emailAddress": "ada@example.com", "rn_number": "RC-" + bvn, "kyc_id": proof,
	}).Data.AccountNumber
	return o
}

// executed returns how many times a bank of the sandbox executed the payment with a reference. The
// argument path is the bank's path below /sandbox.
func executed(t *testing.T, p *apptest.Program, path, reference string) (n int64) {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodGet, "/sandbox"+path+"/provider-ledger?reference="+reference, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Data []apptest.Sale }
	a.Want(t, http.StatusOK).Into(t, &list)
	for _, s := range list.Data {
		n += s.Executions
	}
	return n
}

// payAt pays money into an account at one of the sandbox's banks.
func payAt(t *testing.T, p *apptest.Program, path, account string, naira int, silent bool) {
	t.Helper()
	a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox"+path+"/credit", map[string]any{
		"accountNumber": account, "amount": naira, "senderName": "BOLA SAMPLE", "silent": silent,
	})
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s, %v", a, err)
	}
}

const second = "/banks/second"

// Two banks serve two companies. The accounts, credits, payouts, polls and statements of the two
// banks are never mixed up. Work that a bank has begun stays with this bank when the routes change,
// and also while the bank is not configured.
func TestTwoBanksAreKeptApart(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		home := apptest.NewHome(t, dialect)
		start := func(routes string, names ...string) *apptest.Program {
			return home.Start(t, apptest.Banks(routes, names...), apptest.Window(2*time.Second))
		}
		p := start("", "main", "second")
		b := p.Company(100_000 * money.Naira)
		if err := p.App.Companies.SetPIN(t.Context(), operator.Local("test"), b.Reference, secret.NewText(p.PIN)); err != nil {
			t.Fatal(err)
		}
		p.Stop()
		var routes []string
		for _, kind := range []string{"CORPORATE", "CUSTOMER", "VIRTUAL_ACCOUNT", "PAYOUT"} {
			routes = append(routes, kind+"/"+b.Reference+"=second")
		}
		toSecond := strings.Join(routes, ", ")

		p = start(toSecond, "main", "second")
		b = p.As(b.Reference, b.APIKey, b.SettlementID)
		ours, theirs := openAll(t, p.Client, "2221234560"), openAll(t, b, "2221234570")
		for _, at := range []struct {
			path, other string
			c           *apptest.Client
			accounts    numbers
			held        money.Kobo
		}{{"", second, p.Client, ours, apptest.DevFloat}, {second, "", b, theirs, 100_000 * money.Naira}} {
			payAt(t, p, at.path, at.accounts.customer, 60, false)
			payAt(t, p, at.path, at.accounts.own, 40, false)
			payAt(t, p, at.path, at.accounts.virtual, 2500, false)
			if a, err := p.Raw(t.Context(), http.MethodPost, "/sandbox"+at.other+"/credit", map[string]any{
				"accountNumber": at.accounts.customer, "amount": 100,
			}); err != nil || a.Status != http.StatusBadRequest {
				t.Errorf("the other bank knows the account: %s, %v", a, err)
			}
			holds(t, p, at.c, at.held+2600*money.Naira)
			id := verify(t, at.c, "10")
			if a := send(at.c, id, 1000).Want(t, http.StatusOK); executed(t, p, at.path, id) != 1 || executed(t, p, at.other, id) != 0 {
				t.Errorf("the payout %s: %s", id, a)
			}
			payAt(t, p, at.path, at.accounts.customer, 50, true) // no notification, so only the credit poll can find it
			holds(t, p, at.c, at.held+1600*money.Naira)
		}
		if n, err := countOf(t, p, `SELECT count(*) FROM settlement_credit WHERE company_id = $1 AND provider = 'second'`, b.Reference); err != nil || n != 3 {
			t.Errorf("%d credits of the second bank, %v", n, err)
		}
		p.Advance(6 * time.Minute)
		holds(t, p, p.Client, apptest.DevFloat+1650*money.Naira)
		holds(t, p, b, 101_650*money.Naira)
		reconciled(t, p)

		lost, otp := verify(t, b, "06"), customerOf(t, b, "22212345799")
		send(b, lost, 1000).Want(t, http.StatusOK)
		p.Stop()
		p = start("", "main") // the second bank is not configured for a while
		b = p.As(b.Reference, b.APIKey, b.SettlementID)
		p.Advance(4 * time.Minute)
		if got := status(b, lost); got.Status != "PENDING" {
			t.Errorf("while its bank is away: %+v", got)
		}
		b.Do(http.MethodPost, "/api/v1/customer/generate-account", map[string]any{"customerId": otp, "otp": "123456"}).Want(t, http.StatusBadRequest)
		p.Stop()
		p = start("", "main", "second") // new work is sent to main
		b = p.As(b.Reference, b.APIKey, b.SettlementID)
		account := accountOf(t, b, otp) // the second bank sent the OTP, so it also opens the account
		p.Advance(20 * time.Minute)
		p.Advance(20 * time.Minute)
		if got := status(b, lost); got.Status != "SUCCESS" || executed(t, p, second, lost) != 1 || executed(t, p, "", lost) != 0 {
			t.Errorf("under other routes: %+v", got)
		}
		payAt(t, p, second, account, 70, false)
		fresh := verify(t, b, "10")
		if send(b, fresh, 1000).Want(t, http.StatusOK); executed(t, p, "", fresh) != 1 || executed(t, p, second, fresh) != 0 {
			t.Errorf("new work did not go to main")
		}
		holds(t, p, b, (101_650-2000+70)*money.Naira)
		p.Advance(time.Hour)
		reconciled(t, p)
	})
}

func countOf(t *testing.T, p *apptest.Program, query string, args ...any) (int64, error) {
	t.Helper()
	return db.One(t.Context(), p.App.DB, db.Value[int64], query, args...)
}

// reconciled fails the test unless the statements of both banks agree with the ledger.
func reconciled(t *testing.T, p *apptest.Program) {
	t.Helper()
	all, err := p.App.Reconcile(t.Context(), app.Reach)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, r := range all {
		if r.Lines == 0 || r.Payments == 0 || r.Receipts == 0 || len(r.Breaks) > 0 {
			t.Errorf("%s: %s", r.Bank, fmt.Sprintf("%+v", r))
		}
	}
}
