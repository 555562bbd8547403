package console

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

func (c *console) webhookRoutes() map[string]route {
	const one = "/console/companies/{reference}"
	return map[string]route{
		"GET " + one + "/webhooks":              {show: showCompanyWebhooks},
		"POST " + one + "/webhooks/{id}/replay": {show: showCompanyWebhooks, do: replayWebhook},
		"GET " + one + "/deliveries/{id}":       {show: showDelivery},
		"POST " + one + "/deliveries/{id}":      {show: showDelivery, do: resendFor},
	}
}

func showCompanyWebhooks(v *visit) (view, error) {
	a, err := v.company("/webhooks")
	if err != nil {
		return view{}, err
	}
	var some admin.CompanyWebhooks
	_, err = v.call("listCompanyWebhooks", admin.Input{Path: v.named()}, &some)
	return shown(a.Name+", webhooks", companyWebhooksPage(v, a, some.Webhooks)), err
}

// replayWebhook sends a range of events again to an endpoint.
func replayWebhook(v *visit) (string, error) {
	body := admin.ReplayRequest{Company: v.PathValue("reference")}
	for name, to := range map[string]*int64{"from": &body.From, "to": &body.To} {
		n, err := strconv.ParseInt(v.PostForm.Get(name), 10, 64)
		if err != nil || n < 1 {
			return "", fault.New(fault.Invalid, "The first and the last event are numbers of the company's events, such as 17.")
		}
		*to = n
	}
	_, err := v.call("replayWebhook", admin.Input{Path: v.named(), Body: body}, nil)
	return v.companyPath() + "/webhooks", err
}

func showDelivery(v *visit) (view, error) {
	a, err := v.company("/deliveries")
	if err != nil {
		return view{}, err
	}
	var d admin.DeliveryDetail
	_, err = v.call("findDelivery", admin.Input{Path: v.named()}, &d)
	return shown("Delivery to "+a.Name, deliveryPage(v, a, d)), err
}

// resendFor sends the event of a delivery again, and leads to the new delivery.
func resendFor(v *visit) (string, error) {
	var d admin.Delivery
	_, err := v.call("resendDelivery", admin.Input{Path: v.named(), Body: admin.ResendRequest{Company: v.PathValue("reference")}}, &d)
	return v.companyPath() + "/deliveries/" + url.PathEscape(d.ID), err
}

// mayResend reports whether the person may send events again.
func (v *visit) mayResend() bool { return v.may(operator.Support) }

// webhookChip returns how the state of a webhook is drawn.
func webhookChip(w admin.CompanyWebhook) (kind, word string) {
	switch w.Status {
	case "ACTIVE":
		return "ok", "Active"
	case "FAILING":
		return "failed", "Failing"
	}
	return "idle", sentence(words(w.Status))
}

// waitsFor says what waits for a webhook.
func waitsFor(w admin.CompanyWebhook) string {
	text := "Nothing waits."
	if w.Behind+w.Retrying > 0 {
		text = fmt.Sprintf("To send: %s. To try again: %s.", thousands(itoa(w.Behind)), thousands(itoa(w.Retrying)))
	}
	if w.Failed > 0 {
		text += fmt.Sprintf(" Given up: %s.", thousands(itoa(w.Failed)))
	}
	return text
}

// missing returns the first event that the webhook lacks, as far as is known, for the form of a replay.
func missing(w admin.CompanyWebhook) string {
	if w.Last != nil && w.Last.Sequence > 0 {
		return itoa(w.Last.Sequence)
	}
	return itoa(max(w.Sequence, 1))
}

// statusOf returns the status of an answer, or why there is none.
func statusOf(a admin.DeliveryAttempt) string {
	if a.ResponseStatus == nil {
		return orDash(a.Error)
	}
	text := itoa(*a.ResponseStatus)
	if a.Error != nil && !strings.HasSuffix(*a.Error, text) {
		text += ", " + *a.Error
	}
	return text
}
