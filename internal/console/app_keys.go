package console

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
)

func (c *console) keyRoutes() map[string]route {
	return map[string]route{
		"GET /app/developers":                                     {show: showKeys, query: []string{"after"}},
		"POST /app/developers/keys":                               {show: showKeys, do: issueOwnKey, proof: newProof},
		"POST /app/developers/keys/{id}/revoke":                   {show: showKeys, do: revokeOwnKey, proof: recentProof},
		"GET /app/developers/keys/{n}":                            {show: showNewKey},
		"GET /app/developers/webhooks":                            {show: showWebhooks},
		"GET /app/developers/webhooks/{id}":                       {show: showWebhook, query: []string{"after", "status", "replayed"}},
		"POST /app/developers/webhooks":                           {show: showWebhooks, do: createWebhook, proof: newProof},
		"POST /app/developers/webhooks/{id}/rotate":               {show: showWebhook, do: rotateSecret, proof: newProof},
		"POST /app/developers/webhooks/{id}/{act}":                {show: showWebhook, do: actOnWebhook, proof: recentProof},
		"GET /app/developers/webhooks/{id}/made/{n}":              {show: showSecret},
		"GET /app/developers/webhooks/{id}/deliveries/{delivery}": {show: showSent},
		"POST /app/developers/deliveries/{id}/resend":             {do: resendDelivery},
		"GET /app/approvals":                                      {show: showApprovals, query: []string{"after"}},
		"GET /app/approvals/{id}":                                 {show: showApproval},
		"POST /app/approvals/{id}/approve":                        {show: showApproval, do: approveRequest, proof: newProof},
		"POST /app/approvals/{id}/reject":                         {show: showApproval, do: rejectRequest},
	}
}

func showKeys(v *visit) (view, error) {
	l, err := ownRows[api.APIKey](v, "/api/v1/company/api-keys")
	if err != nil {
		return view{}, err
	}
	var company one[api.Company]
	_, err = v.ask("GET", "/api/v1/company", nil, &company)
	return view{title: "API keys", item: "developers", body: keysPage(v, l, company.Data.TwoPeople)}, err
}

// newKey is an API key as the page that shows it once has it.
type newKey struct{ Name, Key string }

// keep keeps an API key for the page that shows it once.
func (v *visit) keep(k newKey) (string, error) {
	text, err := json.Marshal(k)
	return "/app/developers/keys/" + v.answers.keep(v.session, text), err
}

func issueOwnKey(v *visit) (string, error) {
	body := map[string]string{"pin": v.PostForm.Get("pin")}
	for _, name := range []string{"name", "expiresAt"} {
		if value := v.field(name); value != "" {
			body[name] = value
		}
	}
	var said one[api.IssuedAPIKey]
	status, err := v.ask("POST", "/api/v1/company/api-keys", body, &said)
	if err != nil || status == http.StatusAccepted {
		return "/app/approvals", err
	}
	return v.keep(newKey{optional(said.Data.Name), said.Data.APIKey})
}

func showNewKey(v *visit) (view, error) {
	text, there := v.answers.take(v.session, v.PathValue("n"))
	if !there {
		return view{title: "API key", item: "developers", body: notShownPage("key", "If you have not stored it, revoke it and make another one.", "/app/developers")}, nil
	}
	var k newKey
	err := json.Unmarshal(text, &k)
	return view{title: "API key", item: "developers", body: newKeyPage(k)}, err
}

func revokeOwnKey(v *visit) (string, error) {
	status, err := v.ask("DELETE", "/api/v1/company/api-keys/"+url.PathEscape(v.PathValue("id")), map[string]string{"pin": v.PostForm.Get("pin")}, nil)
	if status == http.StatusAccepted {
		return "/app/approvals", err
	}
	return "/app/developers", err
}

// delivery is a delivery of an event as pages show it.
type delivery struct {
	ID             string  `json:"id"`
	EventID        string  `json:"eventId"`
	Event          string  `json:"event"`
	Sequence       int64   `json:"sequence"`
	Status         string  `json:"status"`
	Attempts       int     `json:"attempts"`
	ResponseStatus *int    `json:"responseStatus"`
	LatencyMs      *int    `json:"latencyMs"`
	Response       *string `json:"response"`
	Error          *string `json:"error"`
	NextAttemptAt  *string `json:"nextAttemptAt"`
	CreatedAt      string  `json:"createdAt"`

	History []attempt `json:"history"` // oldest first; only of one delivery
}

// attempt is an attempt of a delivery as pages show it.
type attempt struct {
	Number         int     `json:"attempt"`
	At             string  `json:"at"`
	ResponseStatus *int    `json:"responseStatus"`
	LatencyMs      int     `json:"latencyMs"`
	Response       *string `json:"response"`
	Error          *string `json:"error"`
}

// answerWords says what came back at once.
func (t attempt) answerWords() string {
	return delivery{ResponseStatus: t.ResponseStatus, Error: t.Error}.answerWords()
}

// answerWords says what came back.
func (d delivery) answerWords() string {
	switch {
	case d.ResponseStatus != nil && *d.ResponseStatus != 0:
		return strconv.Itoa(*d.ResponseStatus)
	case d.Error != nil:
		return *d.Error
	}
	return "none yet"
}

// number is the number of the event, which a replay asks for. A test has none.
func (d delivery) number() string {
	if d.Sequence == 0 {
		return ""
	}
	return strconv.FormatInt(d.Sequence, 10)
}

// title says which event was sent.
func (d delivery) title() string {
	if d.Sequence == 0 {
		return "A test event"
	}
	return "Delivery of event " + d.number()
}

// missed is the range of the events that an endpoint has not taken.
type missed struct {
	from, to int64
	isAny    bool
}

func missedOf(all []delivery) (m missed) {
	for _, d := range all {
		if d.Sequence == 0 || d.Status == "DELIVERED" {
			continue
		}
		if !m.isAny {
			m = missed{d.Sequence, d.Sequence, true}
		}
		m.from, m.to = min(m.from, d.Sequence), max(m.to, d.Sequence)
	}
	return m
}

func (m missed) first() string { return m.text(m.from) }
func (m missed) last() string  { return m.text(m.to) }

func (m missed) text(n int64) string {
	if !m.isAny {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func sentChip(state string) (kind, word string) {
	switch state {
	case "DELIVERED":
		return "ok", "Delivered"
	case "FAILED":
		return "failed", "Given up"
	}
	return "wait", "Under way"
}

func endpointChip(state string) (kind, word string) {
	switch state {
	case "ACTIVE":
		return "ok", "Active"
	case "FAILING":
		return "failed", "Failing"
	}
	return "idle", sentence(words(state))
}

func showWebhooks(v *visit) (view, error) {
	var all one[[]endpoint]
	_, err := v.ask("GET", "/api/v1/webhooks", nil, &all)
	return view{title: "Webhooks", item: "developers", body: webhooksPage(v, all.Data)}, err
}

func showWebhook(v *visit) (view, error) {
	path := "/api/v1/webhooks/" + url.PathEscape(v.PathValue("id"))
	var e one[endpoint]
	if _, err := v.ask("GET", path, nil, &e); err != nil {
		return view{}, err
	}
	l, err := rowsAfter[delivery](v, path+"/deliveries?status="+url.QueryEscape(v.filter("status", "")), v.filter("after", ""))
	if err != nil {
		return view{}, err
	}
	stood, err := v.standingOf(path)
	if err != nil {
		return view{}, err
	}
	sent, err := v.deliveredTo(e.Data.ID)
	return view{title: "Webhook", item: "developers", body: webhookPage(v, e.Data, stood, sent, l)}, err
}

func showSent(v *visit) (view, error) {
	id := v.PathValue("id")
	var d one[delivery]
	_, err := v.ask("GET", "/api/v1/webhooks/"+url.PathEscape(id)+"/deliveries/"+url.PathEscape(v.PathValue("delivery")), nil, &d)
	return view{title: "Delivery", item: "developers", body: sentPageOf(v, id, d.Data)}, err
}

// made is a secret as the page that shows it once has it.
type made struct {
	Secret string `json:"secret"`
}

func (v *visit) keepSecret(endpointID, secret string) (string, error) {
	text, err := json.Marshal(made{secret})
	return "/app/developers/webhooks/" + url.PathEscape(endpointID) + "/made/" + v.answers.keep(v.session, text), err
}

func createWebhook(v *visit) (string, error) {
	var said one[struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	}]
	if _, err := v.ask("POST", "/api/v1/webhooks", map[string]string{"url": v.field("url")}, &said); err != nil {
		return "", err
	}
	return v.keepSecret(said.Data.ID, said.Data.Secret)
}

func showSecret(v *visit) (view, error) {
	at := "/app/developers/webhooks/" + url.PathEscape(v.PathValue("id"))
	text, there := v.answers.take(v.session, v.PathValue("n"))
	if !there {
		return view{title: "Secret", item: "developers", body: notShownPage("secret", "If you have not stored it, rotate the secret of the webhook.", at)}, nil
	}
	var m made
	err := json.Unmarshal(text, &m)
	return view{title: "Secret", item: "developers", body: secretPage(m.Secret, at)}, err
}

// rotateSecret gives an endpoint a new secret, which is shown once.
func rotateSecret(v *visit) (string, error) {
	var said one[made]
	if _, err := v.ask("POST", "/api/v1/webhooks/"+url.PathEscape(v.PathValue("id"))+"/rotate-secret", nil, &said); err != nil {
		return "", err
	}
	return v.keepSecret(v.PathValue("id"), said.Data.Secret)
}

// actOnWebhook does what a button of an endpoint says.
func actOnWebhook(v *visit) (string, error) {
	id := url.PathEscape(v.PathValue("id"))
	path, at := "/api/v1/webhooks/"+id, "/app/developers/webhooks/"+id
	var err error
	switch v.PathValue("act") {
	case "test":
		_, err = v.ask("POST", path+"/test", nil, nil)
	case "pause":
		_, err = v.ask("POST", path, map[string]bool{"active": false}, nil)
	case "resume":
		_, err = v.ask("POST", path, map[string]bool{"active": true}, nil)
	case "delete":
		_, err = v.ask("DELETE", path, nil, nil)
		return "/app/developers/webhooks", err
	case "replay":
		from, to := v.field("from"), v.field("to")
		if !replayedShape.MatchString(from + "-" + to) {
			return "", fault.New(fault.Invalid, "The range is the numbers of two events, such as 3 and 17.")
		}
		var again one[struct{ From, To int64 }] // the API takes the part of the range that exists
		_, err = v.ask("POST", path+"/replay", map[string]json.Number{"from": json.Number(from), "to": json.Number(to)}, &again)
		at += "?" + url.Values{"replayed": {itoa(again.Data.From) + "-" + itoa(again.Data.To)}}.Encode()
	default:
		err = errNothing
	}
	return at, err
}

func resendDelivery(v *visit) (string, error) {
	_, err := v.ask("POST", "/api/v1/webhooks/deliveries/"+url.PathEscape(v.PathValue("id"))+"/resend", nil, nil)
	return "/app/developers/webhooks/" + url.PathEscape(v.field("webhook")), err
}
