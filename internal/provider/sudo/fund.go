package sudo

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// transfer is one transfer in Sudo's replies, or one line on an account's list.
type transfer struct {
	ID           text `json:"_id"`
	Reference    text `json:"paymentReference"`
	Narration    text `json:"narration"`
	Credit       ref  `json:"creditAccountId"`
	Amount       text `json:"amount"`
	Type         text `json:"type"` // Debit or Credit on a list
	ResponseCode word `json:"responseCode"`
	Status       word `json:"status"`
	CreatedAt    text `json:"createdAt"`
}

func (t transfer) claim() claim {
	word := lower(t.Status)
	return claim{
		reference: string(t.ID), code: t.ResponseCode, done: doneWords[word], undone: undoneWords[word],
		silent: word == "", open: word != "" && !doneWords[word] && !undoneWords[word],
	}
}

// FundCard moves money from our account at Sudo to the card's account. It sends our reference in
// the reference field and in the narration, since the list may show only one of these fields.
func (p *Plug) FundCard(ctx context.Context, f provider.CardFunding) provider.Answer {
	body := struct {
		Debit     string      `json:"debitAccountId"`
		Credit    string      `json:"creditAccountId"`
		Amount    json.Number `json:"amount"`
		Narration string      `json:"narration"`
		Reference string      `json:"paymentReference"`
	}{p.cfg.DebitAccount, f.Account, p.number(f.Amount), "Card funding " + f.Reference, f.Reference}
	other := false
	a := judge(p.once(ctx, p.client, http.MethodPost, "/accounts/transfer", body), func(e envelope) claim {
		var t transfer
		if !e.into(&t) && !e.empty() {
			return claim{open: true, silent: true}
		}
		if other = !p.mayBe(t, f); other {
			return claim{reference: string(t.ID), open: true} // the list decides
		}
		return t.claim() // Sudo's documentation shows an empty object for a success
	})
	if other && a.Outcome == provider.Unknown && a.Code != provider.CodeDuplicate {
		return provider.Other(a.Reference)
	}
	return a
}

// RequeryFunding asks for the transfer by Sudo's id, if the id is known. If Sudo's reply gives no
// outcome, RequeryFunding searches the list of our account at Sudo. If the request may be older, a failed
// transfer is only the last one of its reference, so the list decides.
func (p *Plug) RequeryFunding(ctx context.Context, f provider.CardFunding) provider.Answer {
	var refused provider.Answer
	if f.Issued != "" {
		switch a := p.byID(ctx, f); {
		case a.Outcome == provider.Rejected && f.Earlier:
			refused = a
		case a.Outcome != provider.Unknown || a.Code == "pending":
			return a
		}
	}
	a := p.scan(ctx, f)
	if a.Missing && refused.Outcome == provider.Rejected {
		return refused
	}
	return a
}

func (p *Plug) byID(ctx context.Context, f provider.CardFunding) provider.Answer {
	var t transfer
	if _, err := p.data(p.look(ctx, "/accounts/transfers/"+url.PathEscape(f.Issued)), &t); err != nil {
		return provider.Answer{Code: provider.CodeUnreadable}
	}
	if !p.is(t, f) {
		return provider.Answer{Code: provider.CodeUnreadable}
	}
	return t.answer()
}

// answer returns the outcome of a transfer that was already matched with our funding.
func (t transfer) answer() provider.Answer {
	word, code := lower(t.Status), string(t.ResponseCode)
	a := provider.Answer{Reference: string(t.ID), Code: provider.First(word, string(t.ResponseCode), "listed")}
	switch {
	case undoneWords[word] && code != approved, declines[code] && !doneWords[word]:
		a.Outcome, a.Message = provider.Rejected, "The transfer to the card's account did not succeed"
	case (word == "" || doneWords[word]) && (code == "" || code == approved):
		a.Outcome, a.Message = provider.Confirmed, "Approved or completed successfully"
	default:
		a.Code = "pending"
	}
	return a
}

// names reports whether a transfer contains our reference, in the reference field or as a word of
// the narration.
func (t transfer) names(reference string) bool {
	return string(t.Reference) == reference ||
		slices.ContainsFunc(strings.Fields(string(t.Narration)), func(word string) bool {
			return strings.Trim(word, ".,;:()") == reference
		})
}

// is reports whether the transfer t carries out the funding f: the reference and the amount must
// match.
func (p *Plug) is(t transfer, f provider.CardFunding) bool {
	amount, ok := p.amount(t.Amount)
	return t.names(f.Reference) && ok && max(amount, -amount) == f.Amount
}

// mayBe reports whether the transfer t of a reply to the funding f contradicts f neither by its reference nor by its
// amount. The reply may lack both.
func (p *Plug) mayBe(t transfer, f provider.CardFunding) bool {
	if t.Amount == "" {
		return t.Reference == "" || t.names(f.Reference)
	}
	if t.Reference == "" {
		t.Reference = text(f.Reference)
	}
	return p.is(t, f)
}

const (
	// slack is the assumed maximum by which Sudo's clock is behind ours.
	slack = time.Hour
	// reach is how far back a funding is looked for at least, from now and from the newest line of the list. Our clock may have been
	// ahead when the funding was recorded, and may be ahead now.
	reach = 25 * time.Hour
	// mostPages limits the scan of a long list, and mostOfAll the scan of a whole list. A scan that reaches the limit is not
	// complete.
	mostPages, mostOfAll = 50, 500
)

// credit is the type of a line that returns money, in lower case.
const credit = "credit"

// notListed is the code of a reply about a funding that is not on the part of the list that was read.
const notListed = "not_listed"

// scan looks for a funding on the list of our account's transfers. It reads from the newest line back to the
// time before the funding was recorded, and at least as far as reach. If the request may be older, and is not there, has failed
// there or came back, or its lines there contradict each other, scan reads the whole list.
func (p *Plug) scan(ctx context.Context, f provider.CardFunding) provider.Answer {
	since := f.Since.Add(-slack)
	if far := p.clock.Now().Add(-reach); far.Before(since) {
		since = far
	}
	a := p.scanSince(ctx, f, since)
	if f.Earlier && (a.Code == notListed || a.Code == contradiction || a.Outcome == provider.Rejected) {
		return p.scanSince(ctx, f, time.Time{})
	}
	return a
}

// scanSince looks for a funding on the list, back to the time since, or on the whole list if since is zero. A credit is newer than
// the debit that it returns. So if the newest lines have a confirmed debit that no credit can return, the lines before them need not
// be read. Otherwise all lines are read, because an earlier debit of the same reference may be a success.
//
// A funding that is not on the list counts as missing only under two conditions: the list was read
// without a gap, and Config.CompleteList is set. Without the setting it proves nothing, because
// Sudo's documentation does not state that the lines contain our reference.
func (p *Plug) scanSince(ctx context.Context, f provider.CardFunding, since time.Time) provider.Answer {
	a, short := p.scanLines(ctx, f, since, true)
	if short && a.Outcome != provider.Confirmed {
		a, _ = p.scanLines(ctx, f, since, false)
	}
	return a
}

// scanLines does the same as scanSince in one read of the list. The read is short if it ended before the time since. It may be so
// only with mayStop.
func (p *Plug) scanLines(ctx context.Context, f provider.CardFunding, since time.Time, mayStop bool) (a provider.Answer, short bool) {
	var all trail
	complete, err := p.lines(ctx, since, reach, func(t transfer) (until time.Time) {
		switch {
		case !t.names(f.Reference):
		case !p.is(t, f):
			all.odd = true
		default:
			all.add(t)
			if mayStop && !short && all.isPaid() {
				short, until = true, provider.Instant(t.CreatedAt).Add(-slack)
			}
		}
		return until
	})
	switch {
	case err != nil && !all.odd:
		return provider.Answer{Code: err.Code, Message: err.Message}, short
	case all.isListed():
		return all.answer(complete), short
	case complete && p.cfg.CompleteList:
		return provider.Answer{Missing: true, Code: notListed, Message: "The transfer is not on the list"}, short
	}
	return unlisted, short
}

// lines calls see with each line of our account's list, back to the time since, and to the time span before the newest line. If see returns a later time,
// lines reads back to that. It returns whether the list was read without a gap. If since is zero, it does so for the whole list.
func (p *Plug) lines(ctx context.Context, since time.Time, span time.Duration, see func(transfer) (until time.Time)) (complete bool, why *provider.Error) {
	if since.IsZero() {
		return p.wholeList(ctx, see)
	}
	complete, _, why = p.read(ctx, since, span, mostPages, see)
	return complete, why
}

// read reads at most so many pages of the list for lines. It also returns whether the list is sorted newest first, as far as it was read. A new line moves
// the pages while they are read, so a line may be on two pages: read calls see once for it. A list that is not sorted newest first is read to its end.
// The end is the last page by Sudo's count of pages, or an empty page if Sudo does not count them. Sudo may send shorter pages than it was asked for.
// If span is not 0, read goes back at least as far as span before the first line, unless see returns a later time.
func (p *Plug) read(
	ctx context.Context, since time.Time, span time.Duration, most int, see func(transfer) (until time.Time),
) (complete, sorted bool, why *provider.Error) {
	sorted = true
	last, known := time.Time{}, map[[5]text]bool{}
	for page := range most {
		var rows []transfer
		e, err := p.data(p.look(ctx, "/accounts/"+url.PathEscape(p.cfg.DebitAccount)+"/transactions"+paging(page)), &rows)
		if err != nil {
			return false, sorted, provider.AsError(p.Name(), err)
		}
		for _, t := range rows {
			name := [5]text{t.ID, t.Type, t.CreatedAt, t.Reference, t.Narration}
			if t.ID != "" && known[name] {
				continue
			}
			at := provider.Instant(t.CreatedAt)
			if far := at.Add(-span); len(known) == 0 && span > 0 && far.Before(since) {
				since = far
			}
			known[name] = true
			sorted = sorted && !at.IsZero() && (last.IsZero() || !at.After(last))
			last = at
			if until := see(t); until.After(since) {
				since = until
			}
		}
		old := sorted && !last.IsZero() && last.Before(since)
		if ended := e.ended(page, len(rows)); ended || old || len(rows) == 0 {
			return ended || old, sorted, nil
		}
	}
	return false, sorted, nil
}

// ReturnedBalance looks for credits on the list of our account that name the card, after the time
// since. Sudo's documentation does not say how such a line names the card. So the plug accepts the
// card's id as the reference or as a word of the narration. Each credit must have its outcome.
func (p *Plug) ReturnedBalance(ctx context.Context, cardID string, since time.Time) (back money.Kobo, listed bool, err error) {
	open := false
	_, why := p.lines(ctx, since.Add(-slack), 0, func(t transfer) (until time.Time) {
		amount, ok := p.amount(t.Amount)
		outcome := t.answer().Outcome
		if ok && amount != 0 && lower(t.Type) == credit && t.names(cardID) && outcome != provider.Rejected {
			back, listed = back+max(amount, -amount), true
			open = open || outcome == provider.Unknown
		}
		return until
	})
	switch {
	case why != nil:
		return 0, false, why
	case open:
		return 0, true, nil
	}
	return back, listed, nil
}
