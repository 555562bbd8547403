package sudo

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

// These response codes have the meanings that are usual between Nigerian banks.
const (
	approved = "00"
	underway = "09"
	declined = "57"
)

type transferRequest struct {
	Debit     string     `json:"debitAccountId"`
	Credit    string     `json:"creditAccountId"`
	Amount    money.Kobo `json:"amount"`
	Narration string     `json:"narration"`
	Reference string     `json:"paymentReference"`
}

// transfer handles POST /accounts/transfer, which moves money from the client's settlement account
// to a card's account. The last two naira digits of the amount choose the story, which is a test
// scenario (completion.md §5). Sudo writes its books before it responds.
func (i *Issuer) transfer(w http.ResponseWriter, r *http.Request, req transferRequest) {
	switch {
	case req.Amount <= 0:
		refuseField(w, "amount", "must be a positive number")
		return
	case req.Debit != account:
		i.Decline(w, http.StatusBadRequest, "Debit account not found")
		return
	}
	v := transfer{
		id: books.NewID(), reference: req.Reference, credit: req.Credit, amount: req.Amount, narration: req.Narration, createdAt: i.Now(),
	}
	var err error
	if v.Begin(strconv.FormatInt(int64(req.Amount/money.Naira), 10)) {
		err = i.accept(r.Context(), v)
	}
	i.Finish(w, books.OrNo(err, http.StatusNotFound, "Credit account not found"), func() {
		i.Reply(w, r, v.Story, "The card's account refused this transfer", func() {
			message := "Approved or completed successfully"
			if v.Status == books.Pending {
				message = "Request processing in progress"
			}
			books.Write(w, http.StatusOK, map[string]any{
				"statusCode": http.StatusOK, "message": message, "responseCode": v.code(), "data": v.record(),
			})
		})
	})
}

func (v transfer) code() string {
	return map[string]string{books.Pending: underway, books.Successful: approved, books.Failed: declined}[v.Status]
}

// record returns a transfer as the responses and the list show it.
func (v transfer) record() map[string]any {
	words := map[string]string{books.Pending: "Pending", books.Successful: "Completed", books.Failed: "Failed"}
	kind := "Debit"
	if v.credit == account {
		kind = "Credit"
	}
	return map[string]any{
		"_id": v.id, "business": business, "debitAccountId": account, "creditAccountId": v.credit, "type": kind,
		"paymentReference": v.reference, "amount": v.amount, "fees": 0, "narration": v.narration, "responseCode": v.code(),
		"status": words[v.Status], "createdAt": books.Text(v.createdAt),
	}
}

// showTransfer handles GET /accounts/transfers/{id}.
func (i *Issuer) showTransfer(w http.ResponseWriter, r *http.Request) {
	v, err := i.ask(r.Context(), r.PathValue("part"))
	i.Finish(w, books.OrNo(err, http.StatusNotFound, "Transfer not found"), func() {
		books.Answer(w, "Transfer fetched successfully.", v.record())
	})
}

// showFloat handles GET /accounts/{id}/balance.
func (i *Issuer) showFloat(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != account {
		books.Refuse(w, http.StatusNotFound, "Account not found")
		return
	}
	left, err := i.Balance(r.Context(), account)
	i.Finish(w, err, func() {
		books.Answer(w, "Account balance fetched successfully.", map[string]any{"currentBalance": left, "availableBalance": left})
	})
}

// listTransfers handles GET /accounts/{id}/transactions. It lists the newest transfer first.
func (i *Issuer) listTransfers(w http.ResponseWriter, r *http.Request) {
	p, _, err := books.ReadPage(r)
	switch {
	case err != nil:
		refuseField(w, "page", err.Error())
		return
	case r.PathValue("id") != account:
		books.Refuse(w, http.StatusNotFound, "Account not found")
		return
	}
	m, err := i.manners(r.Context())
	var list []transfer
	var total int64
	if err == nil {
		list, total, err = i.list(r.Context(), p, m.Oldest)
	}
	i.Finish(w, err, func() { books.AnswerPage(w, "Transactions fetched successfully.", list, m.line, total, p) })
}

type noticeRequest struct {
	Callback      string     `json:"callback"`
	Type          string     `json:"type"`
	Card          string     `json:"providerCardId"`
	ID            string     `json:"id"`
	Amount        money.Kobo `json:"amount"`
	Balance       money.Kobo `json:"balance"` // of card.terminated
	Merchant      string     `json:"merchant"`
	Authorization *string    `json:"authorization"`
}

// notice handles POST /sandbox/card-notice. Sudo sends the client a notification about a card, or a
// request for an authorization. The control's response shows how the client responded.
func (i *Issuer) notice(ctx context.Context, req noticeRequest) (any, error) {
	if !books.IsLocal(req.Callback) || req.Type == "" || req.Card == "" || req.ID == "" {
		return nil, books.Complaint(`"callback" on this machine, "type", "providerCardId" and "id" are required`)
	}
	object := map[string]any{
		"_id": req.ID, "card": req.Card, "amount": json.Number("-" + req.Amount.Number()), "currency": "NGN", "status": "approved",
		"merchant": map[string]string{"name": req.Merchant, "city": "Lagos", "country": "NG"},
	}
	if req.Type == "card.terminated" { // its object is the card itself
		object = map[string]any{"_id": req.Card, "balance": req.Balance, "currency": "NGN", "status": canceled}
	}
	body, err := json.Marshal(map[string]any{
		"environment": "development", "business": business, "type": req.Type, "pendingWebhook": false, "webhookArchived": false,
		"createdAt": i.Clock.Now().Unix(), "_id": books.NewID(), "data": map[string]any{
			"_id": books.NewID(), "object": object,
		},
	})
	if err != nil {
		return nil, err
	}
	out, err := http.NewRequestWithContext(ctx, http.MethodPost, req.Callback, bytes.NewReader(body))
	if err != nil {
		return nil, books.Complaint("the callback cannot be read")
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Authorization", webhookHeader)
	if req.Authorization != nil {
		out.Header.Set("Authorization", *req.Authorization)
	}
	res, err := i.Send(out)
	if err != nil {
		return nil, books.Complaint("the client did not answer")
	}
	defer func() { _ = res.Body.Close() }() // the body was read
	said, err := io.ReadAll(io.LimitReader(res.Body, books.RequestLimit))
	return map[string]any{"status": "success", "data": map[string]any{"httpStatus": res.StatusCode, "answer": string(said)}}, err
}
