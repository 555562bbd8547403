package safehaven

import (
	"context"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// These constants are the only OTP that the sandbox accepts, and the lifetime of an OTP.
const (
	rightOTP = "123456"
	otpLife  = 10 * time.Minute
)

// person returns the digest of a BVN, which the sandbox stores in place of the BVN.
func person(bvn string) string { return books.Digest("bvn", bvn) }

type identityRequest struct {
	Type               string `json:"type"`
	Number             string `json:"number"`
	DebitAccountNumber string `json:"debitAccountNumber"`
}

// startIdentity handles POST /identity/v2. It starts an OTP session, as if an OTP had been sent.
// Earlier OTP sessions of the same person stay valid, since several customers may have the same BVN
// and verify it at the same time.
func (b *Bank) startIdentity(w http.ResponseWriter, r *http.Request, req identityRequest) {
	wrong := ""
	switch {
	case req.Type != "BVN":
		wrong = "type must be BVN here"
	case len(req.Number) != 11 || !books.IsDigits(req.Number):
		wrong = "number must have 11 digits"
	case req.DebitAccountNumber != debitAccount:
		wrong = "debitAccountNumber is not an account of this client"
	case strings.HasSuffix(req.Number, "0000"):
		wrong = "BVN could not be verified"
	case strings.HasSuffix(req.Number, "0009"):
		books.Refuse(w, http.StatusServiceUnavailable, "Service unavailable")
		return
	}
	if wrong != "" {
		b.Decline(w, http.StatusBadRequest, wrong)
		return
	}
	v := identity{id: books.NewID(), person: person(req.Number), state: "sent", createdAt: b.Now()}
	// The message in the real bank's response is not known, so this response has an empty message.
	// Kobo's API then responds with the messages of its own contract: "OTP sent" for the first OTP,
	// and "OTP re-sent" for a further OTP.
	b.Finish(w, identities.Insert(r.Context(), b, v), func() { books.Answer(w, "", v.record(v.createdAt)) })
}

func (v identity) record(updatedAt int64) map[string]any {
	return map[string]any{
		"_id": v.id, "clientId": ibsClientID, "type": "BVN", "amount": 0, "status": "SUCCESS", "debitAccountNumber": debitAccount,
		"vat": 0, "stampDuty": 0, "otpVerified": v.state != "sent", "otpResendCount": 0, "isDeleted": false,
		"createdAt": books.Text(v.createdAt), "updatedAt": books.Text(updatedAt), "__v": 0,
	}
}

type otpRequest struct {
	IdentityID string `json:"identityId"`
	Type       string `json:"type"`
	OTP        string `json:"otp"`
}

// validateIdentity handles POST /identity/v2/validate.
func (b *Bank) validateIdentity(w http.ResponseWriter, r *http.Request, req otpRequest) {
	var v identity
	var of owner
	err := b.Tx(r.Context(), func(q db.Querier) (err error) {
		if v, err = b.checkOTP(r.Context(), q, req.IdentityID, req.OTP); err != nil {
			return err
		}
		if of, err = ownerOf(r.Context(), q, v); err != nil {
			return err
		}
		return v.mark(r.Context(), q, "verified")
	})
	b.Finish(w, err, func() {
		record := v.record(b.Now())
		record["providerResponse"] = map[string]any{"firstName": of.first, "lastName": of.last, "dateOfBirth": "1990-01-01"}
		books.Answer(w, "Identity verified", record)
	})
}

// checkOTP checks whether an OTP is correct for an OTP session. It returns the identity check that
// this session belongs to.
func (b *Bank) checkOTP(ctx context.Context, q db.Querier, session, otp string) (identity, error) {
	v, err := identities.One(ctx, q, "id = $1", session)
	switch {
	case err != nil:
		return v, books.OrNo(err, http.StatusBadRequest, "Identity check not found")
	case v.state != "sent":
		return v, books.Complaint("This identity check was validated before")
	case otp == "":
		return v, books.Complaint("otp is required")
	case b.Clock.Now().After(clock.Time(v.createdAt).Add(otpLife)):
		return v, books.Complaint("The OTP has expired")
	case otp != rightOTP:
		return v, books.Complaint("The OTP is not correct")
	}
	return v, nil
}

// showOTP handles GET /sandbox/otp/{bvn}. It returns the OTP that the person's phone would show.
func (b *Bank) showOTP(r *http.Request) (any, error) {
	of := person(path.Base(strings.TrimSuffix(r.URL.Path, "/")))
	v, err := identities.One(r.Context(), b, "person = $1 ORDER BY created_at DESC, id LIMIT 1", of)
	if err != nil {
		return nil, books.OrNo(err, http.StatusBadRequest, "No OTP was sent to this BVN")
	}
	return map[string]any{
		"status": "success", "otp": rightOTP,
		"sentAt": books.Text(v.createdAt), "expiresAt": clock.Text(clock.Time(v.createdAt).Add(otpLife)),
	}, nil
}
