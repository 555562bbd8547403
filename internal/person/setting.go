package person

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Setting is something that a person has chosen for the pages. It gives no power.
type Setting struct {
	Company   string    `db:"company,key"` // "" for an operator
	PersonID  string    `db:"person_id,key"`
	Kind      string    `db:"kind,key"`
	Name      string    `db:"name,key"`
	Value     string    `db:"value"`
	CreatedAt time.Time `db:"created_at"`
}

// These are the kinds of settings.
const (
	Columns   = "COLUMNS" // the columns of a list; the name is the address of the list
	SavedView = "VIEW"    // an address with filters; the name is the person's own one
)

// MaxViews is how many views a person can save. The lists with columns are few.
const MaxViews = 50

// maxSettings bounds a read. Two requests at the same time can store more than MaxViews.
const maxSettings = 100

var (
	errManyViews   = fault.Newf(fault.Refused, "You have %d saved views, which is the most. Remove one first.", MaxViews)
	errSameView    = fault.New(fault.Conflict, "You have a saved view with this name. Give another name.")
	errMissingView = fault.New(fault.Missing, "You have no saved view with this name")
)

// Settings returns what a person has chosen of a kind, by name.
func (s *Service) Settings(ctx context.Context, p Person, kind string) ([]Setting, error) {
	return settingsOf(ctx, s.DB, p, kind)
}

// ChooseColumns stores the columns of a list.
func (s *Service) ChooseColumns(ctx context.Context, p Person, list, columns string) error {
	return putSetting(ctx, s.DB, s.setting(p, Columns, list, columns))
}

// UsualColumns forgets the columns that a person has chosen for a list.
func (s *Service) UsualColumns(ctx context.Context, p Person, list string) error {
	_, err := removeSetting(ctx, s.DB, p, Columns, list)
	return err
}

// SaveView stores an address under a name that the person has not used.
func (s *Service) SaveView(ctx context.Context, p Person, name, address string) error {
	n, err := addView(ctx, s.DB, s.setting(p, SavedView, name, address))
	if err != nil || n > 0 {
		return err
	}
	saved, err := s.Settings(ctx, p, SavedView)
	if err == nil && len(saved) >= MaxViews {
		return errManyViews
	}
	if err == nil {
		err = errSameView
	}
	return err
}

// RenameView gives a saved view another name.
func (s *Service) RenameView(ctx context.Context, p Person, name, to string) error {
	n, err := renameSetting(ctx, s.DB, p, SavedView, name, to)
	if err != nil || n > 0 {
		return err
	}
	saved, err := s.Settings(ctx, p, SavedView)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(saved, func(x Setting) bool { return x.Name == name }) {
		return errMissingView
	}
	return errSameView
}

// RemoveView forgets a saved view.
func (s *Service) RemoveView(ctx context.Context, p Person, name string) error {
	n, err := removeSetting(ctx, s.DB, p, SavedView, name)
	if err == nil && n == 0 {
		err = errMissingView
	}
	return err
}

func (s *Service) setting(p Person, kind, name, value string) Setting {
	return Setting{p.Company, p.ID, kind, name, value, s.Machine.Now()}
}
