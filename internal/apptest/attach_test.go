package apptest_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// attach calls the admin API to attach a bank account to the company.
func attach(t *testing.T, p *apptest.Program, number string) apptest.Answer {
	t.Helper()
	path := "/admin/v1/companies/" + p.Reference + "/settlement-accounts/" + strconv.FormatInt(p.SettlementID, 10) + "/bank-accounts"
	body := map[string]string{"bank": "safehaven", "accountNumber": number, "accountName": "ACME SALES"}
	a, err := p.Raw(t.Context(), http.MethodPost, path, body, "Authorization", "Bearer "+p.AdminKey)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Operators attach a bank account that was opened on the bank's dashboard to a company. Then
// the company gets the account's credits, however many notifications the bank sends for each
// credit.
func TestAnAttachedAccountIsPaid(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		attach(t, p, "8000000022").Want(t, http.StatusOK)
		pay(t, p.Client, "8000000022", 5000, map[string]any{"stray": true, "duplicate": 9})
		holds(t, p, p.Client, apptest.DevFloat+5000*money.Naira)
		pay(t, p.Client, "8000000022", 70, map[string]any{"stray": true, "silent": true})
		p.Advance(6 * time.Minute)
		holds(t, p, p.Client, apptest.DevFloat+5070*money.Naira)
		settled(t, p)
		if n := creditEvents(p.Client); n != 2 {
			t.Errorf("%d events", n)
		}
	})
}

// An operator cannot attach the account of a customer, a virtual account, or our own debit account
// to a company.
func TestAnAccountInUseIsNotAttached(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect)
		ask := func(path string, body any) (said struct {
			Data struct{ ID, AccountNumber string }
		},
		) {
			t.Helper()
			p.Do(http.MethodPost, path, body).Want(t, http.StatusOK).Into(t, &said)
			return said
		}
		made := ask("/api/v1/customer/create", map[string]any{
			"firstName": "Ada", "lastName": "Tester", "email": "ada@example.com", "phoneNumber": "08012345678", "bvn": "22212345678",
		})
		ask("/api/v1/customer/generate-account", map[string]any{"customerId": made.Data.ID, "otp": "123456"})
		var customer struct {
			BankAccount struct{ AccountNumber string }
		}
		p.Data("/api/v1/customer/"+made.Data.ID, &customer)
		virtual := ask("/api/v1/virtual-account/generate", map[string]any{"amount": 2500, "externalReference": "invoice-1"})
		for number, why := range map[string]string{
			customer.BankAccount.AccountNumber: "The bank account belongs to a customer, or is a virtual account",
			virtual.Data.AccountNumber:         "The bank account belongs to a customer, or is a virtual account",
			p.SettlementAccountNumber:          "The bank account feeds settlement account 1 already",
		} {
			if a := attach(t, p, number); a.Status != http.StatusBadRequest || a.Message() != why {
				t.Errorf("%s: %s, want %q", number, a, why)
			}
		}
	})
}
