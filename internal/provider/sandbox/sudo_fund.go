package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// sudoTransfer is POST /accounts/transfer: money from the client's settlement
// account into a card's. The last two naira digits of the amount tell its story
// (completion.md §5). The books are written before any answer.
func (s *Sandbox) sudoTransfer(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Debit     string     `json:"debitAccountId"`
		Credit    string     `json:"creditAccountId"`
		Amount    money.Kobo `json:"amount"`
		Narration string     `json:"narration"`
		Reference string     `json:"paymentReference"`
	}
	if json.NewDecoder(r.Body).Decode(&req) != nil || req.Amount <= 0 {
		sudoProblems(w, "amount", "must be a positive number")
		return
	}
	if req.Debit != sudoAccount {
		s.decline(w, http.StatusBadRequest, "Debit account not found")
		return
	}
	v := sudoFunding{
		id: newID(), reference: req.Reference, credit: req.Credit, amount: req.Amount, narration: req.Narration,
		createdAt: clock.Micros(s.clock.Now()),
	}
	if v.tell(strconv.FormatInt(int64(req.Amount/money.Naira), 10)) {
		switch err := s.acceptSudo(r.Context(), v); {
		case errors.Is(err, errRepeated):
			s.repeat(w)
			return
		case errors.Is(err, errPoor):
			s.decline(w, http.StatusBadRequest, "Insufficient funds")
			return
		case errors.Is(err, db.ErrNone):
			s.decline(w, http.StatusNotFound, "Credit account not found")
			return
		case err != nil:
			broken(w)
			return
		}
	}
	s.reply(w, r, v.story, "The card's account refused this transfer", func() {
		code, message := approved, "Approved or completed successfully"
		if v.status == pending {
			code, message = "09", "Request processing in progress"
		}
		write(w, http.StatusOK, map[string]any{
			"statusCode": http.StatusOK, "message": message, "responseCode": code, "data": v.record(code),
		})
	})
}

// record is a transfer as the answers and the list show it. The list tells
// debits and credits apart.
func (v sudoFunding) record(code string) map[string]any {
	words := map[string]string{pending: "Pending", successful: "Completed", failed: "Failed"}
	return map[string]any{
		"_id": v.id, "business": business, "debitAccountId": sudoAccount, "creditAccountId": v.credit, "type": "Debit",
		"paymentReference": v.reference, "amount": v.amount, "fees": 0, "narration": v.narration, "responseCode": code,
		"status": words[v.status], "createdAt": clock.Text(clock.Time(v.createdAt)),
	}
}

func (v sudoFunding) code() string {
	switch v.status {
	case pending:
		return "09"
	case failed:
		return "57"
	}
	return approved
}

func (s *Sandbox) sudoShowTransfer(w http.ResponseWriter, r *http.Request, id string) {
	v, err := s.askSudo(r.Context(), id)
	switch {
	case errors.Is(err, db.ErrNone):
		s.decline(w, http.StatusNotFound, "Transfer not found")
	case err != nil:
		broken(w)
	default:
		answer(w, "Transfer fetched successfully.", v.record(v.code()))
	}
}

// sudoTransactions is the list of the client's account, newest first.
func (s *Sandbox) sudoTransactions(w http.ResponseWriter, r *http.Request) {
	p, _, wrong := listed(r)
	switch {
	case wrong != "":
		sudoProblems(w, "page", wrong)
		return
	case r.PathValue("id") != sudoAccount:
		refuse(w, http.StatusNotFound, "Account not found")
		return
	}
	list, total, err := s.sudoFundings(r.Context(), p)
	if err != nil {
		broken(w)
		return
	}
	rows := make([]any, 0, len(list))
	for _, v := range list {
		rows = append(rows, v.record(v.code()))
	}
	answerPage(w, "Transactions fetched successfully.", rows, total, p)
}

// cardNotice is POST /sandbox/card-notice {"callback", "type", "providerCardId",
// "id", "amount"?, "authorization"?}: Sudo tells its client that something
// happened with a card, or asks whether it may. It shows what the client said.
func (s *Sandbox) cardNotice(r *http.Request) (any, error) {
	var req struct {
		Callback      string     `json:"callback"`
		Type          string     `json:"type"`
		Card          string     `json:"providerCardId"`
		ID            string     `json:"id"`
		Amount        money.Kobo `json:"amount"`
		Authorization *string    `json:"authorization"`
	}
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	if !local(req.Callback) || req.Type == "" || req.Card == "" || req.ID == "" {
		return nil, complaint(`"callback" on this machine, "type", "providerCardId" and "id" are required`)
	}
	body, err := json.Marshal(map[string]any{
		"environment": "development", "business": business, "type": req.Type, "pendingWebhook": false, "webhookArchived": false,
		"createdAt": s.clock.Now().Unix(), "_id": newID(), "data": map[string]any{
			"_id":    newID(),
			"object": map[string]any{"_id": req.ID, "card": req.Card, "amount": json.Number("-" + req.Amount.Number()), "currency": "NGN", "status": "approved"},
		},
	})
	if err != nil {
		return nil, err
	}
	out, err := http.NewRequestWithContext(r.Context(), http.MethodPost, req.Callback, bytes.NewReader(body))
	if err != nil {
		return nil, complaint("the callback cannot be read")
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Authorization", sudoWebhook)
	if req.Authorization != nil {
		out.Header.Set("Authorization", *req.Authorization)
	}
	res, err := s.postman.Do(out)
	if err != nil {
		return nil, complaint("the client did not answer")
	}
	defer func() { _ = res.Body.Close() }() // what matters was read
	said, err := io.ReadAll(io.LimitReader(res.Body, requestLimit))
	return map[string]any{"status": "success", "data": map[string]any{"httpStatus": res.StatusCode, "answer": string(said)}}, err
}
