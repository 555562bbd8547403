package card

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
)

// LastResort is the billing address that a card gets if its customer has no address.
type LastResort struct {
	customer.Address           // empty if neither the company nor Kobo's configuration has an address
	Since            time.Time // when the company set the address; zero if the address is from Kobo's configuration
}

// addressChanged is the data of the event that reports a new address. The admin API shows the same fields.
type addressChanged struct {
	Address customer.Address `json:"address"`
	Source  string           `json:"source"`
	Since   clock.Instant    `json:"since"`
}

// SetAddress sets the company's billing address for new cards. The addresses of issued cards
// do not change. The address is in force immediately, also if the clock was ahead when the earlier
// address was set. If two are set at once, the later commit is in force.
func (s *Service) SetAddress(ctx context.Context, by operator.Operator, company string, a customer.Address) error {
	if err := checkAddress(&a); err != nil {
		return err
	}
	for {
		last, changes, err := s.lastAddress(ctx, company)
		if err != nil {
			return err
		}
		err = s.setAddress(ctx, by, address{company, id.After(last), a, s.Clock.Now()}, changes)
		switch {
		case ledger.Is(err, ledger.NoCompany):
			return fault.New(fault.Missing, "Company not found")
		case !ledger.IsOver(err, addressSet):
			return err
		}
	}
}

// setAddress commits an address, if the company's address has been changed this often before.
func (s *Service) setAddress(ctx context.Context, by operator.Operator, row address, changes int64) error {
	u, a := ledger.For(row.company), row.Address
	u.Count(addressSet, 1, changes+1)
	u.Append(addresses.Record(row))
	event.Emit(&u, event.CardAddressChanged, addressChanged{a, "company", clock.Instant{Time: row.createdAt}})
	by.Audit(&u, "card.address", row.company, map[string]string{
		"line1": a.Line1, "line2": a.Line2, "city": a.City, "state": a.State, "country": a.Country, "postalCode": a.PostalCode,
	}, row.createdAt)
	return s.Book.Commit(ctx, u)
}

// CheckAddress returns an error if SetAddress does not accept the address.
func CheckAddress(a customer.Address) error { return checkAddress(&a) }

// checkAddress trims the fields of an address. It checks their lengths by the same rules as for a
// customer's address.
func checkAddress(a *customer.Address) error {
	for _, f := range []struct {
		name        string
		text        *string
		least, most int
	}{
		{"line1", &a.Line1, 1, 200},
		{"line2", &a.Line2, 0, 200},
		{"city", &a.City, 1, 100},
		{"state", &a.State, 1, 100},
		{"country", &a.Country, 0, 100},
		{"postalCode", &a.PostalCode, 0, 20},
	} {
		*f.text = strings.TrimSpace(*f.text)
		switch n := utf8.RuneCountInString(*f.text); {
		case n < f.least:
			return fault.Newf(fault.Invalid, "%q is not allowed to be empty", f.name)
		case n > f.most:
			return fault.Newf(fault.Invalid, "%q length must be less than or equal to %d characters long", f.name, f.most)
		}
	}
	return nil
}
