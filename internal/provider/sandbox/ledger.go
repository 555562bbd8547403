package sandbox

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
)

type ledgerRow struct {
	Reference  string     `json:"reference"`
	Kind       string     `json:"kind"`
	Amount     money.Kobo `json:"amount"`
	Status     string     `json:"status"`
	Number     string     `json:"number"`
	Executions int64      `json:"executions"`
	Requests   int64      `json:"requests"`
	CreatedAt  string     `json:"createdAt"`
	at         int64
}

// providerLedger is GET /sandbox/provider-ledger?reference=: what was really
// executed, however the answers went: sales, payouts and credits, oldest first.
func (s *Sandbox) providerLedger(r *http.Request) (any, error) {
	reference := r.URL.Query().Get("reference")
	sales, err := s.executed(r.Context(), reference)
	if err != nil {
		return nil, err
	}
	transfers, err := s.executedTransfers(r.Context(), reference)
	if err != nil {
		return nil, err
	}
	balance, err := s.balance(r.Context())
	if err != nil {
		return nil, err
	}
	rows, err := s.vtpassLedger(r.Context(), reference)
	if err != nil {
		return nil, err
	}
	cards, err := s.sudoLedger(r.Context(), reference)
	if err != nil {
		return nil, err
	}
	rows = append(rows, cards...)
	for _, v := range sales {
		rows = append(rows, ledgerRow{
			Reference: v.reference, Kind: v.kind, Amount: v.amount, Status: v.status, Number: masked(v.number),
			Executions: v.executions, Requests: v.requests, CreatedAt: clock.Text(clock.Time(v.createdAt)), at: v.createdAt,
		})
	}
	for _, v := range transfers {
		row := ledgerRow{
			Reference: v.reference, Kind: "payout", Amount: v.amount, Status: v.status, Number: masked(v.creditNumber),
			Executions: v.executions, Requests: v.requests, CreatedAt: clock.Text(clock.Time(v.createdAt)), at: v.createdAt,
		}
		if v.direction == inwards {
			row.Kind = "credit"
		}
		if v.reversed {
			row.Status = "reversed"
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b ledgerRow) int { return int(a.at - b.at) })
	return map[string]any{"status": "success", "balance": balance, "data": rows}, nil
}

// plantLine is POST /sandbox/statement-line {"reference", "type", "amount",
// "narration"?}: a line on the bank's statement that belongs to nothing it did,
// for whoever tries whether reconciliation finds it.
func (s *Sandbox) plantLine(r *http.Request) (any, error) {
	var req struct {
		Reference string     `json:"reference"`
		Type      string     `json:"type"`
		Amount    money.Kobo `json:"amount"`
		Narration string     `json:"narration"`
	}
	if err := readBody(r, &req); err != nil {
		return nil, err
	}
	l := line{
		reference: req.Reference, payment: req.Reference, kind: "credit", amount: req.Amount, narration: req.Narration,
		planted: clock.Micros(s.clock.Now()),
	}
	switch {
	case req.Reference == "" || req.Amount <= 0:
		return nil, complaint(`"reference" and an "amount" greater than 0 are required`)
	case req.Type == "Debit":
		l.kind, l.amount = "debit", -req.Amount
	case req.Type != "Credit":
		return nil, complaint(`"type" must be one of [Credit, Debit]`)
	}
	if err := s.plant(r.Context(), l); err != nil {
		return nil, err
	}
	return map[string]any{"status": "success"}, nil
}

// statement is GET /accounts/{id}/statement. Only the client's own account has
// one: what is paid into the others goes on to it at once.
func (s *Sandbox) statement(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != mainAccountID {
		refuse(w, http.StatusNotFound, "Account not found")
		return
	}
	p, d, wrong := listed(r)
	if wrong != "" {
		s.decline(w, http.StatusBadRequest, wrong)
		return
	}
	lines, total, err := s.lines(r.Context(), d, p)
	if err != nil {
		broken(w)
		return
	}
	rows := make([]any, 0, len(lines))
	for _, l := range lines {
		rows = append(rows, l.record())
	}
	answerPage(w, "Account statement fetched successfully.", rows, total, p)
}

func (l line) record() map[string]any {
	direction, amount := "Credit", l.amount
	if amount < 0 {
		direction, amount = "Debit", -amount
	}
	at := clock.Text(clock.Time(l.createdAt))
	return map[string]any{
		"_id":        digest("line", l.reference+l.kind+strconv.FormatInt(l.planted, 10))[:24],
		"isReversal": l.kind == "reversal", "client": ibsClientID, "paymentReference": l.payment, "type": direction,
		"account":  map[string]any{"_id": mainAccountID, "accountNumber": debitAccount},
		"provider": "NIBSS", "providerChannel": "NIP", "narration": l.narration, "amount": amount, "runningBalance": l.balance,
		"transactionDate": at, "valueDate": at, "__v": 0,
	}
}
