package sudo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

var (
	_ provider.Checker = (*Plug)(nil)
	_ provider.Wallet  = (*Plug)(nil)
)

// Checks returns the questions that show whether our account at Sudo is set up right.
func (p *Plug) Checks() []provider.Check {
	return []provider.Check{
		{Name: "api_key", Ask: p.checkKey, Needed: true, Action: "Compare api_key with the key in Sudo's dashboard. A key of the test system is refused by the live one."},
		{Name: "debit_account", Ask: p.checkAccount, Action: "Set debit_account to the id of the settlement account in Sudo's dashboard. If the account is empty, fund it: cards are funded from it."},
		{Name: "funding_lookup", Ask: p.checkFundingLookup, Action: "Do not fund cards yet: Kobo could not find a lost funding on the account's list. Report the reply of --record."},
		{Name: "card_lookup", Ask: p.checkCardLookup, Action: "Report the reply of --record."},
	}
}

// checkKey asks for the list of our cards, of which one line is enough.
func (p *Plug) checkKey(ctx context.Context) (string, error) {
	var rows []cardRecord
	e, err := p.data(p.look(ctx, "/cards?page=0&limit=1"), &rows)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Sudo accepts the key; pages of cards: %d", max(e.pages(), len(rows))), nil
}

func (p *Plug) checkAccount(ctx context.Context) (string, error) {
	left, err := p.Balance(ctx)
	switch {
	case err != nil:
		return "", err
	case left <= 0:
		return "", provider.Warn("%s is left in the account", left)
	}
	return left.String() + " is left in the account", nil
}

// Balance returns what is left in our account, from which cards are funded.
func (p *Plug) Balance(ctx context.Context) (money.Kobo, error) {
	var b struct {
		Available text `json:"availableBalance"`
	}
	if _, err := p.data(p.look(ctx, "/accounts/"+url.PathEscape(p.cfg.DebitAccount)+"/balance"), &b); err != nil {
		return 0, err
	}
	left, ok := p.amount(b.Available)
	if !ok {
		return 0, p.unreadable()
	}
	return left, nil
}

// checkFundingLookup reads the newest lines of the account's list, as a requery does.
func (p *Plug) checkFundingLookup(ctx context.Context) (string, error) {
	a := p.RequeryFunding(ctx, provider.CardFunding{Reference: provider.NoSuchReference, Since: p.clock.Now()})
	if !a.Missing && a.Code == notListed {
		return "", provider.Warn("the list does not have an unknown reference, and complete_list is not set: such a funding waits for operators")
	}
	return provider.CheckLookup(a)
}

func (p *Plug) checkCardLookup(ctx context.Context) (string, error) {
	_, err := p.Card(ctx, strings.Repeat("0", accountIDLength))
	var no *provider.Error
	switch {
	case err == nil:
		return "", errors.New("there is a card of an id that no card should have")
	case errors.As(err, &no) && (no.Code == code(http.StatusNotFound) || no.Code == code(http.StatusBadRequest)):
		return "an unknown card is reported as not found", nil
	}
	return "", err
}
