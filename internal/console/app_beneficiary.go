package console

import (
	"net/url"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/report"
)

// keptAt is the page with the accounts that the company has kept.
const keptAt = "/app/payouts/kept"

func (c *console) beneficiaryRoutes() map[string]route {
	return map[string]route{
		"GET " + keptAt:              {show: showKept, query: []string{"after"}},
		"POST " + keptAt:             {do: keepAccount, on: (*visit).keepPage, proof: recentProof},
		"POST " + keptAt + "/remove": {show: showKept, do: forgetAccount, proof: recentProof},
	}
}

// keptPerPage is how many kept accounts a page shows. The form of a payout offers all.
const keptPerPage = 50

// keptAccounts is a page of the accounts that the company has kept.
type keptAccounts struct {
	rows []payout.Beneficiary
	all  int
	next *string // the cursor of the next page, or nil
}

func showKept(v *visit) (view, error) {
	if _, err := v.ask("GET", "/api/v1/company", nil, nil); err != nil {
		return view{}, err // the company may not use Kobo now
	}
	all, err := v.Payouts.CountBeneficiaries(v.Context(), v.who.Company)
	if err != nil {
		return view{}, err
	}
	k := keptAccounts{all: all}
	if k.rows, err = v.Payouts.BeneficiariesAfter(v.Context(), v.who.Company, v.filter("after", ""), keptPerPage+1); err != nil {
		return view{}, err
	}
	if len(k.rows) > keptPerPage {
		k.rows = k.rows[:keptPerPage]
		next := k.rows[keptPerPage-1].Cursor()
		k.next = &next
	}
	if v.readsMasked() {
		for i := range k.rows {
			k.rows[i].Label = report.MaskText(k.rows[i].Label)
		}
	}
	return view{title: "Kept accounts", item: "payouts", body: keptPage(v, k)}, nil
}

// mayKeep returns a refusal if the person may not send payouts, or if nothing is sent now.
func (v *visit) mayKeep() error {
	switch {
	case v.isClosed():
		return errClosed
	case !v.can("sendPayout"):
		return fault.New(fault.Forbidden, "Only a person in the role owner or finance keeps and removes accounts.")
	}
	_, err := v.ask("GET", "/api/v1/company", nil, nil)
	return err
}

// keepAccount keeps the account of a payout, or of a payout that has not been sent. The bank has said its name.
func keepAccount(v *visit) (string, error) {
	if err := v.mayKeep(); err != nil {
		return "", err
	}
	return keptAt, v.Payouts.Keep(v.Context(), v.who.Author().From(v.Context()), v.who.Company, v.field("verification"), v.field("label"))
}

// keepPage returns the page with the form that keeps an account: that of the payout, or the review before it.
func (v *visit) keepPage() string {
	to := v.field("to")
	if strings.HasPrefix(to, "/app/p/") || strings.HasPrefix(to, "/app/payouts/confirm/") {
		return to
	}
	return keptAt
}

func forgetAccount(v *visit) (string, error) {
	if err := v.mayKeep(); err != nil {
		return "", err
	}
	bank, account := keptKey(v.field("kept"))
	return keptAt, v.Payouts.Forget(v.Context(), v.who.Author().From(v.Context()), v.who.Company, bank, account)
}

// keptValue names a kept account in a form.
func keptValue(b payout.Beneficiary) string {
	return url.PathEscape(b.BankCode) + "/" + b.AccountNumber
}

// keptKey is the contrary of keptValue.
func keptKey(value string) (bank, account string) {
	bank, account, _ = strings.Cut(value, "/")
	if unescaped, err := url.PathUnescape(bank); err == nil {
		bank = unescaped
	}
	return bank, account
}

// keptWords names a kept account in the form of a payout.
func keptWords(b payout.Beneficiary) string {
	out := b.AccountName + ", " + b.BankName + " " + b.AccountNumber
	if b.Label != "" {
		out = b.Label + ": " + out
	}
	return out
}

// payee is the account that a payout pays.
type payee struct{ bank, account, keptName string }

// payee returns the account that the form of a payout names: a kept one, or one that was typed. The bank is asked for the name of
// either.
func (v *visit) payee() (payee, error) {
	typed := payee{bank: v.field("bank_code"), account: v.field("account_number")}
	kept := v.field("kept")
	if kept == "" {
		return typed, nil
	}
	if typed != (payee{}) {
		return payee{}, fault.New(fault.Invalid, "Choose a kept account or type another one, and not both")
	}
	bank, account := keptKey(kept)
	b, err := v.Payouts.Beneficiary(v.Context(), v.who.Company, bank, account)
	return payee{b.BankCode, b.AccountNumber, b.AccountName}, err
}

// isKept reports whether the company keeps an account, for somebody who may keep it.
func (v *visit) isKept(bank, account string) (bool, error) {
	_, err := v.Payouts.Beneficiary(v.Context(), v.who.Company, bank, account)
	if fault.Is(err, fault.Missing) {
		return false, nil
	}
	return err == nil, err
}
