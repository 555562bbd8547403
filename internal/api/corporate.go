package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/secret"
)

// answering tells the request's Idempotency-Key, if it has one, how the answer
// looks, so that the commit which decides the request can store it. Shape makes
// the 200 of the business's result.
func answering[R any](ctx context.Context, shape func(R) func(http.ResponseWriter) error) *idempotency.Key {
	c, key := callOf(ctx), keyOf(ctx)
	key.Render(func(result any, err error) idempotency.Answer {
		var visit func(http.ResponseWriter) error
		if err == nil {
			visit = shape(result.(R))
		}
		return render(c.op.family, visit, err)
	})
	return key
}

// typed is what somebody typed, in a field that takes a text or a number: its
// characters.
func typed(raw json.RawMessage) secret.Text {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = strings.TrimSpace(string(raw))
	}
	return secret.NewText(s)
}

// InitiateCorporateKyc has an OTP sent to a signatory.
func (h *handlers) InitiateCorporateKyc(ctx context.Context, r InitiateCorporateKycRequestObject) (InitiateCorporateKycResponseObject, error) {
	shape := func(s corporate.Sent) InitiateCorporateKyc200JSONResponse {
		return InitiateCorporateKyc200JSONResponse{
			Status: "success", Message: s.Message, Data: KycSession{SessionID: s.SessionID, KycID: s.SessionID},
		}
	}
	key := answering(ctx, func(s corporate.Sent) func(http.ResponseWriter) error {
		return shape(s).VisitInitiateCorporateKycResponse
	})
	sent, err := h.Corporate.Initiate(ctx, callOf(ctx).company, typed(r.Body.Bvn), key)
	if err != nil {
		return nil, err
	}
	return shape(sent), nil
}

// RetryCorporateOtp has another OTP sent. Its body is not held against rules,
// and one without a session is our own mistake (wallet-api.md).
func (h *handlers) RetryCorporateOtp(ctx context.Context, r RetryCorporateOtpRequestObject) (RetryCorporateOtpResponseObject, error) {
	var session string
	if err := json.Unmarshal(r.Body.SessionID, &session); err != nil || string(r.Body.SessionID) == "null" {
		return nil, fault.New(fault.Internal, "retry-otp without a session_id").Because(err)
	}
	shape := func(s corporate.Sent) RetryCorporateOtp200JSONResponse {
		return RetryCorporateOtp200JSONResponse{Status: "success", Message: s.Message, Data: RetriedSession{SessionID: s.SessionID}}
	}
	key := answering(ctx, func(s corporate.Sent) func(http.ResponseWriter) error {
		return shape(s).VisitRetryCorporateOtpResponse
	})
	sent, err := h.Corporate.Resend(ctx, callOf(ctx).company, session, key)
	if err != nil {
		return nil, err
	}
	return shape(sent), nil
}

// ValidateCorporateKyc gives an OTP back. kyc_id stands for a session_id that is
// absent.
func (h *handlers) ValidateCorporateKyc(ctx context.Context, r ValidateCorporateKycRequestObject) (ValidateCorporateKycResponseObject, error) {
	session := r.Body.SessionID
	if session == "" {
		session = r.Body.KycID
	}
	if session == "" {
		f := fault.New(fault.Invalid, "Validation error")
		f.Details, f.Extra = []string{`"session_id" is required`}, map[string]any{"fields": []string{"session_id"}}
		return nil, f
	}
	shape := func(k corporate.KYC) ValidateCorporateKyc200JSONResponse {
		return ValidateCorporateKyc200JSONResponse{Status: "success", Message: "BVN OTP validated", Data: KycRecord{KycID: k.ID}}
	}
	key := answering(ctx, func(k corporate.KYC) func(http.ResponseWriter) error {
		return shape(k).VisitValidateCorporateKycResponse
	})
	k, err := h.Corporate.Validate(ctx, callOf(ctx).company, session, typed(r.Body.Otp), key)
	if err != nil {
		return nil, err
	}
	return shape(k), nil
}

// GenerateCorporateAccount opens the company's own bank account.
func (h *handlers) GenerateCorporateAccount(ctx context.Context, r GenerateCorporateAccountRequestObject) (GenerateCorporateAccountResponseObject, error) {
	shape := func(a corporate.Account) GenerateCorporateAccount200JSONResponse {
		return GenerateCorporateAccount200JSONResponse{Status: "success", Message: "COOP subaccount created", Data: a}
	}
	key := answering(ctx, func(a corporate.Account) func(http.ResponseWriter) error {
		return shape(a).VisitGenerateCorporateAccountResponse
	})
	a, err := h.Corporate.GenerateAccount(ctx, corporate.Request{
		Company: callOf(ctx).company, KYCID: r.Body.KycID, PhoneNumber: r.Body.PhoneNumber, EmailAddress: r.Body.EmailAddress,
		RNNumber: r.Body.RnNumber, SettlementID: r.Body.SettlementID, Key: key,
	})
	if err != nil {
		return nil, err
	}
	return shape(a), nil
}
