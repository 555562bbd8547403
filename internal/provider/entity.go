package provider

import (
	"context"

	"github.com/kobo-waas/kobo/internal/money"
)

// EntityVerifier looks up the owners of smartcards and meters. A Biller that sells TV or power may
// also be an EntityVerifier.
type EntityVerifier interface {
	// VerifyEntity looks up a smartcard or a meter and moves no money. Rejected means that the
	// smartcard or meter definitely does not exist at the biller. Any other failure is Unknown.
	VerifyEntity(ctx context.Context, q EntityQuery) EntityAnswer
}

// EntityQuery names the smartcard or the meter to look up.
type EntityQuery struct {
	Kind     ServiceKind // CableTV or Utility
	Category string      // Category.Code
	Number   string      // the number of the smartcard or the meter
}

// EntityAnswer is what the biller reports about a smartcard or a meter.
type EntityAnswer struct {
	Answer
	Entity
}

// Entity is a smartcard or a meter. Fields that the biller does not report stay empty.
type Entity struct {
	CustomerName   string     `db:"customer_name"`
	Address        string     `db:"address"`
	CurrentPackage string     `db:"current_package"` // cable TV
	DueDate        string     `db:"due_date"`        // cable TV: the end of the paid period, YYYY-MM-DD
	Renewal        money.Kobo `db:"renewal_kobo"`    // cable TV: the price of the current package
	VendType       string     `db:"vend_type"`       // utility: PREPAID or POSTPAID
	Least          money.Kobo `db:"least_kobo"`      // utility: the lowest amount of one purchase; 0 means no limit
	Most           money.Kobo `db:"most_kobo"`       // utility: the highest amount of one purchase; 0 means no limit
}

// The two kinds of meter.
const (
	Prepaid  = "PREPAID"
	Postpaid = "POSTPAID"
)
