package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oapi-codegen/runtime"

	"github.com/kobo-waas/kobo/internal/chain"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/crypto"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/payout"
	"github.com/kobo-waas/kobo/internal/quota"
)

// stake is what a request is about to change. A proposal keeps on and was, and dies when the value
// is a different one at the approval.
type stake struct {
	on       string // the name of what changes, such as quota/otp; "" if the request changes no earlier value
	was      string // the present value
	company  string // the company of what changes, if the path does not name it
	needsTwo bool   // the request needs a second operator
}

// weigher returns the stake of a request.
type weigher func(ctx context.Context, r *request) (stake, error)

// weighing returns a weigher that decodes the body of a request and passes it to the function do.
func weighing[B any](do func(ctx context.Context, r *request, body B) (stake, error)) weigher {
	return func(ctx context.Context, r *request) (stake, error) {
		var body B
		if err := runtime.BindJSONValue(r.body, &body); err != nil {
			return stake{}, err // cannot happen, because the rules refuse such a body earlier
		}
		return do(ctx, r, body)
	}
}

// stakes returns the weighers of the operations that change an earlier value, by id. The condition
// in x-four-eyes says in a word what they decide.
func (e *edge) stakes() map[string]weigher {
	return map[string]weigher{
		"eraseCustomer":   e.weighErasure,
		"moveKYB":         weighing(e.weighKYB),
		"setLive":         weighing(e.weighLive),
		"setLimit":        weighing(e.weighLimit),
		"setQuota":        weighing(e.weighQuota),
		"setRequestLimit": weighing(e.weighRequestLimit),
		"setFees":         weighing(e.weighFees),
		"setXpub":         weighing(e.weighXpub),
		"setDoor":         weighing(e.weighDoor),
		"setOperatorRole": weighing(e.weighRole),
		"setPersonRole":   weighing(e.weighPersonRole),
	}
}

// stakeOf returns the stake of a request. It returns an error if the company of the request does not
// exist. If another act changes the company before the action runs, the ledger refuses the action.
func (e *edge) stakeOf(ctx context.Context, r *request) (stake, error) {
	s, acts, err := stake{}, int64(0), error(nil)
	if reference := r.PathValue("reference"); reference != "" {
		if _, err := e.Companies.Find(ctx, reference); err != nil {
			return stake{}, err
		}
		if acts, err = operator.Acts(ctx, e.Book, reference); err != nil {
			return stake{}, err
		}
	}
	if weigh := e.weighers[r.op.ID]; weigh != nil {
		s, err = weigh(ctx, r)
		r.by = r.by.After(acts)
	}
	s.needsTwo = s.needsTwo || r.op.FourEyes == always
	return s, err
}

// verification returns the stake of a change of a company's KYB or of its switch. Both decide whether the
// company may use the API, so each rests on the other, and on who holds the company's API keys.
func (e *edge) verification(ctx context.Context, c company.Company, needsTwo bool) (stake, error) {
	holders, err := e.holders(ctx, c.Reference)
	return stake{on: "company", was: fmt.Sprintf("%s, live %t, %s", c.KYB, c.Live, holders), needsTwo: needsTwo}, err
}

// holders describes a company's working API keys and its open key token for the second operator.
func (e *edge) holders(ctx context.Context, reference string) (string, error) {
	keys, err := e.Companies.Working(ctx, reference)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%d working API keys, the newest ", len(keys))
	switch len(keys) {
	case 0:
		text = "no working API key"
	case 1:
		text = "1 working API key, "
	}
	if len(keys) > 0 {
		k := keys[len(keys)-1]
		claim, err := e.Operators.SignedLine(ctx, reference, "company.key.claim", k.ID, k.CreatedAt)
		switch {
		case errors.Is(err, operator.ErrUnrecorded):
			text += "issued " + clock.Text(k.CreatedAt)
		case err != nil:
			return "", err
		default:
			text += "claimed " + clock.Text(k.CreatedAt) + " from " + cmp.Or(claim.Details["clientAddress"], "an unknown address")
		}
	}
	open, err := e.Companies.HasKeyToken(ctx, reference)
	if open {
		text += ", an open key token"
	}
	return text, err
}

// weighKYB needs a second operator for the approval, and for each change that lets the company use the
// API.
func (e *edge) weighKYB(ctx context.Context, r *request, body KYBRequest) (stake, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return stake{}, err
	}
	next := c
	next.KYB = company.KYB(body.Status)
	return e.verification(ctx, c, next.KYB == company.Approved || next.Passes() && !c.Passes())
}

func (e *edge) weighLive(ctx context.Context, r *request, body LiveRequest) (stake, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	if err != nil {
		return stake{}, err
	}
	return e.verification(ctx, c, body.Live)
}

// raised reports whether a limit becomes higher. 0 is no limit.
func raised(old, limit int64) bool { return old != 0 && (limit == 0 || limit > old) }

func (e *edge) weighLimit(ctx context.Context, r *request, body LimitRequest) (stake, error) {
	old, err := e.Payouts.Limit(ctx, r.PathValue("reference"), body.SettlementID)
	return stake{
		on: fmt.Sprintf("limit/%d", body.SettlementID), was: fmt.Sprintf("%s, %d payouts", old.Amount.Decimal(), old.Payouts),
		needsTwo: raised(int64(old.Amount), int64(body.Amount)) || raised(old.Payouts, body.Payouts),
	}, err
}

// weighRequestLimit compares the limits that apply. 0 is the limit of the deployment.
func (e *edge) weighRequestLimit(ctx context.Context, r *request, body RequestLimitRequest) (stake, error) {
	c, err := e.Companies.Find(ctx, r.PathValue("reference"))
	old, limit := cmp.Or(c.PerSecond, e.PerSecond), cmp.Or(body.RequestsPerSecond, e.PerSecond)
	return stake{on: "requests", was: fmt.Sprintf("%d per second", old), needsTwo: raised(old, limit)}, err
}

func (e *edge) weighQuota(ctx context.Context, r *request, body QuotaRequest) (stake, error) {
	_, uses, err := e.Quotas.Uses(ctx, r.PathValue("reference"))
	at := slices.IndexFunc(uses, func(u quota.Use) bool { return string(u.Kind) == body.Kind })
	if err != nil || at < 0 {
		return stake{}, err // the business refuses an unknown kind
	}
	return stake{on: "quota/" + body.Kind, was: fmt.Sprint(uses[at].Most), needsTwo: raised(uses[at].Most, body.Most)}, nil
}

func (e *edge) weighFees(ctx context.Context, r *request, body FeesRequest) (stake, error) {
	old, err := e.Payouts.Fees(ctx, r.PathValue("reference"))
	return stake{on: "fees", was: old.String(), needsTwo: scheduleOf(body).IsBelow(old)}, err
}

func scheduleOf(body FeesRequest) payout.Schedule {
	return rows(body.Bands, func(b BandRequest) payout.Band {
		return payout.Band{From: b.From, Flat: b.Flat, BasisPoints: int64(b.Percent), Cap: b.Cap}
	})
}

func (e *edge) weighXpub(ctx context.Context, r *request, body XpubRequest) (stake, error) {
	keys, err := e.Crypto.Keys(ctx, r.PathValue("reference"))
	s := stake{on: "xpub/" + body.Chain, was: "none"}
	if at := slices.IndexFunc(keys, func(k crypto.Key) bool { return k.Kind == chain.Kind(body.Chain) }); at >= 0 {
		s.was = keys[at].ID
	}
	return s, err
}

// weighDoor needs a second operator if Kobo itself has closed API access.
func (e *edge) weighDoor(ctx context.Context, r *request, body DoorRequest) (stake, error) {
	d, err := e.Operators.Access(ctx)
	r.access = &d
	return stake{on: "door", was: "closed since " + clock.Text(d.Since) + ": " + d.Reason, needsTwo: !body.Closed && d.Automatic}, err
}

func (e *edge) weighRole(ctx context.Context, r *request, _ RoleRequest) (stake, error) {
	o, err := e.Operators.Find(ctx, r.PathValue("id"))
	return stake{on: "operator/" + o.Name, was: string(o.Role)}, err
}
