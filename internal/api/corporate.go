package api

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/kobo-waas/kobo/internal/corporate"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/secret"
)

// typed returns a field that may be a string or a number as text. A number keeps the characters
// that the request contains.
func typed(raw json.RawMessage) secret.Text {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = strings.TrimSpace(string(raw))
	}
	return secret.NewText(s)
}

// InitiateCorporateKyc has the provider send a signatory an OTP.
func (h *handlers) InitiateCorporateKyc(ctx context.Context, r InitiateCorporateKycRequestObject) (InitiateCorporateKycResponseObject, error) {
	return answer(ctx, func(s corporate.Sent) (InitiateCorporateKyc200JSONResponse, error) {
		return InitiateCorporateKyc200JSONResponse{
			Status: "success", Message: s.Message, Data: KycSession{SessionID: s.SessionID, KycID: s.SessionID},
		}, nil
	}, func(key *idempotency.Key) (corporate.Sent, error) {
		return h.Corporate.Initiate(ctx, callOf(ctx).company, typed(r.Body.Bvn), key)
	})
}

// RetryCorporateOtp has the provider send another OTP. The body is not checked against rules. A
// body without a session_id gets the response of an internal error (wallet-api.md).
func (h *handlers) RetryCorporateOtp(ctx context.Context, r RetryCorporateOtpRequestObject) (RetryCorporateOtpResponseObject, error) {
	var session string
	if err := json.Unmarshal(r.Body.SessionID, &session); err != nil || string(r.Body.SessionID) == "null" {
		return nil, fault.New(fault.Internal, "retry-otp without a session_id").Because(err)
	}
	return answer(ctx, func(s corporate.Sent) (RetryCorporateOtp200JSONResponse, error) {
		return RetryCorporateOtp200JSONResponse{Status: "success", Message: s.Message, Data: RetriedSession{SessionID: s.SessionID}}, nil
	}, func(key *idempotency.Key) (corporate.Sent, error) {
		return h.Corporate.Resend(ctx, callOf(ctx).company, session, key)
	})
}

// ValidateCorporateKyc checks the OTP that the signatory received. If session_id is absent,
// kyc_id contains the id of the OTP session.
func (h *handlers) ValidateCorporateKyc(ctx context.Context, r ValidateCorporateKycRequestObject) (ValidateCorporateKycResponseObject, error) {
	session := cmp.Or(r.Body.SessionID, r.Body.KycID)
	if session == "" {
		f := fault.New(fault.Invalid, "Validation error")
		f.Details, f.Extra = []string{`"session_id" is required`}, map[string]any{"fields": []string{"session_id"}}
		return nil, f
	}
	return answer(ctx, func(k corporate.KYC) (ValidateCorporateKyc200JSONResponse, error) {
		return ValidateCorporateKyc200JSONResponse{Status: "success", Message: "BVN OTP validated", Data: KycRecord{KycID: k.ID}}, nil
	}, func(key *idempotency.Key) (corporate.KYC, error) {
		return h.Corporate.Validate(ctx, callOf(ctx).company, session, typed(r.Body.Otp), key)
	})
}

// GenerateCorporateAccount opens the company's own bank account.
func (h *handlers) GenerateCorporateAccount(ctx context.Context, r GenerateCorporateAccountRequestObject) (GenerateCorporateAccountResponseObject, error) {
	return answer(ctx, func(a corporate.Account) (GenerateCorporateAccount200JSONResponse, error) {
		return GenerateCorporateAccount200JSONResponse{Status: "success", Message: "COOP subaccount created", Data: a}, nil
	}, func(key *idempotency.Key) (corporate.Account, error) {
		return h.Corporate.GenerateAccount(ctx, corporate.Request{
			Company: callOf(ctx).company, KYCID: r.Body.KycID, PhoneNumber: r.Body.PhoneNumber, EmailAddress: r.Body.EmailAddress,
			RNNumber: r.Body.RnNumber, SettlementID: r.Body.SettlementID, Key: key,
		})
	})
}
