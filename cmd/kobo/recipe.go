package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/nuban"
)

// script runs the steps of a recipe. After the first error it skips all further steps. The field
// err stores that error.
type script struct {
	*developer
	ctx context.Context
	err error
}

func (s *script) step(do func() error) {
	if s.err == nil {
		s.err = do()
	}
}

func (s *script) fail(text string) { s.step(func() error { return errors.New(text) }) }

// call sends a request to the API as the company.
func (s *script) call(method, path string, body, data any) {
	s.step(func() error { return s.api(s.ctx, method, "/api/v1/"+path, body, data) })
}

func (s *script) get(path string, data any)        { s.call(http.MethodGet, path, nil, data) }
func (s *script) post(path string, body, data any) { s.call(http.MethodPost, path, body, data) }

// order posts an order that moves money, such as a purchase. The ending of the phone or account
// number chooses what the sandbox does. With an ending other than 10, the provider may refuse the
// order, and order does not treat that refusal as an error.
func (s *script) order(ending, path string, body any) {
	s.step(func() error {
		err := s.api(s.ctx, http.MethodPost, "/api/v1/"+path, body, nil)
		var no refusal
		if ending != "10" && errors.As(err, &no) && no.status == http.StatusBadRequest {
			return nil
		}
		return err
	})
}

// operate posts a request to the operators' API, as admin does.
func (s *script) operate(path string, body, data any) { s.admin(http.MethodPost, path, body, data) }

// admin sends a request to the operators' API with the admin key of the credentials. If a second
// operator must approve, admin does that with the second admin key.
func (s *script) admin(method, path string, body, data any) {
	if s.AdminKey == "" {
		s.fail("the credentials hold no admin key")
	}
	envelope := struct{ Data any }{data}
	s.step(func() error {
		err := s.ask(s.ctx, method, "/admin/v1/"+path, body, &envelope, "Authorization", "Bearer "+s.AdminKey)
		var waits refusal
		if !errors.As(err, &waits) || waits.status != http.StatusAccepted {
			return err
		}
		var proposal struct{ Data struct{ ProposalID string } }
		if err := json.Unmarshal([]byte(waits.body), &proposal); err != nil {
			return err
		}
		approve := "/admin/v1/proposals/" + proposal.Data.ProposalID + "/approve"
		return s.ask(s.ctx, http.MethodPost, approve, nil, &envelope, "Authorization", "Bearer "+s.SecondAdminKey)
	})
}

// simulate sends a request to the simulated providers. Only a sandbox has this API.
func (s *script) simulate(path string, body, answer any) {
	var with []string
	if s.SandboxToken != "" {
		with = []string{"Authorization", "Bearer " + s.SandboxToken}
	}
	s.step(func() error { return s.ask(s.ctx, http.MethodPost, "/sandbox/"+path, body, answer, with...) })
}

func (s *script) advance(by string) {
	s.simulate("clock", map[string]string{"advance": by}, nil)
}

// credit simulates an incoming payment to an account.
func (s *script) credit(account string, naira int) {
	s.simulate("credit", map[string]any{
		"accountNumber": account, "amount": naira, "senderName": "BOLA SAMPLE", "narration": "kobo trigger",
	}, nil)
}

func paidIn(s *script) { s.credit(s.SettlementAccountNumber, 500) }

// buy returns a recipe that buys the first data bundle for a phone number with this ending.
func buy(ending string) recipe {
	type service struct{ ServiceID, ServiceName string }
	return func(s *script) {
		var services []service
		s.get("vtu/services", &services)
		at := slices.IndexFunc(services, func(one service) bool { return one.ServiceName == "Data" })
		if at < 0 {
			s.fail("no data is on sale")
			return
		}
		var categories []struct{ ServiceCategoryID string }
		s.get("vtu/service/"+services[at].ServiceID+"/categories", &categories)
		for _, c := range categories {
			var products []struct{ CategoryProductID string }
			s.get("vtu/category/"+c.ServiceCategoryID+"/products", &products)
			if len(products) > 0 {
				s.order(ending, "vtu/purchase-data", map[string]any{
					"idempotencyKey": "trigger-" + id.New(), "serviceCategoryId": c.ServiceCategoryID, "productId": products[0].CategoryProductID,
					"phoneNumber": "080312345" + ending, "settlementId": s.SettlementID,
				})
				return
			}
		}
		s.fail("no data bundle is on sale")
	}
}

// digits returns ten digits that are different at each call.
func digits() string { return fmt.Sprintf("%010d", time.Now().UnixMicro()%1e10) }

// pay sends a payout to an account number with this ending, and returns the payout's reference.
func (s *script) pay(ending string) string {
	var banks []struct{ Code string }
	s.get("settlement/banks", &banks)
	if len(banks) == 0 {
		s.fail("no banks are known")
		return ""
	}
	var checked struct{ Data struct{ ID string } }
	s.post("settlement/validate-account", map[string]any{
		"bank_code": banks[0].Code, "account_number": s.beneficiary(banks[0].Code, ending), "pin": s.PIN, "fromSettlementId": s.SettlementID,
	}, &checked.Data)
	s.order(ending, "settlement/send-payout", map[string]any{
		"verify_id": checked.Data.ID, "amount": 1500, "narration": "kobo trigger",
	})
	return checked.Data.ID
}

// beneficiary returns a valid account number of a bank, with this ending.
func (s *script) beneficiary(bank, ending string) string {
	for serial := int64(12_345_670); serial < 12_345_670+10_000; serial++ {
		number, err := nuban.Make(bank, serial)
		if s.step(func() error { return err }); err != nil || number[8:] == ending {
			return number
		}
	}
	s.fail("the bank has no such account number")
	return ""
}

func payOut(ending string) recipe { return func(s *script) { s.pay(ending) } }

// payOutAndBack sends a payout that the beneficiary's bank returns later.
func payOutAndBack(s *script) {
	s.simulate("reverse", map[string]string{"reference": s.pay("10")}, nil)
}

// virtualAccount returns a recipe that creates a virtual account. The customer pays into the
// account in time, late, or never.
func virtualAccount(inTime, late bool) recipe {
	return func(s *script) {
		var v struct{ AccountNumber string }
		s.post("virtual-account/generate", map[string]any{
			"amount": 2500, "externalReference": "trigger-" + id.New(), "validFor": 300, "settlementId": s.SettlementID,
		}, &v)
		if !inTime {
			s.advance("10m")
		}
		if inTime || late {
			s.credit(v.AccountNumber, 2500)
		}
	}
}

// customer creates a customer and returns its id. The customer has an address, because a card
// needs an address.
func (s *script) customer() string {
	var c struct{ ID string }
	n := digits()
	s.post("customer/create", map[string]any{
		"firstName": "Ada", "lastName": "Sample", "email": "ada." + n + "@example.com", "phoneNumber": "0803" + n[3:],
		"bvn": "2" + n[:8] + "11", "dateOfBirth": "1990-05-17",
		"address": map[string]string{"line1": "1 Marina", "city": "Lagos", "state": "Lagos"},
	}, &c)
	return c.ID
}

// customerAccount gives a new customer a bank account, and returns the customer's id.
func (s *script) customerAccount() string {
	customerID := s.customer()
	s.post("customer/generate-account", map[string]any{"customerId": customerID, "otp": "123456", "settlementId": s.SettlementID}, nil)
	return customerID
}

func customerCredit(s *script) {
	var c struct {
		BankAccount struct{ AccountNumber string }
	}
	s.get("customer/"+s.customerAccount(), &c)
	s.credit(c.BankAccount.AccountNumber, 750)
}

// card issues a card to a new customer, and returns the card's id.
func (s *script) card() string {
	var c struct{ CardID string }
	s.post("card/generate-card", map[string]any{"customerId": s.customerAccount(), "type": "virtual"}, &c)
	return c.CardID
}

// fundCard returns a recipe that puts money on a new card. The last two digits of the amount
// choose what the sandbox does.
func fundCard(naira int) recipe {
	ending := strconv.Itoa(naira % 100)
	if ending == "0" {
		ending = "10"
	}
	return func(s *script) {
		s.order(ending, "card/fund-card", map[string]any{"cardId": s.card(), "amount": naira})
	}
}

// changeCard returns a recipe that changes the status of a new card, with one request after the other.
func changeCard(words ...string) recipe {
	return func(s *script) {
		card := s.card()
		for _, word := range words {
			s.post("card/"+card+"/"+word, map[string]any{"reason": "lost"}, nil)
		}
	}
}

// onChain returns a recipe that moves a coin to or from a new address. If dropped is true, the
// blockchain drops the transaction before it is confirmed. Kobo searches for a dropped transaction
// several times before it marks the transaction as failed.
func onChain(move string, confirmed, dropped bool) recipe {
	return func(s *script) {
		var networks []struct{ ID, NativeAsset string }
		s.get("crypto/networks", &networks)
		if len(networks) == 0 {
			s.fail("no networks are known")
			return
		}
		var a struct{ Address string }
		s.post("crypto/generate-address/"+networks[0].ID, map[string]any{}, &a)
		var sent struct{ Data struct{ TxHash string } }
		s.simulate(move, map[string]any{
			"address": a.Address, "asset": networks[0].NativeAsset, "amount": json.Number("1"), "confirmed": confirmed,
		}, &sent)
		if !dropped {
			return
		}
		s.simulate("crypto-drop", map[string]string{"txHash": sent.Data.TxHash}, nil)
		for range 6 {
			s.advance("10m")
		}
	}
}

// lowBalance sets the company's low-balance alert to the current balance, and buys something, which
// triggers the alert. Then it restores the earlier setting of the alert.
func lowBalance(s *script) {
	type account struct {
		ID                  int64
		Balance, LowBalance json.Number
	}
	var accounts []account
	s.get("settlement/accounts", &accounts)
	at := slices.IndexFunc(accounts, func(a account) bool { return a.ID == s.SettlementID })
	if at < 0 {
		s.fail("the settlement account of the credentials is not the company's")
		return
	}
	var before any
	if accounts[at].LowBalance != "" {
		before = accounts[at].LowBalance
	}
	alert := fmt.Sprintf("settlement/accounts/%d/alert", s.SettlementID)
	s.post(alert, map[string]any{"lowBalance": accounts[at].Balance}, nil)
	buy("10")(s)
	s.post(alert, map[string]any{"lowBalance": before}, nil)
}

// signCheckpoint buys something, and fetches the receipt of the purchase. The receipt needs a new
// checkpoint. Kobo makes at most one a second on demand.
func signCheckpoint(s *script) {
	s.advance("1s")
	buy("10")(s)
	var page struct {
		Data []struct{ TransactionID string }
	}
	if s.get("vtu/transactions?pageSize=1", &page); len(page.Data) == 0 {
		s.fail("the purchase is not in the list")
		return
	}
	s.get("receipts/"+page.Data[0].TransactionID, nil)
}

// kyc verifies the identity of a signatory, and returns the id of the KYC record.
func (s *script) kyc() string {
	var session struct {
		SessionID string `json:"session_id"`
	}
	s.post("coop/initiate-kyc", map[string]string{"bvn": "2" + digits()[:8] + "22"}, &session)
	var record struct {
		KYCID string `json:"kyc_id"`
	}
	s.post("coop/validate-kyc", map[string]string{"session_id": session.SessionID, "otp": "123456"}, &record)
	return record.KYCID
}

func corporateAccount(s *script) { s.openCorporate("RC"+digits(), "ada@example.com") }

// heldAccount requests an account for the same registration number twice. The second request has a
// different e-mail address.
func heldAccount(s *script) {
	registration := "RC" + digits()
	s.openCorporate(registration, "ada@example.com")
	s.openCorporate(registration, "office@example.com")
}

func (s *script) openCorporate(registration, email string) {
	s.post("coop/generate-account", map[string]any{
		"phoneNumber": "08031234510", "emailAddress": email, "rn_number": registration, "kyc_id": s.kyc(), "settlementId": s.SettlementID,
	}, nil)
}

// failingWebhook gives the company a webhook endpoint that does not respond. After the first failed
// delivery, it moves the sandbox's clock ahead by three days.
func failingWebhook(s *script) {
	var made struct{ ID string }
	s.post("webhooks", map[string]any{
		"url": "http://127.0.0.1:1/", "description": "kobo trigger", "events": []string{"vtu.success"},
	}, &made)
	buy("10")(s)
	s.until(made.ID, func(h hook) bool { return h.FailingSince != nil })
	s.advance("73h")
	s.until(made.ID, func(h hook) bool { return h.Status == "FAILING" })
	s.call(http.MethodDelete, "webhooks/"+made.ID, nil, nil)
}

// hook is a webhook endpoint as the API shows it.
type hook struct {
	Status       string
	FailingSince *string
}

// until polls a webhook endpoint until it has the wanted state, for at most 30 seconds.
func (s *script) until(hookID string, is func(hook) bool) {
	ctx, cancel := context.WithTimeout(s.ctx, 30*time.Second)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var h hook
		s.step(func() error { return s.api(ctx, http.MethodGet, "/api/v1/webhooks/"+hookID, nil, &h) })
		if s.err != nil || is(h) {
			return
		}
		select {
		case <-ctx.Done():
			s.err = ctx.Err()
		case <-look.C:
		}
	}
}
