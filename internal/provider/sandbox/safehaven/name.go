package safehaven

import (
	"context"
	_ "embed" // embeds the banks
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// banksCSV lists Nigerian banks and other institutions that can be paid, with their codes in the
// interbank system (NIP). The list includes the simulated bank.
//
//go:embed banks.csv
var banksCSV string

type bank struct{ code, name string }

var bankList = readBanks()

func readBanks() (list []bank) {
	for _, r := range books.ReadCSV(banksCSV) {
		list = append(list, bank{r[0], r[1]})
	}
	return list
}

func isKnownBank(code string) bool {
	return slices.ContainsFunc(bankList, func(b bank) bool { return b.code == code })
}

// listBanks handles GET /transfers/banks.
func (b *Bank) listBanks(w http.ResponseWriter, _ *http.Request) {
	rows := make([]any, 0, len(bankList))
	for _, v := range bankList {
		rows = append(rows, map[string]any{"name": v.name, "routingKey": v.code, "bankCode": v.code, "alias": []string{}, "logoImage": nil})
	}
	books.Answer(w, "Banks fetched successfully.", rows)
}

// enquiryLife is the time for which the session ID of a name enquiry allows a transfer.
const enquiryLife = 30 * time.Minute

type nameRequest struct {
	BankCode      string `json:"bankCode"`
	AccountNumber string `json:"accountNumber"`
}

// enquireName handles POST /transfers/name-enquiry.
func (b *Bank) enquireName(w http.ResponseWriter, r *http.Request, req nameRequest) {
	if !isKnownBank(req.BankCode) {
		b.Decline(w, http.StatusBadRequest, "bankCode is not a bank that can be paid")
		return
	}
	now := b.Clock.Now()
	v := enquiry{newSession(bankCode, now), req.BankCode, req.AccountNumber, "", clock.Micros(now)}
	var err error
	if v.name, err = b.accountName(r.Context(), req.BankCode, req.AccountNumber); err == nil {
		err = enquiries.Insert(r.Context(), b, v)
	}
	b.Finish(w, books.OrNo(err, http.StatusBadRequest, "Account does not exist"), func() {
		answerBank(w, "Account details fetched", approved, map[string]any{
			"responseCode": approved, "responseMessage": reasons[approved], "sessionId": v.session,
			"bankCode": v.bank, "accountNumber": v.number, "accountName": v.name, "kycLevel": "3", "bvn": "",
		})
	})
}

// accountName returns the name of an account. A name that a control request has set takes
// precedence. Accounts of this bank have a stored name, and all other accounts have a generated
// name. If the account does not exist, accountName returns db.ErrNone.
func (b *Bank) accountName(ctx context.Context, bank, number string) (string, error) {
	if name, err := b.Setting(ctx, nameSetting(bank, number)); err != nil || name != "" {
		return name, err
	}
	if bank == bankCode {
		v, err := findHolder(ctx, b, number)
		if err == nil && v.number == number {
			return v.name, nil
		}
		if err != nil && !errors.Is(err, db.ErrNone) {
			return "", err
		}
	}
	if len(number) != 10 || !books.IsDigits(number) || number[8:] == books.NotFound {
		return "", db.ErrNone
	}
	return nameOf("beneficiary", bank+number), nil
}

func nameSetting(bank, number string) string { return "name " + bank + " " + number }

type renameRequest struct {
	BankCode      string `json:"bankCode"`
	AccountNumber string `json:"accountNumber"`
	AccountName   string `json:"accountName"`
}

// renameAccount handles POST /sandbox/account-name, which changes the name of an account. A test
// can use it between a name enquiry and a late payout.
func (b *Bank) renameAccount(ctx context.Context, req renameRequest) (any, error) {
	if !isKnownBank(req.BankCode) || req.AccountNumber == "" || req.AccountName == "" {
		return nil, books.Complaint(`"bankCode" of a known bank, "accountNumber" and "accountName" are required`)
	}
	return books.Success, b.Set(ctx, nameSetting(req.BankCode, req.AccountNumber), req.AccountName)
}

// nameOf returns a generated name. The same text always gives the same name.
func nameOf(use, text string) string {
	first, last := books.PersonName(books.Digest(use, text))
	return last + " " + first
}
