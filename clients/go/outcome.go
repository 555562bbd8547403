package kobo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/clients/go/api"
)

// Outcome is what became of a payment: [Succeeded], [Declined] or [Unknown]. A switch over an Outcome
// has a case for each. The program go-check-sumtype finds a switch that forgets one.
//
//sumtype:decl
type Outcome interface{ outcome() }

// Succeeded means that the provider executed the payment.
type Succeeded struct {
	// Reference is the payment's reference. The transaction of a purchase and the status of a payout have
	// the details, such as the token of a prepaid meter.
	Reference string
}

// Declined means that the order moved no money, or that the money is back in the settlement account.
type Declined struct {
	Reason Reason
	// Message is for people, and may change.
	Message string
	// Reference is the payment's reference if the money was debited and is back, or "" if nothing was debited.
	Reference string
}

// Unknown means that the payment may have been executed. Do not send the order again with a new key.
type Unknown struct {
	// Key is the Idempotency-Key of the order.
	Key string
	// Reference is the payment's reference, or "" while no response of the server has shown it.
	Reference string
	// Cause is the reason for which the outcome is unknown. It is nil if the server confirms the payment.
	Cause error

	payment *payment
}

func (Succeeded) outcome() {}
func (Declined) outcome()  {}
func (Unknown) outcome()   {}

// payment is an order that moves money.
type payment struct {
	client *Client
	key    string
	// known is the reference that the payment will have, if the order states it.
	known string
	send  func(context.Context) (*http.Response, error)
}

// SendPayout sends a payout. The key is an Idempotency-Key: take it from NewKey, and store it with the
// order first. After a crash, the same key and the same order give the outcome of the first try. A key of
// your own has 1 to 255 printable ASCII characters, and no space at its ends. Any other key is not sent, and
// its outcome is Unknown.
func (c *Client) SendPayout(ctx context.Context, key string, order api.PayoutOrder) Outcome {
	return c.pay(ctx, key, order.VerifyID, func(ctx context.Context) (*http.Response, error) {
		return c.api.SendPayout(ctx, &api.SendPayoutParams{IdempotencyKey: &key}, order)
	})
}

// FundCard puts money on a card. For the key see SendPayout.
func (c *Client) FundCard(ctx context.Context, key string, order api.CardFundingOrder) Outcome {
	return c.pay(ctx, key, "", func(ctx context.Context) (*http.Response, error) {
		return c.api.FundCard(ctx, &api.FundCardParams{IdempotencyKey: &key}, order)
	})
}

// BuyAirtime buys airtime. The idempotencyKey of the order is also the Idempotency-Key: take it from
// NewKey, and store the order first.
func (c *Client) BuyAirtime(ctx context.Context, order api.AirtimePurchase) Outcome {
	return c.pay(ctx, order.IdempotencyKey, "", func(ctx context.Context) (*http.Response, error) {
		return c.api.PurchaseAirtime(ctx, &api.PurchaseAirtimeParams{IdempotencyKey: &order.IdempotencyKey}, order)
	})
}

// BuyData buys a data bundle. For the key see BuyAirtime.
func (c *Client) BuyData(ctx context.Context, order api.DataPurchase) Outcome {
	return c.pay(ctx, order.IdempotencyKey, "", func(ctx context.Context) (*http.Response, error) {
		return c.api.PurchaseData(ctx, &api.PurchaseDataParams{IdempotencyKey: &order.IdempotencyKey}, order)
	})
}

// BuyTV buys a TV subscription. For the key see BuyAirtime.
func (c *Client) BuyTV(ctx context.Context, order api.CableTVPurchase) Outcome {
	return c.pay(ctx, order.IdempotencyKey, "", func(ctx context.Context) (*http.Response, error) {
		return c.api.PurchaseCableTV(ctx, &api.PurchaseCableTVParams{IdempotencyKey: &order.IdempotencyKey}, order)
	})
}

// BuyPower buys power for a meter. For the key see BuyAirtime.
func (c *Client) BuyPower(ctx context.Context, order api.UtilityPurchase) Outcome {
	return c.pay(ctx, order.IdempotencyKey, "", func(ctx context.Context) (*http.Response, error) {
		return c.api.PurchaseUtility(ctx, &api.PurchaseUtilityParams{IdempotencyKey: &order.IdempotencyKey}, order)
	})
}

// pay sends an order and returns its outcome.
func (c *Client) pay(ctx context.Context, key, known string, send func(context.Context) (*http.Response, error)) Outcome {
	p := &payment{client: c, key: key, known: known, send: send}
	return p.once(ctx)
}

// errKey is the cause of an Unknown whose key cannot be sent.
var errKey = errors.New("kobo: the Idempotency-Key must have 1 to 255 printable ASCII characters, and no space at its ends, so nothing was sent")

// sendable reports whether a text may be an Idempotency-Key. A header loses the spaces at its ends, and the
// server takes no other character.
func sendable(key string) bool {
	for _, c := range []byte(key) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return key != "" && len(key) <= 255 && key == strings.Trim(key, " ")
}

// once sends the order, with the retries of the client. A key that cannot be sent is no proof that nothing
// moved: another program may have used it without its spaces, or in the body of a purchase alone.
func (p *payment) once(ctx context.Context) Outcome {
	if !sendable(p.key) {
		return p.unknown("", errKey)
	}
	res, err := p.send(ctx)
	if err != nil {
		return p.refused(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return p.unknown("", err)
	}
	reference, status := told(body)
	switch reason := Reason(res.Header.Get("Kobo-Reason")); {
	case reason == api.Declined:
		return Declined{Reason: reason, Reference: reference}
	case res.StatusCode == http.StatusOK && reference != "" && reason == "" && (status == "" || status == "SUCCESS"):
		return Succeeded{Reference: reference}
	default:
		return p.unknown(reference, nil)
	}
}

// told returns the reference and the status in the data of a response. Either may be "".
func told(body []byte) (reference, status string) {
	var told struct {
		Data struct{ Reference, TransactionID, Status string }
	}
	if json.NewDecoder(bytes.NewReader(body)).Decode(&told) != nil {
		return "", ""
	}
	return told.Data.Reference + told.Data.TransactionID, told.Data.Status
}

// refused returns the outcome of an order without a successful response. The caller chose the key, so
// an earlier request with it may exist. So a refusal before the server looked at the key decides
// nothing.
func (p *payment) refused(err error) Outcome {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return p.unknown("", err)
	}
	switch reference, _ := told(refusal.Body); {
	case refusal.Reason == api.BeingConfirmed:
		return p.unknown(reference, nil)
	case refusal.Reason == api.VerificationUsed && p.known != "":
		return p.unknown(p.known, refusal) // an earlier payout with this verification exists
	case refusal.undecided() || refusal.before():
		return p.unknown("", err)
	}
	reference, _ := told(refusal.Body)
	return Declined{Reason: refusal.Reason, Message: refusal.Message, Reference: reference}
}

func (p *payment) unknown(reference string, cause error) Unknown {
	return Unknown{Key: p.key, Reference: reference, Cause: cause, payment: p}
}
