package provider

import (
	"context"

	"github.com/kobo-waas/kobo/internal/money"
)

// EntityVerifier knows the owners of smartcards and meters. A Biller that sells TV
// or power may be one too.
type EntityVerifier interface {
	// VerifyEntity moves no money. Rejected means that the biller definitely knows no
	// such smartcard or meter. Any other failure is Unknown.
	VerifyEntity(ctx context.Context, q EntityQuery) EntityAnswer
}

// EntityQuery asks about a smartcard or a meter.
type EntityQuery struct {
	Kind     ServiceKind // CableTV or Utility
	Category string      // Category.Code
	Number   string      // the number of the smartcard or the meter
}

// EntityAnswer is what the biller says about a smartcard or a meter.
type EntityAnswer struct {
	Answer
	Entity
}

// Entity is a smartcard or a meter. Fields that a biller does not tell stay empty.
type Entity struct {
	CustomerName   string     `db:"customer_name"`
	Address        string     `db:"address"`
	CurrentPackage string     `db:"current_package"` // cable TV
	DueDate        string     `db:"due_date"`        // cable TV: the end of the paid period, YYYY-MM-DD
	Renewal        money.Kobo `db:"renewal_kobo"`    // cable TV: the price of the current package
	VendType       string     `db:"vend_type"`       // utility: PREPAID or POSTPAID
	Least          money.Kobo `db:"least_kobo"`      // utility: the least of one purchase; 0 is no limit
	Most           money.Kobo `db:"most_kobo"`       // utility: the most of one purchase; 0 is no limit
}

// The two kinds of meter.
const (
	Prepaid  = "PREPAID"
	Postpaid = "POSTPAID"
)
