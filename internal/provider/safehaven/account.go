package safehaven

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// subAccount is the body of a new account; which of the identity's fields are
// sent makes it a person's or a company's.
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
	// What is paid into the account goes on to ours, from which payouts are made.
	AutoSweep        bool  `json:"autoSweep"`
	AutoSweepDetails sweep `json:"autoSweepDetails"`
}

type sweep struct {
	Schedule      string `json:"schedule"`
	AccountNumber string `json:"accountNumber"`
}

// OpenAccount opens a sub-account. A person's identity is validated by this very
// call (BVN and OTP, of a session that was only started); a company's signatory
// was validated before (vID).
func (p *Plug) OpenAccount(ctx context.Context, r provider.AccountRequest) provider.AccountAnswer {
	body := subAccount{
		PhoneNumber: international(r.Phone), EmailAddress: r.Email, ExternalReference: r.Reference, IdentityID: r.IdentitySession,
		CallbackURL: r.CallbackURL, AutoSweep: true, AutoSweepDetails: sweep{"Instant", p.account},
	}
	if r.Corporate {
		body.IdentityType, body.CompanyRegistrationNumber = "vID", r.CompanyRegistration
	} else {
		body.IdentityType, body.IdentityNumber, body.OTP = "BVN", r.IdentityNumber.Reveal(), r.OTP.Reveal()
	}
	opened, a := p.open(ctx, "/accounts/v2/subaccount", body)
	return provider.AccountAnswer{Answer: a, Account: opened.shown(p.bankCode)}
}

// open opens an account of either kind. Unless Confirmed, the account is empty.
func (p *Plug) open(ctx context.Context, path string, body any) (account, provider.Answer) {
	var opened account
	a := judge(p.once(ctx, path, body), func(e envelope) claim {
		e.into(&opened) // without data nothing is claimed
		return opened.claim()
	})
	if a.Outcome != provider.Confirmed {
		opened = account{}
	}
	return opened, a
}

// account is one as it is opened and listed.
type account struct {
	ID                text `json:"_id"`
	Number            text `json:"accountNumber"`
	Name              text `json:"accountName"`
	BankCode          text `json:"bankCode"`
	ExternalReference text `json:"externalReference"`
	ExpiryDate        text `json:"expiryDate"`
}

// claim: an account number is the proof that there is an account.
func (a account) claim() claim {
	if a.Number == "" {
		return claim{}
	}
	return claim{reference: string(a.ID), word: "opened", done: true}
}

func (a account) shown(bankCode string) provider.Account {
	if a.Number == "" {
		return provider.Account{}
	}
	return provider.Account{
		Number: string(a.Number), Name: string(a.Name), BankName: bankName, BankCode: provider.First(a.BankCode, text(bankCode)), ProviderID: string(a.ID),
	}
}

// international is a Nigerian phone number as they want it, +234….
func international(phone string) string {
	phone = strings.NewReplacer(" ", "", "-", "").Replace(phone)
	switch {
	case len(phone) == 11 && phone[0] == '0':
		return "+234" + phone[1:]
	case len(phone) == 13 && strings.HasPrefix(phone, "234"):
		return "+" + phone
	}
	return phone
}

// pageSize is the longest page that they give, and lastPage where we stop
// turning pages of a list that has no end.
const (
	pageSize = 100
	lastPage = 100_000
)

// FindAccount looks for an account by our reference. They have no call that asks
// by it, so the list of sub-accounts is read to its end: only then is it missing.
func (p *Plug) FindAccount(ctx context.Context, reference string) provider.AccountAnswer {
	var out provider.AccountAnswer
	err := p.accounts(ctx, true, func(a account) bool {
		if string(a.ExternalReference) != reference || a.Number == "" {
			return false
		}
		out.Answer = provider.Answer{Outcome: provider.Confirmed, Code: "found", Reference: string(a.ID)}
		out.Account = a.shown(p.bankCode)
		return true
	})
	switch {
	case err != nil: // what happened while we asked says nothing about the account
		out.Answer = provider.Answer{Code: err.Code, Message: err.Message}
	case out.Outcome != provider.Confirmed:
		out.Answer = provider.Answer{Code: "404", Missing: true}
	}
	return out
}

// accounts shows accounts to found until it says that it has seen enough.
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
	return &provider.Error{Provider: p.Name(), Code: provider.CodeUnreadable, Message: "the list has no end"}
}

func paging(page int) string {
	return "&page=" + strconv.Itoa(page) + "&limit=" + strconv.Itoa(pageSize)
}

// more tells whether a page may be followed by another: by the number of pages
// where it is told, otherwise unless this one is empty. A page that is not full
// proves nothing: they may give fewer rows than were asked for.
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

// defaultValidity is theirs, said aloud.
const defaultValidity = 15 * time.Minute

// OpenVirtualAccount opens an account for one payment, which goes on to ours.
// They name it themselves: AccountName is not sent.
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

// ourAccount is their id of our account, which a statement is asked for by.
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
		return "", &provider.Error{Provider: p.Name(), Code: strconv.Itoa(http.StatusNotFound), Message: "our account is not among theirs"}
	}
	p.mu.Lock()
	p.accountID = known
	p.mu.Unlock()
	return known, nil
}
