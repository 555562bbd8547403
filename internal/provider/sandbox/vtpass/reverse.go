package vtpass

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type reverseRequest struct {
	Reference string `json:"reference"`
	Silent    bool   `json:"silent"`
}

// reverseByHand handles POST /sandbox/vtpass-reverse: VTpass returns the money of a purchase that it
// has reported as delivered. It sends a callback, unless the request is silent.
func (b *Biller) reverseByHand(ctx context.Context, req reverseRequest) (any, error) {
	err := b.Tx(ctx, func(q db.Querier) error {
		all, err := sales.All(ctx, q, "executions > 0 ORDER BY created_at, request_id")
		if err != nil {
			return err
		}
		for _, v := range all {
			if clientReference(v.requestID) != req.Reference || v.Status != books.Successful {
				continue
			}
			v.Status, v.Polls = books.Failed, 1
			if err := sales.Update(ctx, q, v); err != nil {
				return err
			}
			if _, err := books.Move(ctx, q, wallet, v.amount); err != nil || req.Silent {
				return err
			}
			body, err := json.Marshal(map[string]any{"type": "transaction-update", "data": v.body()})
			if err != nil {
				return err
			}
			return books.Announce(ctx, q, books.Notice{Sender: wallet, Body: string(body), NextAt: b.Now(), At: b.Now()}, 1)
		}
		return books.Complaint("There is no delivered purchase with this reference")
	})
	if err != nil {
		return nil, err
	}
	b.Nudge()
	return books.Success, nil
}

// showBalance handles GET /balance. The response has an envelope of its own.
func (b *Biller) showBalance(w http.ResponseWriter, r *http.Request) {
	balance, err := b.Balance(r.Context(), wallet)
	if err != nil {
		fail(w)
		return
	}
	books.Write(w, http.StatusOK, map[string]any{"code": 1, "contents": map[string]any{"balance": balance}})
}
