package api_test

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// issuer is a fake card issuer. The amount of a funding chooses the outcome (completion.md §5).
type issuer struct {
	clock clock.Clock
	mu    sync.Mutex
	cards map[string]provider.IssuedCard
}

func (i *issuer) Name() string { return "Sudo" }

func (i *issuer) OpenCardholder(context.Context, provider.Cardholder) (string, error) {
	return id.New(), nil
}

func (i *issuer) CreateCard(_ context.Context, o provider.CardOrder) provider.CardAnswer {
	i.mu.Lock()
	defer i.mu.Unlock()
	if o.Type == "virtual" && o.Number.Reveal() != "" {
		return provider.CardAnswer{Answer: provider.Answer{Outcome: provider.Rejected, Message: "a virtual card has no number"}}
	}
	c := provider.IssuedCard{
		ID: id.New(), Reference: o.Reference, Account: id.New(), Type: o.Type, Brand: o.Brand, Currency: o.Currency,
		MaskedPAN: "506321*********0001", ExpiryMonth: "08", ExpiryYear: "2033", Status: "active", CreatedAt: i.clock.Now(),
	}
	i.cards[c.ID] = c
	return provider.CardAnswer{Answer: provider.Answer{Outcome: provider.Confirmed}, Card: c}
}

func (i *issuer) Cards(context.Context, string) ([]provider.IssuedCard, error) { return nil, nil }

func (i *issuer) Card(_ context.Context, cardID string) (provider.IssuedCard, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.cards[cardID], nil
}

func (i *issuer) CardToken(context.Context, string) (provider.CardToken, error) {
	return provider.CardToken{Value: secret.NewText("h.e.s"), ExpiresIn: 2 * time.Minute}, nil
}

func (i *issuer) SendDefaultPIN(context.Context, string) (string, error) {
	return "PIN sent successfully.", nil
}

func (i *issuer) SetCardStatus(_ context.Context, cardID string, to provider.CardStatus, _ string) provider.Answer {
	i.mu.Lock()
	defer i.mu.Unlock()
	c := i.cards[cardID]
	if c.Status == provider.CardCanceled {
		return provider.Answer{Outcome: provider.Rejected, Message: "The card was terminated"}
	}
	c.Status = to
	i.cards[cardID] = c
	return provider.Answer{Outcome: provider.Confirmed}
}

func (i *issuer) CardBalance(context.Context, string) (money.Kobo, error) { return 0, nil }

func (i *issuer) ReturnedBalance(context.Context, string, time.Time) (money.Kobo, bool, error) {
	return 0, false, nil
}

func nairaEnding(amount money.Kobo) string {
	naira := strconv.FormatInt(int64(amount/money.Naira), 10)
	return naira[max(0, len(naira)-2):]
}

func (i *issuer) FundCard(_ context.Context, f provider.CardFunding) provider.Answer {
	switch nairaEnding(f.Amount) {
	case "01":
		return provider.Answer{Outcome: provider.Rejected, Message: "The card's account refused this transfer"}
	case "02", "03":
		return provider.Answer{Code: provider.CodeTimeout}
	}
	return provider.Answer{Outcome: provider.Confirmed}
}

func (i *issuer) RequeryFunding(_ context.Context, f provider.CardFunding) provider.Answer {
	if nairaEnding(f.Amount) == "03" {
		return provider.Answer{Missing: true}
	}
	return provider.Answer{Outcome: provider.Confirmed}
}

func (i *issuer) ParseCardNotice(http.Header, []byte) (provider.CardNotice, error) {
	return provider.CardNotice{}, provider.ErrForged
}
