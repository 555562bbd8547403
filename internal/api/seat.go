package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/person"
)

// A person of a company uses the API through the pages of this program. The pages authenticate the person,
// and send the request to the same handler as a request from outside. So the rules of bodies, the
// Idempotency-Key, the limits of money and the request log are the same code. The limit of requests is for
// programs alone (takeRequest). A request from outside can have no seat, because a seat is in the context of
// a request and not in the request.

type seatKey struct{}

// Seat returns a context whose requests come from a person of a company. The caller has authenticated the
// person.
func Seat(ctx context.Context, p person.Person) context.Context {
	return context.WithValue(ctx, seatKey{}, p)
}

// seatOf returns the person of a request that a page of this program sent.
func seatOf(ctx context.Context) (p person.Person, sits bool) {
	p, sits = ctx.Value(seatKey{}).(person.Person)
	return p, sits && p.Company != ""
}

// isReading reports whether a person of a company reads a page. People read while the API is closed for maintenance:
// what Kobo knows does not change by that, and they need it most then.
func isReading(r *http.Request) bool {
	_, sits := seatOf(r.Context())
	return sits && r.Method == http.MethodGet
}

// seated checks that a person may run an operation, and returns the person's company.
func (e *edge) seated(ctx context.Context, p person.Person, op *contract.Operation) (company.Identity, error) {
	if err := mayRunAs(p, op.ID); err != nil {
		return company.Identity{}, err
	}
	identity, err := e.Companies.Seated(ctx, p.Company)
	identity.KeyID = "person:" + p.Name
	return identity, err
}

// MayRun reports whether people with a role may run an operation of the contract.
func MayRun(role, operationID string) bool { return slices.Contains(rolesFor(operationID), role) }

// rolesFor returns the roles whose people may run an operation.
func rolesFor(operationID string) []string {
	roles, listed := acts[operationID]
	if !listed {
		return person.Roles() // it only reads, and a viewer reads masked
	}
	return roles
}

var (
	ofMoney = []string{person.Owner, person.Finance}
	ofCode  = []string{person.Owner, person.Developer}
	ofAll   = []string{person.Owner, person.Finance, person.Developer}
	ofOwner = []string{person.Owner}
	ofNone  = []string{}
)

// acts are the operations that change something, show a secret, or answer with a file that cannot be masked, with the roles of the
// people who may run them. Everybody may run the other ones.
var acts = map[string][]string{
	"initiateCorporateKyc": ofOwner, "retryCorporateOtp": ofOwner, "validateCorporateKyc": ofOwner, "generateCorporateAccount": ofOwner,
	"createCustomer": ofMoney, "resendCustomerOtp": ofMoney, "generateCustomerAccount": ofMoney,
	"issueAPIKey": ofCode, "revokeAPIKey": ofCode, "setPIN": ofOwner, "setTwoPeople": ofOwner, "setPayoutApproval": ofOwner, "approveRequest": ofAll, "rejectRequest": ofAll, "findIdempotencyKey": ofCode,
	"findStatement": ofMoney, "findReceipt": ofAll, // a receipt has the row as it is, otherwise it proves nothing
	"createSettlementAccount": ofMoney, "setSettlementAlert": ofMoney, "generateVirtualAccount": ofMoney,
	"validateAccount": ofMoney, "sendPayout": ofMoney, "transferFunds": ofMoney,
	"openBulkPayout": ofMoney, "confirmBulkPayout": ofMoney, "cancelBulkPayout": ofMoney,
	"generateCard": ofMoney, "generateCardToken": ofNone, "sendDefaultPin": ofMoney, "fundCard": ofMoney,
	"freezeCard": ofAll, "unfreezeCard": ofMoney, "terminateCard": ofMoney,
	"verifyEntity": ofMoney, "purchaseData": ofMoney, "purchaseCableTV": ofMoney, "purchaseAirtime": ofMoney, "purchaseUtility": ofMoney,
	"generateCryptoAddress": ofMoney,
	"createWebhook":         ofCode, "updateWebhook": ofCode, "deleteWebhook": ofCode, "rotateWebhookSecret": ofCode, "testWebhook": ofCode,
	"replayWebhook": ofCode, "resendWebhookDelivery": ofCode,
}

// MayExport returns a refusal unless people with the role of a person may have files with personal data. The operation
// findStatement is one of them.
func MayExport(p person.Person) error { return mayRunAs(p, "findStatement") }

// mayRunAs refuses an operation that the role of a person does not permit.
func mayRunAs(p person.Person, operationID string) error {
	if MayRun(p.Role, operationID) {
		return nil
	}
	return fault.Newf(fault.Forbidden, "This needs the role %s, and %s has the role %s",
		strings.Join(rolesFor(operationID), " or "), p.Name, p.Role).With(fault.RoleMissing)
}

// Acts returns the operations that not everybody may run.
func Acts() []string { return slices.Sorted(maps.Keys(acts)) }
