package payout

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Bank is a bank that can receive payouts.
type Bank struct {
	Name string `json:"name"`
	Code string `json:"code"`
}

// The shortest and the longest bank code (wallet-api.md, Limits). The API refuses codes of
// other lengths.
const (
	shortestCode = 4
	longestCode  = 10
)

// Banks returns the banks that can receive a company's payouts, sorted by name. It returns
// only the banks whose name contains the search text.
func (s *Service) Banks(ctx context.Context, company, search string) ([]Bank, error) {
	payer, _ := s.Payers.For(provider.Payouts, company)
	kept, err := s.lists.Read(s.Clock.Now(), payer, func() ([]Bank, error) { return s.banks(ctx, payer) })
	if err != nil {
		return nil, err
	}
	search = plain(search)
	all := slices.DeleteFunc(slices.Clone(kept), func(b Bank) bool { return !strings.Contains(plain(b.Name), search) })
	slices.SortFunc(all, func(a, b Bank) int {
		return cmp.Or(strings.Compare(plain(a.Name), plain(b.Name)), strings.Compare(a.Code, b.Code))
	})
	return all, nil
}

// fresh is how old the name of a bank may be that a program shows. The banks' lists are copied every
// few hours.
const fresh = 5 * time.Second

// bankName returns the name of a bank, or "" if the bank is not on the provider's list.
func (s *Service) bankName(ctx context.Context, from, code string) (string, error) {
	name, err := s.names.Read(s.Clock.Now(), from+" "+code, func() (string, error) { return s.findBank(ctx, from, code) })
	if errors.Is(err, db.ErrNone) {
		return "", nil
	}
	return name, err
}

// plain returns a name in upper case with single blanks, for comparisons.
func plain(name string) string { return strings.Join(strings.Fields(strings.ToUpper(name)), " ") }

// SyncDue copies the list of banks from each payout provider whose next copy is due.
func (s *Service) SyncDue(ctx context.Context) error {
	return provider.SyncDue(ctx, s.Clock.Now(), s.Payers.All, s.takeSync, s.sync)
}

func (s *Service) sync(ctx context.Context, name string, p provider.Payer) error {
	list, err := p.Banks(ctx)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(b provider.BankCode) bool {
		return len(b.Code) < shortestCode || len(b.Code) > longestCode || b.Name == ""
	})
	if len(list) == 0 {
		// An empty list is an error of the provider. Storing the empty list would stop all payouts.
		return errors.New("the list is empty")
	}
	defer s.names.Drop()
	defer s.lists.Drop()
	at := s.Clock.Now()
	return s.DB.Tx(ctx, func(q db.Querier) error {
		for _, b := range list {
			if err := saveBank(ctx, q, name, b, at); err != nil {
				return err
			}
		}
		return retireBanks(ctx, q, name, at)
	})
}
