package safehaven

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type plantRequest struct {
	Reference string     `json:"reference"`
	Type      string     `json:"type"`
	Amount    money.Kobo `json:"amount"`
	Narration string     `json:"narration"`
}

// plantLine handles POST /sandbox/statement-line. It adds a line to the bank's statement that no
// request has caused. Reconciliation should report the line.
func (b *Bank) plantLine(ctx context.Context, req plantRequest) (any, error) {
	l := line{
		reference: req.Reference, payment: req.Reference, kind: "credit", amount: req.Amount, narration: req.Narration, planted: b.Now(),
	}
	switch {
	case req.Reference == "" || req.Amount <= 0:
		return nil, books.Complaint(`"reference" and an "amount" greater than 0 are required`)
	case req.Type == "Debit":
		l.kind, l.amount = "debit", -req.Amount
	case req.Type != "Credit":
		return nil, books.Complaint(`"type" must be one of [Credit, Debit]`)
	}
	now := b.Now()
	err := b.Tx(ctx, func(q db.Querier) error { return enter(ctx, q, l, now) })
	if errors.Is(err, books.ErrPoor) {
		err = books.Complaint("The account has not enough money")
	}
	return books.Success, err
}

// showStatement handles GET /accounts/{id}/statement. It lists the oldest line first, unless the
// manners state otherwise. Only the client's main account has a statement, since all credits are
// forwarded to it immediately.
func (b *Bank) showStatement(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != mainAccountID {
		books.Refuse(w, http.StatusNotFound, "Account not found")
		return
	}
	m, err := b.manners(r.Context())
	if err != nil {
		books.Fail(w)
		return
	}
	books.List(b.Books, w, r, "Account statement fetched successfully.", m.shown, func(p books.Page, d books.Span) ([]line, int64, error) {
		if m.Newest {
			return lines.Page(r.Context(), b, p, inDays, "created_at DESC, rowid DESC", d.From, d.Before)
		}
		return b.statement(r.Context(), d, p)
	})
}

const inDays = "created_at >= $1 AND created_at < $2"

func (b *Bank) statement(ctx context.Context, d books.Span, p books.Page) ([]line, int64, error) {
	return lines.Page(ctx, b, p, inDays, "created_at, rowid", d.From, d.Before)
}

func (l line) record() map[string]any {
	direction, amount := "Credit", l.amount
	if amount < 0 {
		direction, amount = "Debit", -amount
	}
	at := books.Text(l.createdAt)
	return map[string]any{
		"_id":        books.Digest("line", l.reference+l.kind+strconv.FormatInt(l.planted, 10))[:24],
		"isReversal": l.kind == "reversal", "client": ibsClientID, "paymentReference": l.payment, "type": direction,
		"account":  map[string]any{"_id": mainAccountID, "accountNumber": debitAccount},
		"provider": "NIBSS", "providerChannel": "NIP", "narration": l.narration, "amount": amount, "runningBalance": l.balance,
		"transactionDate": at, "valueDate": at, "__v": 0,
	}
}
