package inbox

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
)

// name is a row that stores the name of a bank account. The mark identifies the account at the bank
// (Config.Marks).
type name struct {
	company  string `db:"company_id,key"` // always House
	mark     string `db:"mark,key"`
	provider string `db:"provider"`
}

// keepNames stores the name of each bank account. It returns an error if an account has a different
// name than before, and the program then does not start. The ledger recognises a repeated credit by
// the bank's name. So under a new name, the credits of the account would be recorded again.
func (s *Service) keepNames(ctx context.Context) error {
	polled, named, err := s.findNames(ctx)
	if err != nil {
		return err
	}
	if err := s.checkUnmarked(polled, named); err != nil {
		return err
	}
	var rows []db.Record
	for _, bank := range slices.Sorted(maps.Keys(s.Marks)) {
		for _, mark := range s.Marks[bank] {
			rows = append(rows, names.Record(name{House, mark, bank}))
		}
	}
	if err := s.DB.Insert(ctx, rows...); err != nil {
		return err
	}
	if _, named, err = s.findNames(ctx); err != nil {
		return err
	}
	for _, n := range named {
		for bank, marks := range s.Marks {
			if n.provider != bank && slices.Contains(marks, n.mark) {
				return fmt.Errorf("inbox: the account of the bank %q is known as %q: give it that name again, since the ledger knows a bank by its name", bank, n.provider)
			}
		}
	}
	return nil
}

// checkUnmarked returns an error for a new bank if an earlier bank without marks is not configured.
// Earlier releases stored no marks, so both banks may be the same account.
func (s *Service) checkUnmarked(polled []string, named []name) error {
	marked := map[string]bool{}
	for _, n := range named {
		marked[n.provider] = true
	}
	for _, old := range polled {
		if marked[old] || s.Banks[old] != nil {
			continue
		}
		for bank := range s.Marks {
			if !slices.Contains(polled, bank) {
				return fmt.Errorf("inbox: the bank %[1]q is new, and %[2]q is not configured: if they are one account, keep the name %[2]q; else start once with both", bank, old)
			}
		}
	}
	return nil
}
