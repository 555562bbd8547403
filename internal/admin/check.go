package admin

import (
	"context"
	"strconv"

	"github.com/oapi-codegen/runtime"

	"github.com/kobo-waas/kobo/internal/card"
	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/quota"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// A checker returns an error if the act of a request could not be done now, after the earlier acts of its
// proposal. It changes nothing. The act itself calls the same functions of the business, so a proposal is
// refused for the same reasons as its approval.
type checker func(ctx context.Context, r *request, p *plan) error

// plan is what the earlier acts of a proposal will change.
type plan struct {
	kyb    company.KYB     // "" if no earlier act changes the KYB
	opened int             // the number of settlement accounts that the earlier acts open
	once   map[string]bool // what can happen only once in a proposal
}

func newPlan() *plan { return &plan{once: map[string]bool{}} }

// only returns an error if an earlier act of the proposal does the same.
func (p *plan) only(what string) error {
	if p.once[what] {
		return fault.Newf(fault.Invalid, "An earlier act of the proposal does the same (%s)", what)
	}
	p.once[what] = true
	return nil
}

// checking returns a checker that decodes the body of a request and passes it to the function do.
func checking[B any](do func(ctx context.Context, r *request, p *plan, body B) error) checker {
	return func(ctx context.Context, r *request, p *plan) error {
		var body B
		if err := runtime.BindJSONValue(r.body, &body); err != nil {
			return err // cannot happen, because the rules refuse such a body earlier
		}
		return do(ctx, r, p, body)
	}
}

// plain returns a checker for an act whose body alone decides.
func plain[B any](do func(body B) error) checker {
	return checking(func(_ context.Context, _ *request, _ *plan, body B) error { return do(body) })
}

// checks returns the checkers of all operations that can be proposed, by id.
func (e *edge) checks() map[string]checker {
	return map[string]checker{
		"moveKYB":           checking(e.checkKYB),
		"setLive":           plain(func(LiveRequest) error { return nil }),
		"setRequestLimit":   plain(func(body RequestLimitRequest) error { return company.CheckPerSecond(body.RequestsPerSecond) }),
		"resetPIN":          func(_ context.Context, _ *request, p *plan) error { return p.only("a PIN token") },
		"unlockPIN":         e.checkUnlock,
		"issueKey":          checking(e.checkKey),
		"revokeKey":         e.checkRevocation,
		"createAccount":     checking(checkNewAccount),
		"setAccountStatus":  checking(e.checkStatus),
		"setAccountAlert":   checking(e.checkAlert),
		"attachBankAccount": checking(e.checkAttach),
		"setXpub":           checking(e.checkXpub),
		"setCardAddress":    plain(func(body AddressRequest) error { return card.CheckAddress(customer.Address(body)) }),
		"setFees":           plain(func(body FeesRequest) error { return scheduleOf(body).Check() }),
		"setLimit":          checking(e.checkLimit),
		"setQuota":          plain(func(body QuotaRequest) error { return quota.Check(quota.Kind(body.Kind), body.Most) }),
		"eraseCustomer":     func(_ context.Context, r *request, p *plan) error { return p.only("customer " + r.PathValue("id")) },
		"setDoor":           checking(e.checkDoor),
		"addOperator":       checking(e.checkOperator),
		"inviteOperator":    checking(e.checkInvitation),
		"invitePerson":      checking(e.checkPersonInvitation),
		"setPersonRole":     checking(e.checkPersonRole),
		"endPerson":         e.checkPerson,
		"setOperatorRole":   plain(func(body RoleRequest) error { return operator.Role(body.Role).Check() }),
	}
}

func (e *edge) checkKYB(ctx context.Context, r *request, p *plan, body KYBRequest) error {
	from, to := p.kyb, company.KYB(body.Status)
	if from == "" {
		c, err := e.Companies.Find(ctx, r.PathValue("reference"))
		if err != nil {
			return err
		}
		from = c.KYB
	}
	p.kyb = to
	return company.CheckKYB(from, to)
}

func (e *edge) checkUnlock(ctx context.Context, r *request, p *plan) error {
	if err := e.Companies.CheckUnlock(ctx, r.PathValue("reference")); err != nil {
		return err
	}
	return p.only("the unlock of the PIN")
}

// checkKey refuses a second key token, because a new token replaces the earlier one.
func (e *edge) checkKey(_ context.Context, _ *request, p *plan, body KeyRequest) error {
	err := e.Companies.CheckExpiry(instant(body.ExpiresAt))
	if err == nil && (e.HideSecrets || body.Token) {
		err = p.only("a key token")
	}
	return err
}

func (e *edge) checkRevocation(ctx context.Context, r *request, p *plan) error {
	if err := e.Companies.CheckRevocation(ctx, r.PathValue("reference"), r.PathValue("id")); err != nil {
		return err
	}
	return p.only("API key " + r.PathValue("id"))
}

func checkNewAccount(_ context.Context, _ *request, p *plan, body AccountRequest) error {
	p.opened++
	return settlement.CheckName(body.Name)
}

// checkAccount returns an error unless the company has the settlement account, or earlier acts open it.
// New accounts get the next numbers.
func (e *edge) checkAccount(ctx context.Context, r *request, p *plan, settlementID string) error {
	number, err := strconv.ParseInt(settlementID, 10, 64)
	if err != nil {
		number = 0 // no account has the number 0
	}
	all, err := e.Settlements.Accounts(ctx, r.PathValue("reference"))
	if err != nil {
		return err
	}
	last := int64(0)
	for _, a := range all {
		if a.ID == number {
			return nil
		}
		last = max(last, a.ID)
	}
	if number > last && number <= last+int64(p.opened) {
		return nil
	}
	return fault.New(fault.Missing, "Settlement account not found")
}

func (e *edge) checkStatus(ctx context.Context, r *request, p *plan, body StatusRequest) error {
	if err := settlement.CheckStatus(settlement.Status(body.Status), body.Reason); err != nil {
		return err
	}
	return e.checkAccount(ctx, r, p, r.PathValue("id"))
}

func (e *edge) checkAlert(ctx context.Context, r *request, p *plan, body AlertRequest) error {
	if body.LowBalance != nil {
		if err := settlement.CheckAlert(*body.LowBalance); err != nil {
			return err
		}
	}
	return e.checkAccount(ctx, r, p, r.PathValue("id"))
}

func (e *edge) checkAttach(ctx context.Context, r *request, p *plan, body BankAccountRequest) error {
	err := e.Settlements.CheckAttach(ctx, r.PathValue("reference"), body.Bank, body.AccountNumber, body.AccountName)
	if err == nil {
		err = e.checkAccount(ctx, r, p, r.PathValue("id"))
	}
	if err == nil {
		err = p.only("bank account " + body.AccountNumber)
	}
	return err
}

func (e *edge) checkXpub(ctx context.Context, r *request, p *plan, body XpubRequest) error {
	if err := e.Crypto.CheckKey(ctx, r.PathValue("reference"), chain.Kind(body.Chain), body.Xpub); err != nil {
		return err
	}
	return p.only("the key of " + body.Chain)
}

func (e *edge) checkLimit(ctx context.Context, r *request, p *plan, body LimitRequest) error {
	err := payout.Limit{Amount: body.Amount, Payouts: body.Payouts}.Check()
	if err == nil && body.SettlementID != 0 {
		err = e.checkAccount(ctx, r, p, strconv.FormatInt(body.SettlementID, 10))
	}
	return err
}

func (e *edge) checkDoor(ctx context.Context, _ *request, p *plan, body DoorRequest) error {
	if err := e.Operators.CheckAccess(ctx, body.Closed, body.Reason); err != nil {
		return err
	}
	return p.only("API access")
}

func (e *edge) checkOperator(ctx context.Context, _ *request, p *plan, body OperatorRequest) error {
	if err := e.Operators.CheckAdd(ctx, body.Name, operator.Role(body.Role), body.KeyDigest); err != nil {
		return err
	}
	if err := p.only("the key " + body.KeyDigest[:8] + "…"); err != nil {
		return err
	}
	return p.only("operator " + body.Name)
}
