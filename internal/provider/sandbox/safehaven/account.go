package safehaven

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// nextAccount is the name of the setting that stores the story (test scenario) for the next opening
// of an account.
const nextAccount = "next account"

var (
	errReference = errors.New("the externalReference stands for another account")
	errAdopted   = errors.New("sandbox: an account needs a number of ten digits and a callback URL on this machine")
)

// finish responds as Books.Finish does, except that a repeated externalReference is a conflict.
func (b *Bank) finish(w http.ResponseWriter, err error, usual func()) {
	if errors.Is(err, errReference) || errors.Is(err, books.ErrRepeated) {
		books.Refuse(w, http.StatusConflict, "Duplicate externalReference")
		return
	}
	b.Finish(w, err, usual)
}

type accountRequest struct {
	PhoneNumber       string `json:"phoneNumber"`
	EmailAddress      string `json:"emailAddress"`
	ExternalReference string `json:"externalReference"`
	IdentityType      string `json:"identityType"`
	IdentityNumber    string `json:"identityNumber"`
	IdentityID        string `json:"identityId"`
	OTP               string `json:"otp"`
	Registration      string `json:"companyRegistrationNumber"`
	CallbackURL       string `json:"callbackUrl"`
	AutoSweepDetails  struct {
		AccountNumber string `json:"accountNumber"`
	} `json:"autoSweepDetails"`
}

func (a accountRequest) wrong() string {
	switch {
	case len(a.ExternalReference) < 4 || len(a.ExternalReference) > 250:
		return "externalReference must have 4 to 250 characters"
	case len(a.PhoneNumber) < 7:
		return "phoneNumber is required"
	case !strings.Contains(a.EmailAddress, "@"):
		return "emailAddress must be an e-mail address"
	case a.CallbackURL != "" && !books.IsLocal(a.CallbackURL):
		return "callbackUrl must be on this machine in the sandbox"
	case a.AutoSweepDetails.AccountNumber != "" && a.AutoSweepDetails.AccountNumber != debitAccount:
		return "autoSweepDetails.accountNumber is not an account of this client"
	case a.IdentityType == "BVN":
		if len(a.IdentityNumber) != 11 || !books.IsDigits(a.IdentityNumber) || a.Registration != "" {
			return "identityNumber must have 11 digits, and companyRegistrationNumber is for a company"
		}
		return ""
	case a.IdentityType == "vID":
		return "" // without a companyRegistrationNumber, the account is for the person
	default:
		return "identityType must be one of BVN, vID"
	}
}

// openAccount handles POST /accounts/v2/subaccount. The request of a person contains an OTP, or refers
// to an identity check that was validated (vID). A repeated request returns the account of the
// first request. A request for a company that already has an account returns that account. A
// reference that belongs to a different account is a conflict. A request to /sandbox/next-account
// chooses the story (test scenario) in advance.
func (b *Bank) openAccount(w http.ResponseWriter, r *http.Request, req accountRequest) {
	if wrong := req.wrong(); wrong != "" {
		b.Decline(w, http.StatusBadRequest, wrong)
		return
	}
	v := holder{
		kind: "person", reference: req.ExternalReference, callback: req.CallbackURL, createdAt: b.Now(),
		registration: strings.ToUpper(strings.TrimSpace(req.Registration)),
	}
	parts := []string{req.IdentityType, req.IdentityNumber, req.IdentityID, v.registration}
	v.fingerprint = books.Digest("account", strings.Join(parts, "\x00"))
	var story books.Story
	ending, err := b.TakeNext(r.Context(), nextAccount)
	if err == nil && story.Begin(ending) && ending != books.DefiniteNo {
		err = b.register(r.Context(), &v, req)
	}
	b.finish(w, err, func() {
		b.Reply(w, r, story, "The account cannot be opened", func() { books.Answer(w, "Sub account created successfully.", v.record()) })
	})
}

// register opens an account, or returns the account that an earlier request opened.
func (b *Bank) register(ctx context.Context, v *holder, req accountRequest) error {
	return b.Tx(ctx, func(q db.Querier) error {
		held, found, err := v.held(ctx, q)
		if err == nil && found {
			held.owner, err = db.OrZero(owners.One(ctx, q, "id = $1", held.number))
		}
		if err != nil || found {
			*v = held
			return err
		}
		owner, err := b.owner(ctx, q, req)
		if err != nil {
			return err
		}
		first, last := books.PersonName(owner.person)
		v.name = clientName + " / " + first + " " + last
		if v.owner, err = ownerOf(ctx, q, owner); err != nil {
			return err
		}
		if v.registration != "" {
			v.kind, v.name = "company", clientName+" / "+last+" VENTURES "+v.registration
		}
		if err = v.assignNumber(ctx, q, 800_000_000+b.series); err != nil || v.kind != "person" {
			return err
		}
		v.owner.of = v.number
		return owners.Insert(ctx, q, v.owner)
	})
}

// held returns the account that an earlier request opened, if that request was identical or for the
// same company.
func (v holder) held(ctx context.Context, q db.Querier) (holder, bool, error) {
	held, err := findHolder(ctx, q, v.reference)
	switch {
	case err == nil && held.fingerprint == v.fingerprint:
		return held, true, nil
	case err == nil:
		return v, false, errReference
	case !errors.Is(err, db.ErrNone):
		return v, false, err
	case v.registration == "":
		return v, false, nil
	}
	held, err = holders.One(ctx, q, "registration = $1", v.registration)
	if errors.Is(err, db.ErrNone) {
		return v, false, nil
	}
	return held, err == nil, err
}

// owner returns the identity of the holder of a new account. A person's request contains an OTP,
// and owner marks the OTP as used. A company's signatory was verified in an earlier request.
func (b *Bank) owner(ctx context.Context, q db.Querier, req accountRequest) (identity, error) {
	if req.IdentityType == "BVN" {
		v, err := b.checkOTP(ctx, q, req.IdentityID, req.OTP)
		if err != nil {
			return v, err
		}
		if v.person != person(req.IdentityNumber) {
			return v, books.Complaint("identityNumber is not the one of this identity check")
		}
		return v, v.mark(ctx, q, "used")
	}
	v, err := identities.One(ctx, q, "id = $1", req.IdentityID)
	if err == nil && v.state != "verified" {
		err = books.Complaint("This identity check is not validated")
	}
	if err == nil && req.Registration == "" {
		err = v.mark(ctx, q, "used") // an identity check opens one account of a person
	}
	return v, books.OrNo(err, http.StatusBadRequest, "Identity check not found")
}

// assignNumber gives an account the next free number and inserts it. The first million numbers are
// reserved for accounts that Adopt registers.
func (v *holder) assignNumber(ctx context.Context, q db.Querier, series int64) error {
	serial, err := lastSerial(ctx, q)
	for err == nil {
		serial++
		if v.number, err = nuban.Make(bankCode, series+1_000_000+serial); err != nil {
			return err
		}
		if slices.Contains(books.Endings, v.number[8:]) {
			continue
		}
		v.serial, v.id = serial, books.NewID()
		var added bool
		if added, err = holders.Add(ctx, q, *v); added {
			return nil
		}
	}
	return err
}

func (v holder) record() map[string]any {
	at := books.Text(v.createdAt)
	return map[string]any{
		"_id": v.id, "client": ibsClientID, "accountProduct": "61d0000000000000000000aa", "cbaAccountId": v.serial,
		"accountNumber": v.number, "accountName": v.name, "accountType": "Current", "currencyCode": "NGN", "bvn": nil,
		"accountBalance": 0, "bookBalance": 0, "status": "Active", "isDefault": v.kind == "main", "canDebit": true, "canCredit": true,
		"isSubAccount": v.kind != "main", "externalReference": v.reference, "callbackUrl": v.callback, "isDeleted": false,
		"createdAt": at, "updatedAt": at, "__v": 0, "subAccountDetails": v.details(),
	}
}

// listAccounts handles GET /accounts. It lists the main account or the sub-accounts, oldest first.
func (b *Bank) listAccounts(w http.ResponseWriter, r *http.Request) {
	sub := r.URL.Query().Get("isSubAccount")
	left, err := b.Balance(r.Context(), debitAccount)
	if err != nil {
		books.Fail(w)
		return
	}
	show := func(v holder) map[string]any {
		out := v.record()
		if v.number == debitAccount {
			out["accountBalance"], out["bookBalance"] = left, left
		}
		return out
	}
	books.List(b.Books, w, r, "Accounts fetched successfully.", show, func(p books.Page, _ books.Span) ([]holder, int64, error) {
		if sub != "true" && sub != "false" {
			return nil, 0, books.Complaint("isSubAccount must be true or false")
		}
		list, total, err := holders.Page(r.Context(), b, p,
			"(kind <> 'main' AND $1 = 1) OR (kind = 'main' AND $1 = 0)", "serial, number", db.Flag(sub == "true"))
		if err == nil {
			err = b.named(r.Context(), list)
		}
		return list, total, err
	})
}
