package sandbox

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/nuban"
)

// mainAccountID is the pretend bank's id of the client's own account.
const mainAccountID = "64cc00000000000000000001"

// clientName is what the accounts of the client begin with.
const clientName = "KOBO"

// conflict is a no that is about something that exists already.
type conflict string

func (c conflict) Error() string { return string(c) }

// settled answers a request for an account: a no in words, or what usual says.
func (s *Sandbox) settled(w http.ResponseWriter, err error, usual func()) {
	var no complaint
	var twice conflict
	switch {
	case errors.As(err, &no):
		s.decline(w, http.StatusBadRequest, string(no))
	case errors.As(err, &twice):
		refuse(w, http.StatusConflict, string(twice))
	case err != nil:
		broken(w)
	default:
		usual()
	}
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
	case a.CallbackURL != "" && !local(a.CallbackURL):
		return "callbackUrl must be on this machine in the sandbox"
	case a.AutoSweepDetails.AccountNumber != "" && a.AutoSweepDetails.AccountNumber != debitAccount:
		return "autoSweepDetails.accountNumber is not an account of this client"
	case a.IdentityType == "BVN":
		if len(a.IdentityNumber) != 11 || !digits(a.IdentityNumber) || a.Registration != "" {
			return "identityNumber must have 11 digits, and companyRegistrationNumber is for a company"
		}
		return ""
	case a.IdentityType == "vID":
		if strings.TrimSpace(a.Registration) == "" {
			return "companyRegistrationNumber is required"
		}
		return ""
	default:
		return "identityType must be one of BVN, vID"
	}
}

// openAccount is POST /accounts/v2/subaccount. The same request again shows the
// same account, and so does another one for a company that has an account; the
// same reference for something else is a conflict. Its story is what
// /sandbox/next-account has set.
func (s *Sandbox) openAccount(w http.ResponseWriter, r *http.Request) {
	var req accountRequest
	if !s.decode(w, r, &req) {
		return
	}
	if wrong := req.wrong(); wrong != "" {
		s.decline(w, http.StatusBadRequest, wrong)
		return
	}
	v := holder{
		kind: "person", reference: req.ExternalReference, callback: req.CallbackURL, createdAt: clock.Micros(s.clock.Now()),
		registration: strings.ToUpper(strings.TrimSpace(req.Registration)),
	}
	v.fingerprint = digest("account", strings.Join([]string{req.IdentityType, req.IdentityNumber, req.IdentityID, v.registration}, "\x00"))
	var told story
	ending, err := s.takeNext(r.Context(), nextAccount)
	if err == nil && told.tell(ending) && ending != definiteNo {
		err = s.enter(r.Context(), &v, req)
	}
	s.settled(w, err, func() {
		s.reply(w, r, told, "The account cannot be opened", func() { answer(w, "Sub account created successfully.", v.record()) })
	})
}

// enter opens an account in the books, or finds the one that was opened before.
func (s *Sandbox) enter(ctx context.Context, v *holder, req accountRequest) error {
	return s.books.Tx(ctx, func(q db.Querier) error {
		held, found, err := v.held(ctx, q)
		if err != nil || found {
			*v = held
			return err
		}
		owner, err := s.owner(ctx, q, req)
		if err != nil {
			return err
		}
		first, last := personName(owner.person)
		v.name = clientName + " / " + first + " " + last
		if v.registration != "" {
			v.kind, v.name = "company", clientName+" / "+last+" VENTURES "+v.registration
		}
		return s.number(ctx, q, v, 800_000_000)
	})
}

// held is the account that this request, or one for the same company, opened
// before.
func (v holder) held(ctx context.Context, q db.Querier) (holder, bool, error) {
	held, err := findHolder(ctx, q, v.reference)
	switch {
	case err == nil && held.fingerprint == v.fingerprint:
		return held, true, nil
	case err == nil:
		return v, false, conflict("Duplicate externalReference")
	case !errors.Is(err, db.ErrNone):
		return v, false, err
	case v.registration == "":
		return v, false, nil
	}
	held, err = registered(ctx, q, v.registration)
	if errors.Is(err, db.ErrNone) {
		return v, false, nil
	}
	return held, err == nil, err
}

// owner is who opens the account: a person by the OTP, which is used up here, or
// a signatory who was verified before.
func (s *Sandbox) owner(ctx context.Context, q db.Querier, req accountRequest) (identity, error) {
	if req.IdentityType == "BVN" {
		v, err := s.prove(ctx, q, req.IdentityID, req.OTP)
		if err != nil {
			return v, err
		}
		if v.person != person(req.IdentityNumber) {
			return v, complaint("identityNumber is not the one of this identity check")
		}
		return v, markIdentity(ctx, q, v.id, "used")
	}
	v, err := findIdentity(ctx, q, req.IdentityID)
	switch {
	case errors.Is(err, db.ErrNone):
		return v, complaint("Identity check not found")
	case err == nil && v.state != "verified":
		return v, complaint("This identity check is not validated")
	}
	return v, err
}

// tricky are the endings that tell a story. The pretend bank gives none of them
// to its own accounts.
var tricky = []string{
	definiteNo, doneAnswerLost, undoneAnswerLost, doneFault, undoneFault, pendingThenDone, pendingThenNo, pendingForEver, nobody,
}

// number gives an account the next free number and writes it down. The first
// million numbers are left to others: accounts that are adopted may have one.
func (s *Sandbox) number(ctx context.Context, q db.Querier, v *holder, series int64) error {
	serial, err := lastSerial(ctx, q)
	for err == nil {
		serial++
		if v.number, err = nuban.Make(bankCode, series+1_000_000+serial); err != nil {
			return err
		}
		if slices.Contains(tricky, v.number[8:]) {
			continue
		}
		v.serial, v.id = serial, newID()
		var added bool
		if added, err = addHolder(ctx, q, *v); added {
			return nil
		}
	}
	return err
}

func (v holder) record() map[string]any {
	at := clock.Text(clock.Time(v.createdAt))
	return map[string]any{
		"_id": v.id, "client": ibsClientID, "accountProduct": "61d0000000000000000000aa", "cbaAccountId": v.serial,
		"accountNumber": v.number, "accountName": v.name, "accountType": "Current", "currencyCode": "NGN", "bvn": nil,
		"accountBalance": 0, "bookBalance": 0, "status": "Active", "isDefault": v.kind == "main", "canDebit": true, "canCredit": true,
		"isSubAccount": v.kind != "main", "externalReference": v.reference, "callbackUrl": v.callback, "isDeleted": false,
		"createdAt": at, "updatedAt": at, "__v": 0,
	}
}

// listAccounts is GET /accounts.
func (s *Sandbox) listAccounts(w http.ResponseWriter, r *http.Request) {
	p, _, wrong := listed(r)
	sub := r.URL.Query().Get("isSubAccount")
	if wrong == "" && sub != "true" && sub != "false" {
		wrong = "isSubAccount must be true or false"
	}
	if wrong != "" {
		s.decline(w, http.StatusBadRequest, wrong)
		return
	}
	list, total, err := s.holders(r.Context(), sub == "true", p)
	if err != nil {
		broken(w)
		return
	}
	rows := make([]any, 0, len(list))
	for _, v := range list {
		rows = append(rows, v.record())
	}
	answerPage(w, "Accounts fetched successfully.", rows, total, p)
}

// showAccount is GET /accounts/{id}.
func (s *Sandbox) showAccount(w http.ResponseWriter, r *http.Request) {
	v, err := findHolder(r.Context(), s.books, r.PathValue("id"))
	if errors.Is(err, db.ErrNone) || err == nil && (v.id != r.PathValue("id") || v.kind == "virtual") {
		s.decline(w, http.StatusNotFound, "Account not found")
		return
	}
	s.settled(w, err, func() { answer(w, "Account fetched successfully.", v.record()) })
}

// Adopt makes the pretend bank know an account that was made without it, such as
// the one of a development company, so that it can be paid into and asked for by
// name. An empty callback means the client's default. It may be called again.
func (s *Sandbox) Adopt(ctx context.Context, number, name, callback string) error {
	if len(number) != 10 || !digits(number) || callback != "" && !local(callback) {
		return errors.New("sandbox: an account needs a number of ten digits and a callback URL on this machine")
	}
	return s.adopt(ctx, holder{
		number: number, id: digest("adopted", number)[:24], kind: "adopted", name: name, callback: callback,
		createdAt: clock.Micros(s.clock.Now()),
	})
}
