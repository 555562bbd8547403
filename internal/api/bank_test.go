package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/nuban"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// bank is a fake bank: it opens accounts and reports payments into them.
type bank struct {
	provider.AccountOpener
	clock  clock.Clock
	mu     sync.Mutex
	opened int64

	sessions atomic.Int64
}

const sandboxBank = "999240"

func (b *bank) OpenVirtualAccount(_ context.Context, r provider.VirtualAccountRequest) provider.VirtualAccountAnswer {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened++
	number, err := nuban.Make(sandboxBank, 700_000_000+b.opened)
	if err != nil {
		panic(err)
	}
	return provider.VirtualAccountAnswer{
		Answer:    provider.Answer{Outcome: provider.Confirmed},
		Account:   provider.Account{Number: number, Name: "KOBO CHECKOUT", BankName: "Sandbox Bank", BankCode: sandboxBank},
		ExpiresAt: b.clock.Now().Add(r.ValidFor),
	}
}

// credit imitates the sandbox endpoint /sandbox/credit.
func (b *bank) credit(settlements *settlement.Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			AccountNumber, SenderName, Narration string
			Amount                               money.Kobo
			Duplicate                            int
		}
		err := json.NewDecoder(r.Body).Decode(&ask)
		if ask.SenderName == "" {
			ask.SenderName = "ADA TESTER"
		}
		session := fmt.Sprintf("000013%024d", b.sessions.Add(1))
		for range 1 + ask.Duplicate {
			if err == nil {
				err = settlements.Receive(r.Context(), "safehaven", provider.Inbound{
					Outcome: provider.Confirmed, SessionID: session, CreditAccount: ask.AccountNumber, Amount: ask.Amount,
					SenderName: ask.SenderName, SenderBank: session[:6], SenderAccount: "0123456789", Narration: "Transfer from " + ask.SenderName, At: b.clock.Now(),
				})
			}
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, err.Error())
			return
		}
		_, _ = io.WriteString(w, `{"status":"success"}`)
	})
}
