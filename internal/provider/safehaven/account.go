package safehaven

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// subAccount is the request body that opens a sub-account. The identity fields decide whether the
// account belongs to a person or to a company.
type subAccount struct {
	PhoneNumber               string `json:"phoneNumber"`
	EmailAddress              string `json:"emailAddress"`
	ExternalReference         string `json:"externalReference"`
	IdentityType              string `json:"identityType"`
	IdentityNumber            string `json:"identityNumber,omitempty"`
	IdentityID                string `json:"identityId"`
	OTP                       string `json:"otp,omitempty"`
	CompanyRegistrationNumber string `json:"companyRegistrationNumber,omitempty"`
	CallbackURL               string `json:"callbackUrl,omitempty"`
	// The bank forwards all credits to our account, from which payouts are made.
	AutoSweep        bool  `json:"autoSweep"`
	AutoSweepDetails sweep `json:"autoSweepDetails"`
}

type sweep struct {
	Schedule      string `json:"schedule"`
	AccountNumber string `json:"accountNumber"`
}

// OpenAccount opens a sub-account. For a person, this request also validates the identity by BVN
// and OTP. A company's signatory, and a person whose identity is proven, was validated in an earlier
// request. The identity type "vID" refers to that validation.
func (p *Plug) OpenAccount(ctx context.Context, r provider.AccountRequest) provider.AccountAnswer {
	body := subAccount{
		PhoneNumber: provider.InternationalPhone(r.Phone), EmailAddress: r.Email, ExternalReference: r.Reference, IdentityID: r.IdentitySession,
		CallbackURL: r.CallbackURL, AutoSweep: true, AutoSweepDetails: sweep{"Instant", p.account},
	}
	if r.Corporate || r.Proven {
		body.IdentityType, body.CompanyRegistrationNumber = "vID", r.CompanyRegistration
	} else {
		body.IdentityType, body.IdentityNumber, body.OTP = "BVN", r.IdentityNumber.Reveal(), r.OTP.Reveal()
	}
	opened, a := p.open(ctx, "/accounts/v2/subaccount", body)
	return provider.AccountAnswer{Answer: a, Account: opened.shown(p.bankCode), Holder: opened.Holder.name()}
}

// open opens a sub-account or a virtual account. Unless the outcome is Confirmed, the returned
// account is empty.
func (p *Plug) open(ctx context.Context, path string, body any) (account, provider.Answer) {
	var opened account
	a := judge(p.once(ctx, path, body), func(e envelope) claim {
		e.into(&opened) // if the reply has no data, opened stays empty and states nothing
		return opened.claim()
	})
	if a.Outcome != provider.Confirmed {
		opened = account{}
	}
	return opened, a
}

// account is an account in the bank's replies and in its list of accounts.
type account struct {
	ID                text `json:"_id"`
	Number            text `json:"accountNumber"`
	Name              text `json:"accountName"`
	BankCode          text `json:"bankCode"`
	ExternalReference text `json:"externalReference"`
	ExpiryDate        text `json:"expiryDate"`
	Status            text `json:"status"`
	Balance           text `json:"accountBalance"` // in naira

	Holder holder `json:"subAccountDetails"`
}

// claim returns what this data states about the request. If it has an account number, the account
// was opened. Without an account number, a status other than failed keeps a refusal from counting.
func (a account) claim() claim {
	word := lower(a.Status)
	switch {
	case a.Number == "" && failed[word]:
		return claim{}
	case a.Number == "":
		return claim{word: word}
	}
	return claim{reference: string(a.ID), word: "opened", done: true}
}

func (a account) shown(bankCode string) provider.Account {
	if a.Number == "" {
		return provider.Account{}
	}
	return provider.Account{
		Number: string(a.Number), Name: string(a.Name), BankName: bankName, BankCode: provider.First(a.BankCode, text(bankCode)),
		ProviderID: string(a.ID),
	}
}

// pageSize is the largest page that the bank returns. lastPage stops the reading of a list that
// never ends.
const (
	pageSize = 100
	lastPage = 100_000
)

// FindAccount looks for an account by our reference. The bank has no search by reference, so the
// plug reads the list of sub-accounts to its end. It reports the account as missing only if the
// whole list was read and does not contain the account.
func (p *Plug) FindAccount(ctx context.Context, reference string) provider.AccountAnswer {
	var out provider.AccountAnswer
	err := p.accounts(ctx, true, func(a account) bool {
		if string(a.ExternalReference) != reference || a.Number == "" {
			return false
		}
		out.Answer = provider.Answer{Outcome: provider.Confirmed, Code: "found", Reference: string(a.ID)}
		out.Account, out.Holder = a.shown(p.bankCode), a.Holder.name()
		return true
	})
	switch {
	case err != nil: // a failed read proves nothing about the account
		out.Answer = provider.Answer{Code: err.Code, Message: err.Message}
	case out.Outcome != provider.Confirmed:
		out.Answer = provider.Answer{Code: "404", Missing: true}
	}
	return out
}

// accounts calls found with each account on the bank's list, until found returns true. If sub is
// true, the list contains the sub-accounts; otherwise it contains our main accounts.
func (p *Plug) accounts(ctx context.Context, sub bool, found func(account) bool) *provider.Error {
	for page := range lastPage {
		var rows []account
		pages, err := p.page(ctx, "/accounts?isSubAccount="+strconv.FormatBool(sub)+paging(page), &rows)
		if err != nil {
			return provider.AsError(p.Name(), err)
		}
		for _, a := range rows {
			if found(a) {
				return nil
			}
		}
		if !more(page, pages, len(rows)) {
			return nil
		}
	}
	return &provider.Error{Provider: p.Name(), Code: provider.CodeUnreadable, Message: "the list has too many pages"}
}

func paging(page int) string {
	return "&page=" + strconv.Itoa(page) + "&limit=" + strconv.Itoa(pageSize)
}

// more reports whether another page may follow. If the reply contains the number of pages, that
// number decides. Otherwise more returns true if this page has rows. A page that is not full does
// not prove the end, since the bank may return fewer rows than requested.
func more(page, pages, rows int) bool {
	if pages > 0 {
		return page+1 < pages
	}
	return rows > 0
}

type virtualAccount struct {
	ValidFor          int64             `json:"validFor"`
	CallbackURL       string            `json:"callbackUrl"`
	SettlementAccount settlementAccount `json:"settlementAccount"`
	AmountControl     string            `json:"amountControl"`
	Amount            json.Number       `json:"amount"`
	ExternalReference string            `json:"externalReference"`
}

type settlementAccount struct {
	BankCode      string `json:"bankCode"`
	AccountNumber string `json:"accountNumber"`
}

// defaultValidity is the bank's default lifetime of a virtual account.
const defaultValidity = 15 * time.Minute

// OpenVirtualAccount opens an account for one payment. The bank forwards the money to our account.
// The bank also chooses the account's name, so AccountName is not sent.
func (p *Plug) OpenVirtualAccount(ctx context.Context, r provider.VirtualAccountRequest) provider.VirtualAccountAnswer {
	if r.Control == "" {
		r.Control = provider.Fixed
	}
	if r.ValidFor <= 0 {
		r.ValidFor = defaultValidity
	}
	body := virtualAccount{
		ValidFor: int64(r.ValidFor / time.Second), CallbackURL: r.CallbackURL, AmountControl: string(r.Control),
		SettlementAccount: settlementAccount{p.bankCode, p.account}, Amount: json.Number(r.Amount.Number()), ExternalReference: r.Reference,
	}
	asked := p.session.clock.Now()
	opened, a := p.open(ctx, "/virtual-accounts", body)
	if a.Outcome != provider.Confirmed {
		return provider.VirtualAccountAnswer{Answer: a}
	}
	expires := provider.Instant(opened.ExpiryDate)
	if expires.IsZero() {
		expires = asked.Add(r.ValidFor)
	}
	return provider.VirtualAccountAnswer{Answer: a, Account: opened.shown(p.bankCode), ExpiresAt: expires}
}

// ourAccount returns the bank's id of our account, which Statement needs.
func (p *Plug) ourAccount(ctx context.Context) (string, error) {
	p.mu.Lock()
	known := p.accountID
	p.mu.Unlock()
	if known != "" {
		return known, nil
	}
	err := p.accounts(ctx, false, func(a account) bool {
		if string(a.Number) == p.account {
			known = string(a.ID)
		}
		return known != ""
	})
	if err != nil {
		return "", err
	}
	if known == "" {
		return "", &provider.Error{Provider: p.Name(), Code: strconv.Itoa(http.StatusNotFound), Message: "our account is not in the list of accounts"}
	}
	p.mu.Lock()
	p.accountID = known
	p.mu.Unlock()
	return known, nil
}
