package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/nuban"
)

// The recipes of kobo trigger that take several steps.

// digits are ten digits that no earlier call returned.
func digits() string { return fmt.Sprintf("%010d", time.Now().UnixMicro()%1e10) }

// pay sends a payout to an account number with this ending.
func (d *developer) pay(ctx context.Context, ending string) (reference string, err error) {
	var banks []struct{ Code string }
	if err := d.api(ctx, http.MethodGet, "/api/v1/settlement/banks", nil, &banks); err != nil {
		return "", err
	}
	if len(banks) == 0 {
		return "", errors.New("no banks are known")
	}
	account, err := beneficiary(banks[0].Code, ending)
	if err != nil {
		return "", err
	}
	var checked struct{ Data struct{ ID string } }
	err = d.api(ctx, http.MethodPost, "/api/v1/settlement/validate-account", map[string]any{
		"bank_code": banks[0].Code, "account_number": account, "pin": d.PIN, "fromSettlementId": d.SettlementID,
	}, &checked.Data)
	if err != nil {
		return "", err
	}
	return checked.Data.ID, refusable(ending, d.api(ctx, http.MethodPost, "/api/v1/settlement/send-payout", map[string]any{
		"verify_id": checked.Data.ID, "amount": 1500, "narration": "kobo trigger",
	}, nil))
}

// beneficiary is an account number of a bank, with this ending.
func beneficiary(bank, ending string) (string, error) {
	for serial := int64(12_345_670); serial < 12_345_670+10_000; serial++ {
		number, err := nuban.Make(bank, serial)
		if err != nil || number[8:] == ending {
			return number, err
		}
	}
	return "", errors.New("the bank has no such account number")
}

func payOut(ending string) recipe {
	return func(ctx context.Context, d *developer) error {
		_, err := d.pay(ctx, ending)
		return err
	}
}

// payOutAndBack sends a payout that the other bank returns.
func payOutAndBack(ctx context.Context, d *developer) error {
	reference, err := d.pay(ctx, "10")
	if err == nil {
		err = d.sandbox(ctx, "reverse", map[string]string{"reference": reference}, nil)
	}
	return err
}

// virtualAccount creates a virtual account. Its payment comes in time, late, or never.
func virtualAccount(inTime, late bool) recipe {
	return func(ctx context.Context, d *developer) error {
		var v struct{ AccountNumber string }
		err := d.api(ctx, http.MethodPost, "/api/v1/virtual-account/generate", map[string]any{
			"amount": 2500, "externalReference": "trigger-" + id.New(), "validFor": 300, "settlementId": d.SettlementID,
		}, &v)
		if err == nil && !inTime {
			err = d.advance(ctx, "10m")
		}
		if err == nil && (inTime || late) {
			err = d.credit(ctx, v.AccountNumber, 2500)
		}
		return err
	}
}

// customer creates a customer with an address, which cards need.
func (d *developer) customer(ctx context.Context) (customerID string, err error) {
	var c struct{ ID string }
	n := digits()
	err = d.api(ctx, http.MethodPost, "/api/v1/customer/create", map[string]any{
		"firstName": "Ada", "lastName": "Sample", "email": "ada." + n + "@example.com", "phoneNumber": "0803" + n[3:],
		"bvn": "2" + n[:8] + "11", "dateOfBirth": "1990-05-17",
		"address": map[string]string{"line1": "1 Marina", "city": "Lagos", "state": "Lagos"},
	}, &c)
	return c.ID, err
}

// customerAccount gives a new customer a bank account.
func (d *developer) customerAccount(ctx context.Context) (customerID string, err error) {
	if customerID, err = d.customer(ctx); err != nil {
		return "", err
	}
	return customerID, d.api(ctx, http.MethodPost, "/api/v1/customer/generate-account",
		map[string]any{"customerId": customerID, "otp": "123456", "settlementId": d.SettlementID}, nil)
}

func customerCredit(ctx context.Context, d *developer) error {
	customerID, err := d.customerAccount(ctx)
	if err != nil {
		return err
	}
	var c struct {
		BankAccount struct{ AccountNumber string }
	}
	if err := d.api(ctx, http.MethodGet, "/api/v1/customer/"+customerID, nil, &c); err != nil {
		return err
	}
	return d.credit(ctx, c.BankAccount.AccountNumber, 750)
}

// card issues a card to a new customer.
func (d *developer) card(ctx context.Context) (cardID string, err error) {
	customerID, err := d.customerAccount(ctx)
	if err != nil {
		return "", err
	}
	var c struct{ CardID string }
	err = d.api(ctx, http.MethodPost, "/api/v1/card/generate-card", map[string]any{"customerId": customerID, "type": "virtual"}, &c)
	return c.CardID, err
}

// fundCard puts money on a new card. The last digits of the amount choose the story.
func fundCard(naira int) recipe {
	return func(ctx context.Context, d *developer) error {
		cardID, err := d.card(ctx)
		if err != nil {
			return err
		}
		ending := strconv.Itoa(naira % 100)
		if ending == "0" {
			ending = "10"
		}
		return refusable(ending, d.api(ctx, http.MethodPost, "/api/v1/card/fund-card", map[string]any{"cardId": cardID, "amount": naira}, nil))
	}
}

// coin is a deposit of one coin to a new address.
func (d *developer) coin(ctx context.Context) (send map[string]any, err error) {
	var networks []struct{ ID, NativeAsset string }
	if err := d.api(ctx, http.MethodGet, "/api/v1/crypto/networks", nil, &networks); err != nil {
		return nil, err
	}
	if len(networks) == 0 {
		return nil, errors.New("no networks are known")
	}
	var a struct{ Address string }
	err = d.api(ctx, http.MethodPost, "/api/v1/crypto/generate-address/"+networks[0].ID, map[string]any{}, &a)
	return map[string]any{"address": a.Address, "asset": networks[0].NativeAsset, "amount": json.Number("1")}, err
}

// onChain moves a coin to or from a new address. A move that is not confirmed may be
// dropped by the chain. Kobo looks for a dropped one several times before it gives up.
func onChain(move string, confirmed, dropped bool) recipe {
	return func(ctx context.Context, d *developer) error {
		send, err := d.coin(ctx)
		if err != nil {
			return err
		}
		send["confirmed"] = confirmed
		var sent struct{ Data struct{ TxHash string } }
		err = d.sandbox(ctx, move, send, &sent)
		if err != nil || !dropped {
			return err
		}
		err = d.sandbox(ctx, "crypto-drop", map[string]string{"txHash": sent.Data.TxHash}, nil)
		for range 6 {
			if err == nil {
				err = d.advance(ctx, "10m")
			}
		}
		return err
	}
}

// lowBalance sets the alert to the balance, and buys something.
func lowBalance(ctx context.Context, d *developer) error {
	var accounts []struct {
		ID                  int64
		Balance, LowBalance json.Number
	}
	if err := d.api(ctx, http.MethodGet, "/api/v1/settlement/accounts", nil, &accounts); err != nil {
		return err
	}
	for _, a := range accounts {
		if a.ID != d.SettlementID {
			continue
		}
		alert := fmt.Sprintf("/api/v1/settlement/accounts/%d/alert", a.ID)
		err := d.api(ctx, http.MethodPost, alert, map[string]any{"lowBalance": a.Balance}, nil)
		if err == nil {
			err = buy("10")(ctx, d)
		}
		if err != nil {
			return err
		}
		var before any // the earlier alert
		if a.LowBalance != "" {
			before = a.LowBalance
		}
		return d.api(ctx, http.MethodPost, alert, map[string]any{"lowBalance": before}, nil)
	}
	return errors.New("the settlement account of the credentials is not the company's")
}

// kybChanged is the kind that cannot happen to the development company.
const kybChanged = "kyb.changed"

// newcomer is a new company, created with the admin key.
func (d *developer) newcomer(ctx context.Context) (*developer, error) {
	other := &developer{Credentials: d.Credentials, http: d.http}
	var made struct{ Reference, APIKey string }
	err := d.admin(ctx, "companies", map[string]string{"name": "Kobo Trigger"}, &made)
	other.Reference, other.APIKey = made.Reference, made.APIKey
	return other, err
}

// takeOn verifies the company as an operator. Each step is an event.
func takeOn(ctx context.Context, d *developer) error {
	for _, status := range []string{"IN_PROGRESS", "SUBMITTED", "APPROVED"} {
		if err := d.admin(ctx, "companies/"+d.Reference+"/kyb", map[string]string{"status": status}, nil); err != nil {
			return err
		}
	}
	return d.admin(ctx, "companies/"+d.Reference+"/live", map[string]bool{"live": true}, nil)
}

// kyc verifies a signatory.
func (d *developer) kyc(ctx context.Context) (kycID string, err error) {
	var session struct {
		SessionID string `json:"session_id"`
	}
	if err := d.api(ctx, http.MethodPost, "/api/v1/coop/initiate-kyc", map[string]string{"bvn": "2" + digits()[:8] + "22"}, &session); err != nil {
		return "", err
	}
	var record struct {
		KYCID string `json:"kyc_id"`
	}
	err = d.api(ctx, http.MethodPost, "/api/v1/coop/validate-kyc", map[string]string{"session_id": session.SessionID, "otp": "123456"}, &record)
	return record.KYCID, err
}

func corporateAccount(ctx context.Context, d *developer) error {
	return d.corporateAccount(ctx, "RC"+digits())
}

// heldAccount requests the account of one registration number twice.
func heldAccount(ctx context.Context, d *developer) error {
	registration := "RC" + digits()
	if err := d.corporateAccount(ctx, registration); err != nil {
		return err
	}
	return d.corporateAccount(ctx, registration)
}

func (d *developer) corporateAccount(ctx context.Context, registration string) error {
	kycID, err := d.kyc(ctx)
	if err != nil {
		return err
	}
	return d.api(ctx, http.MethodPost, "/api/v1/coop/generate-account", map[string]any{
		"phoneNumber": "08031234510", "emailAddress": "ada@example.com", "rn_number": registration, "kyc_id": kycID, "settlementId": d.SettlementID,
	}, nil)
}
