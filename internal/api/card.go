package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

// GenerateCard has the issuer issue a card.
func (h *handlers) GenerateCard(ctx context.Context, r GenerateCardRequestObject) (GenerateCardResponseObject, error) {
	request := card.Request{
		Company: callOf(ctx).company, Customer: r.Body.CustomerID, Type: r.Body.Type, Brand: cmp.Or(r.Body.Brand, "Verve"),
		Currency: cmp.Or(r.Body.Currency, "NGN"), Load: sent(r.Body.Amount), SendPINSMS: r.Body.SendPINSMS,
	}
	if r.Body.Number != "" {
		request.Number = secret.NewText(r.Body.Number)
	}
	if err := h.mayAlone(ctx, request.Load); err != nil {
		return nil, err
	}
	return answer(ctx, generatedCard, func(key *idempotency.Key) (card.Generated, error) {
		request.Key = key
		return h.Cards.Generate(ctx, request)
	})
}

func generatedCard(g card.Generated) (GenerateCard200JSONResponse, error) {
	return GenerateCard200JSONResponse{Status: "success", Message: "Card generated successfully", Data: g}, nil
}

// passing is the type of a response with a card token. Its header forbids caching.
type passing GenerateCardToken200JSONResponse

// VisitGenerateCardTokenResponse writes the header and the token.
func (p passing) VisitGenerateCardTokenResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return GenerateCardToken200JSONResponse(p).VisitGenerateCardTokenResponse(w)
}

// GenerateCardToken returns a token that gives access to the card's secrets. Kobo does not store
// the token, so the request takes no Idempotency-Key.
func (h *handlers) GenerateCardToken(ctx context.Context, r GenerateCardTokenRequestObject) (GenerateCardTokenResponseObject, error) {
	t, err := h.Cards.Token(ctx, callOf(ctx).company, r.CardID)
	return passing{Status: "success", Data: CardToken{
		Token: t.Value.Reveal(), ExpiresIn: int(t.ExpiresIn / time.Second), CardID: r.CardID,
	}}, err
}

// ListCards lists the company's cards, newest first.
func (h *handlers) ListCards(ctx context.Context, r ListCardsRequestObject) (ListCardsResponseObject, error) {
	cards, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]card.Card, int, error) {
		return h.Cards.List(ctx, callOf(ctx).company, r.Params.CustomerID, offset, limit)
	}, func(cursor string, limit int) ([]card.Card, error) {
		return h.Cards.After(ctx, callOf(ctx).company, r.Params.CustomerID, cursor, limit)
	})
	return ListCards200JSONResponse{Status: "success", Data: CardPage{
		Data: append([]Card{}, cards...), Meta: meta,
	}}, err
}

// FindCard shows a card with its current state at the issuer.
func (h *handlers) FindCard(ctx context.Context, r FindCardRequestObject) (FindCardResponseObject, error) {
	c, err := h.Cards.Find(ctx, callOf(ctx).company, r.CardID)
	return FindCard200JSONResponse{Status: "success", Message: "Card fetched successfully", Data: c}, err
}

// SendDefaultPin has the issuer send the card's first PIN.
func (h *handlers) SendDefaultPin(ctx context.Context, r SendDefaultPinRequestObject) (SendDefaultPinResponseObject, error) {
	return answer(ctx, func(message string) (SendDefaultPin200JSONResponse, error) {
		return SendDefaultPin200JSONResponse{Status: "success", Message: message}, nil
	}, func(key *idempotency.Key) (string, error) {
		return h.Cards.SendDefaultPIN(ctx, callOf(ctx).company, r.CardID, key)
	})
}

// FreezeCard makes the issuer decline payments with a card.
func (h *handlers) FreezeCard(ctx context.Context, r FreezeCardRequestObject) (FreezeCardResponseObject, error) {
	return answer(ctx, shownAs[FreezeCard200JSONResponse]("Card frozen successfully"), h.setCard(ctx, r.CardID, provider.CardInactive, ""))
}

// UnfreezeCard makes the issuer accept payments with a card again.
func (h *handlers) UnfreezeCard(ctx context.Context, r UnfreezeCardRequestObject) (UnfreezeCardResponseObject, error) {
	return answer(ctx, shownAs[UnfreezeCard200JSONResponse]("Card unfrozen successfully"), h.setCard(ctx, r.CardID, provider.CardActive, ""))
}

// TerminateCard ends a card for ever.
func (h *handlers) TerminateCard(ctx context.Context, r TerminateCardRequestObject) (TerminateCardResponseObject, error) {
	return answer(ctx, shownAs[TerminateCard200JSONResponse]("Card terminated successfully"), h.setCard(ctx, r.CardID, provider.CardCanceled, r.Body.Reason))
}

// changedCard is the response of the operations that change a card's status.
type changedCard struct {
	Status  SuccessStatus `json:"status"`
	Message string        `json:"message"`
	Data    Card          `json:"data"`
}

// shownAs returns a function that makes the response of such an operation.
func shownAs[R ~struct {
	Status  SuccessStatus `json:"status"`
	Message string        `json:"message"`
	Data    Card          `json:"data"`
}](message string) func(card.Card) (R, error) {
	return func(c card.Card) (R, error) { return R(changedCard{Data: c, Message: message, Status: "success"}), nil }
}

func (h *handlers) setCard(ctx context.Context, cardID string, to provider.CardStatus, reason string) func(*idempotency.Key) (card.Card, error) {
	return func(key *idempotency.Key) (card.Card, error) {
		return h.Cards.SetStatus(ctx, card.Change{Company: callOf(ctx).company, CardID: cardID, To: to, Reason: reason, Key: key})
	}
}

// ListCardTransactions lists what the issuer has reported of a card, newest first.
func (h *handlers) ListCardTransactions(ctx context.Context, r ListCardTransactionsRequestObject) (ListCardTransactionsResponseObject, error) {
	list, meta, err := turned(ctx, r.Params.Page, r.Params.PageSize, func(offset, limit int) ([]card.Activity, int, error) {
		return h.Cards.Transactions(ctx, callOf(ctx).company, r.CardID, offset, limit)
	}, func(cursor string, limit int) ([]card.Activity, error) {
		return h.Cards.TransactionsAfter(ctx, callOf(ctx).company, r.CardID, cursor, limit)
	})
	return ListCardTransactions200JSONResponse{Status: "success", Data: CardActivityPage{
		Data: append([]CardActivity{}, list...), Meta: meta,
	}}, err
}

// FundCard loads money onto a card, or previews the funding in a dry run.
func (h *handlers) FundCard(ctx context.Context, r FundCardRequestObject) (FundCardResponseObject, error) {
	c := callOf(ctx)
	order := card.Order{
		Company: c.company, CardID: r.Body.CardID, Amount: r.Body.Amount,
		Labels: operation.Labels{ExternalReference: r.Body.ExternalReference, Metadata: r.Body.Metadata},
	}
	if isDry(c.request) {
		_, order.Keyed = c.request.Header["Idempotency-Key"]
		p, err := h.Cards.Preview(ctx, order)
		c.explain(p)
		return FundCard200JSONResponse{Status: "success", Message: nothingSent, Data: p}, err
	}
	if err := h.mayAlone(ctx, order.Amount); err != nil {
		return nil, err
	}
	return resumable(ctx, h.funded, h.Cards.Resume, func(key *idempotency.Key) (card.Funding, error) {
		order.Key = key
		return h.Cards.Fund(ctx, order)
	})
}

// funded returns a 200 response for a successful funding. For a failed or pending funding it
// returns a fault, because the contract requires a 400.
func (h *handlers) funded(f card.Funding) (FundCard200JSONResponse, error) {
	switch f.Status {
	case card.Funded:
		return FundCard200JSONResponse{Status: "success", Message: "Card funded successfully", Data: CardReference{Reference: f.Reference}}, nil
	case card.Open:
		return FundCard200JSONResponse{}, card.Confirming(f.Reference)
	}
	return FundCard200JSONResponse{}, h.Cards.Declined(f)
}

// FindCardTransaction shows a funding.
func (h *handlers) FindCardTransaction(ctx context.Context, r FindCardTransactionRequestObject) (FindCardTransactionResponseObject, error) {
	c := callOf(ctx)
	f, err := h.Reports.Funding(ctx, c.company, r.Reference)
	c.explain(f.Status)
	return FindCardTransaction200JSONResponse{Status: "success", Data: f}, err
}
