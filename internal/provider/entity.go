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
	CustomerName   string
	Address        string
	CurrentPackage string     // cable TV
	DueDate        string     // cable TV: until when it is paid, YYYY-MM-DD
	Renewal        money.Kobo // cable TV: what the current package costs
	VendType       string     // utility: PREPAID or POSTPAID
	// What may be bought at once, for utility; 0 for no limit.
	Least, Most money.Kobo
}

// The two kinds of meter.
const (
	Prepaid  = "PREPAID"
	Postpaid = "POSTPAID"
)
