package safehaven

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

// ParseNotification reads a request to a callback URL. The kind of notification is in one of three
// fields. Notifications are not signed, so they prove nothing.
func (p *Plug) ParseNotification(body []byte) (provider.Notification, error) {
	var n struct {
		Type      text      `json:"type"`
		EventType text      `json:"eventType"`
		Event     text      `json:"event"`
		Data      *transfer `json:"data"`
	}
	if err := json.Unmarshal(provider.Storable(body), &n); err != nil {
		return provider.Notification{}, errors.New("the notification is not a JSON object")
	}
	kind := strings.ToLower(provider.First(n.Type, n.EventType, n.Event))
	if n.Data == nil || kind != "transfer" && kind != "virtualaccount.transfer" {
		return provider.Notification{}, nil
	}
	amount, ok := naira(n.Data.Amount)
	out := provider.Notification{
		SessionID: string(n.Data.SessionID), ProviderID: string(n.Data.ID), Amount: amount, Account: string(n.Data.CreditAccountNumber),
	}
	switch direction := lower(n.Data.Type); {
	case direction == outwards:
		out.Kind, out.Reference, out.Account = provider.PayoutNotice, string(n.Data.PaymentReference), string(n.Data.DebitAccountNumber)
		return out, nil
	case kind == "virtualaccount.transfer", direction == inwards && n.Data.virtual():
		out.Kind, out.Reference = provider.VirtualCredit, string(n.Data.ExternalReference)
	case direction == inwards:
		out.Kind = provider.AccountCredit
	default:
		return provider.Notification{}, nil
	}
	if out.SessionID == "" || out.Account == "" || !ok || amount <= 0 {
		return out, errors.New("the notification of a credit lacks its session, account or amount")
	}
	return out, nil
}

// These are the directions of a transfer, in lower case.
const (
	inwards  = "inwards"
	outwards = "outwards"
)

func (t transfer) virtual() bool {
	return len(t.VirtualAccount) > 0 && string(t.VirtualAccount) != "null" && string(t.VirtualAccount) != `""`
}

// Inbound asks the bank for one credit by its session ID. Credits of permanent and of virtual
// accounts have different URL paths.
func (p *Plug) Inbound(ctx context.Context, sessionID string, virtual bool) provider.InboundAnswer {
	sessionID = strings.TrimSpace(sessionID) // a kept notification may have it with a space
	path := "/transfers/status"
	if virtual {
		path = "/virtual-accounts/status"
	}
	t, a := judgeStatus(p.ask(ctx, http.MethodPost, path, statusQuery{SessionID: sessionID}), virtual)
	out := provider.InboundAnswer{Answer: a}
	if t.Status == "" { // the reply contains no credit
		return out
	}
	out.Credit = t.credit(a.Outcome, virtual)
	switch {
	case t.SessionID != "" && string(t.SessionID) != sessionID:
		return provider.InboundAnswer{Answer: provider.Answer{Code: provider.CodeUnreadable}} // this is a different credit
	case lower(t.Type) == outwards, lower(t.Type) != inwards && !virtual:
		// A payout also has a session ID, but it is not a credit.
		return provider.InboundAnswer{Answer: provider.Answer{Code: "not_a_credit"}}
	case out.Outcome == provider.Confirmed && (out.Credit.Amount <= 0 || out.Credit.CreditAccount == ""):
		return provider.InboundAnswer{Answer: provider.Answer{Code: provider.CodeUnreadable}}
	}
	out.Credit.SessionID = sessionID
	return out
}

// Receiving lists our accounts. Page 0 has the main accounts. The following pages have the
// sub-accounts. The bank lists virtual accounts as sub-accounts.
func (p *Plug) Receiving(ctx context.Context, page int) (list []provider.Receiving, further bool, err error) {
	add := func(a account) bool {
		if a.ID != "" && a.Number != "" {
			list = append(list, provider.Receiving{ID: string(a.ID), Number: string(a.Number), Main: string(a.Number) == p.account})
		}
		return false
	}
	if page == 0 {
		if failed := p.accounts(ctx, false, add); failed != nil {
			return nil, false, failed
		}
		return list, true, nil
	}
	var rows []account
	pages, err := p.page(ctx, "/accounts?isSubAccount=true"+paging(page-1), &rows)
	if err != nil {
		return nil, false, err
	}
	for _, a := range rows {
		add(a)
	}
	return list, more(page-1, pages, len(rows)), nil
}

// InboundSince lists the credits of one account. The bank accepts only whole days, and its time zone
// is not documented. So the plug requests one additional day, and drops credits that are older than
// from.
func (p *Plug) InboundSince(ctx context.Context, accountID string, from time.Time, page int) ([]provider.Inbound, bool, error) {
	var rows []transfer
	pages, err := p.page(ctx, "/transfers?accountId="+url.QueryEscape(accountID)+"&type=Inwards"+days(from, p.session.clock.Now())+paging(page), &rows)
	if err != nil {
		return nil, false, err
	}
	var out []provider.Inbound
	for _, t := range rows {
		c := t.credit(t.outcome(codes{string(t.ResponseCode)}, t.virtual()), t.virtual())
		if lower(t.Type) == outwards || !c.At.IsZero() && c.At.Before(from) {
			continue
		}
		if c.Amount <= 0 || c.CreditAccount == "" || c.SessionID == "" {
			c.Outcome = provider.Unknown
		}
		out = append(out, c)
	}
	return out, more(page, pages, len(rows)), nil
}

// days returns the query parameters for a range of whole days. The range begins with the day of
// from, and ends one day after the day of to.
func days(from, to time.Time) string {
	return "&fromDate=" + from.UTC().Format(time.DateOnly) + "&toDate=" + to.UTC().AddDate(0, 0, 1).Format(time.DateOnly)
}

// credit converts an inward transfer to an Inbound.
func (t transfer) credit(o provider.Outcome, virtual bool) provider.Inbound {
	amount, ok := naira(t.Amount)
	if !ok {
		amount = 0
	}
	c := provider.Inbound{
		Outcome: o, SessionID: string(t.SessionID), ProviderID: string(t.ID), CreditAccount: string(t.CreditAccountNumber),
		SenderName: string(t.DebitAccountName), SenderAccount: string(t.DebitAccountNumber), Narration: string(t.Narration),
		Amount: amount, At: provider.Instant(t.CreatedAt), Virtual: virtual, Status: t.word(),
	}
	if virtual {
		c.Reference = string(t.ExternalReference)
	}
	// A session ID between the banks begins with the code of the sending bank.
	if len(c.SessionID) == 30 {
		c.SenderBank = c.SessionID[:6]
	}
	return c
}
