package inbox

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
)

// name is the name of the bank account with a mark.
type name struct {
	company  string `db:"company_id,key"` // the house
	mark     string `db:"mark,key"`
	provider string `db:"provider"`
}

// keepNames refuses to start if a bank account has another name than before. The ledger
// records a credit once for each name, so it would record the credits of such an account
// again.
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

// checkUnmarked refuses a new bank while an earlier bank without marks is not configured.
// The two may be one account: earlier releases stored no marks.
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
