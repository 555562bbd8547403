package provider

import (
	"context"

	"github.com/kobo-waas/kobo/internal/money"
)

// EntityVerifier knows whose a smartcard or a meter is. A Biller that sells TV or
// power is one too, unless it cannot tell.
type EntityVerifier interface {
	// VerifyEntity moves no money. Rejected is the biller's definite word that
	// there is no such smartcard or meter; any trouble on the way is Unknown.
	VerifyEntity(ctx context.Context, q EntityQuery) EntityAnswer
}

// EntityQuery asks about a smartcard or a meter.
type EntityQuery struct {
	Kind     ServiceKind // CableTV or Utility
	Category string      // Category.Code
	Number   string      // of the smartcard or the meter
}

// EntityAnswer is what the biller makes known about one.
type EntityAnswer struct {
	Answer
	Entity
}

// Entity is a smartcard or a meter. What a biller does not say stays empty.
type Entity struct {
	CustomerName   string     `db:"customer_name"`
	Address        string     `db:"address"`
	CurrentPackage string     `db:"current_package"` // cable TV
	DueDate        string     `db:"due_date"`        // cable TV: until when it is paid, YYYY-MM-DD
	Renewal        money.Kobo `db:"renewal_kobo"`    // cable TV: what the current package costs
	VendType       string     `db:"vend_type"`       // utility: PREPAID or POSTPAID
	Least          money.Kobo `db:"least_kobo"`      // utility: what may be bought at once; 0 for no limit
	Most           money.Kobo `db:"most_kobo"`
}

// The two kinds of meter.
const (
	Prepaid  = "PREPAID"
	Postpaid = "POSTPAID"
)
