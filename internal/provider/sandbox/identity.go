package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
)

// Every OTP of the sandbox is the same, and none is accepted after a while.
const (
	rightOTP = "123456"
	otpLife  = 10 * time.Minute
)

// person stands for a BVN in the books, which do not keep it.
func person(bvn string) string { return digest("bvn", bvn) }

// newID is 24 hex digits, as upstream's ids are.
func newID() string { return digest("id", id.New())[:24] }

// decode reads a request's body; where that fails it has answered already.
func (s *Sandbox) decode(w http.ResponseWriter, r *http.Request, v any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, requestLimit)).Decode(v); err != nil {
		s.decline(w, http.StatusBadRequest, "The request body cannot be read")
		return false
	}
	return true
}

// initiate is POST /identity/v2: it begins a session and pretends to send an OTP.
// A session of the same person that was begun earlier stays as it is: another
// customer may be waiting with it.
func (s *Sandbox) initiate(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Type               string `json:"type"`
		Number             string `json:"number"`
		DebitAccountNumber string `json:"debitAccountNumber"`
	}
	if !s.decode(w, r, &req) {
		return
	}
	switch {
	case req.Type != "BVN":
		s.decline(w, http.StatusBadRequest, "type must be BVN here")
		return
	case len(req.Number) != 11 || !digits(req.Number):
		s.decline(w, http.StatusBadRequest, "number must have 11 digits")
		return
	case req.DebitAccountNumber != debitAccount:
		s.decline(w, http.StatusBadRequest, "debitAccountNumber is not an account of this client")
		return
	case strings.HasSuffix(req.Number, "0000"):
		s.decline(w, http.StatusBadRequest, "BVN could not be verified")
		return
	case strings.HasSuffix(req.Number, "0009"):
		refuse(w, http.StatusServiceUnavailable, "Service unavailable")
		return
	}
	v := identity{id: newID(), person: person(req.Number), state: "sent", createdAt: clock.Micros(s.clock.Now())}
	if err := s.addIdentity(r.Context(), v); err != nil {
		broken(w)
		return
	}
	// What the real one says here is not known. Without words of the provider the
	// contract's own are heard: "OTP sent", and "OTP re-sent" the next time.
	answer(w, "", v.record(v.createdAt))
}

func (v identity) record(updatedAt int64) map[string]any {
	return map[string]any{
		"_id": v.id, "clientId": ibsClientID, "type": "BVN", "amount": 0, "status": "SUCCESS", "debitAccountNumber": debitAccount,
		"vat": 0, "stampDuty": 0, "otpVerified": v.state != "sent", "otpResendCount": 0, "isDeleted": false,
		"createdAt": clock.Text(clock.Time(v.createdAt)), "updatedAt": clock.Text(clock.Time(updatedAt)), "__v": 0,
	}
}

// validate is POST /identity/v2/validate.
func (s *Sandbox) validate(w http.ResponseWriter, r *http.Request) {
	var req struct {
		IdentityID string `json:"identityId"`
		Type       string `json:"type"`
		OTP        string `json:"otp"`
	}
	if !s.decode(w, r, &req) {
		return
	}
	var v identity
	err := s.books.Tx(r.Context(), func(q db.Querier) error {
		var err error
		if v, err = s.prove(r.Context(), q, req.IdentityID, req.OTP); err != nil {
			return err
		}
		v.state = "verified"
		return markIdentity(r.Context(), q, v.id, v.state)
	})
	var no complaint
	switch {
	case errors.As(err, &no):
		s.decline(w, http.StatusBadRequest, string(no))
		return
	case err != nil:
		broken(w)
		return
	}
	record := v.record(clock.Micros(s.clock.Now()))
	first, last := personName(v.person)
	record["providerResponse"] = map[string]any{"firstName": first, "lastName": last, "dateOfBirth": "1990-01-01"}
	answer(w, "Identity verified", record)
}

// prove checks an OTP against a session that is still waiting for it.
func (s *Sandbox) prove(ctx context.Context, q db.Querier, session, otp string) (identity, error) {
	v, err := findIdentity(ctx, q, session)
	switch {
	case errors.Is(err, db.ErrNone):
		return v, complaint("Identity check not found")
	case err != nil:
		return v, err
	case v.state != "sent":
		return v, complaint("This identity check was validated before")
	case otp == "":
		return v, complaint("otp is required")
	case s.clock.Now().After(clock.Time(v.createdAt).Add(otpLife)):
		return v, complaint("The OTP has expired")
	case otp != rightOTP:
		return v, complaint("The OTP is not correct")
	}
	return v, nil
}

// showOTP is GET /sandbox/otp/{bvn}: what the phone would show.
func (s *Sandbox) showOTP(r *http.Request) (any, error) {
	v, err := s.newestIdentity(r.Context(), person(path.Base(strings.TrimSuffix(r.URL.Path, "/"))))
	if errors.Is(err, db.ErrNone) {
		return nil, complaint("No OTP was sent to this BVN")
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"status": "success", "otp": rightOTP,
		"sentAt": clock.Text(clock.Time(v.createdAt)), "expiresAt": clock.Text(clock.Time(v.createdAt).Add(otpLife)),
	}, nil
}
