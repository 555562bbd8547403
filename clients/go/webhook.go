package kobo

import (
	"encoding/json"
	"fmt"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// VerifyWebhook returns the event in a webhook message, after it has checked the signature (Standard
// Webhooks) and the age, which may be five minutes. The secret is the endpoint's, and begins with
// whsec_. The body is the raw body of the request.
//
// A message may arrive more than once: store the ID of each event that you have processed.
func VerifyWebhook(secret string, header http.Header, body []byte) (e Event, err error) {
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return e, fmt.Errorf("kobo: the secret of the webhook: %w", err)
	}
	if err := hook.Verify(body, header); err != nil {
		return e, fmt.Errorf("kobo: the webhook message is not genuine: %w", err)
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("kobo: the body of the webhook message: %w", err)
	}
	if e.ID != header.Get("webhook-id") {
		return Event{}, fmt.Errorf("kobo: the webhook message is not the event %s", e.ID)
	}
	return e, nil
}
