package company

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/wire"
)

// KYB is the state of a company's business verification.
type KYB string

// These are the states, in the words of the contract.
const (
	NotStarted       KYB = "NOT_STARTED"
	InProgress       KYB = "IN_PROGRESS"
	Submitted        KYB = "SUBMITTED"
	ChangesRequested KYB = "CHANGES_REQUESTED"
	Rejected         KYB = "REJECTED"
	Approved         KYB = "APPROVED"
)

// before has, for each state, the states from which a company can reach it. Documents expire,
// so operators may request changes from an approved company, or reject it. A rejected company
// may begin again.
var before = map[KYB][]string{
	NotStarted:       nil,
	InProgress:       {string(NotStarted), string(Rejected)},
	Submitted:        {string(InProgress), string(ChangesRequested)},
	ChangesRequested: {string(Submitted), string(Approved)},
	Rejected:         {string(Submitted), string(Approved)},
	Approved:         {string(Submitted)},
}

// changed is the data of the event that reports a change of KYB.
type changed struct {
	CompanyID string `json:"companyId"`
	KYBStatus KYB    `json:"kybStatus"`
	Reason    string `json:"reason,omitempty"`
}

// CheckKYB returns an error if a company's KYB cannot move from one state to the other.
func CheckKYB(from, to KYB) error {
	states, known := before[to]
	switch {
	case !known:
		return fault.New(fault.Invalid, `"status" must be one of [`+allStates()+`]`)
	case !slices.Contains(states, string(from)):
		return errKYB(string(from), to)
	}
	return nil
}

func errKYB(from string, to KYB) error {
	return fault.Newf(fault.Refused, "KYB cannot move from %s to %s", from, to)
}

// SetKYB changes the state of a company's KYB. One commit holds the change, the event for the
// company and the line of the audit log.
func (s *Service) SetKYB(ctx context.Context, by Actor, reference string, to KYB, reason string) (Company, error) {
	if _, known := before[to]; !known {
		return Company{}, fault.New(fault.Invalid, `"status" must be one of [`+allStates()+`]`)
	}
	now := s.clock.Now()
	u := ledger.For(reference)
	u.Transition(companies.Record(Company{Reference: reference, KYB: to, UpdatedAt: now}), before[to]...).Only("updated_at")
	event.Emit(&u, event.KYBChanged, changed{reference, to, reason})
	by.Audit(&u, "company.kyb", reference, map[string]string{"status": string(to), "reason": reason}, now)
	err := s.book.Commit(ctx, u)
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return Company{}, errKYB(r.State, to)
	}
	if err != nil {
		return Company{}, explain(err)
	}
	return s.findChanged(ctx, reference)
}

// SetLive switches a company on or off. To use the API, a company that is switched on also needs
// an accepted KYB state.
func (s *Service) SetLive(ctx context.Context, by Actor, reference string, live bool) (Company, error) {
	working, err := s.Working(ctx, reference)
	if err != nil {
		return Company{}, err
	}
	return s.change(ctx, by, reference, change{
		audit: "company.live", details: map[string]string{"live": strconv.FormatBool(live)},
		event: event.LiveChanged, data: liveChanged{reference, live, len(working)},
		column: "live", set: func(c *Company) { c.Live = live },
	})
}

// mostPerSecond is the largest request limit that a company can have.
const mostPerSecond = 1_000_000

// CheckPerSecond returns an error if no company can have this request limit.
func CheckPerSecond(requests int64) error {
	if requests < 0 || requests > mostPerSecond {
		return fault.Newf(fault.Invalid, `"requestsPerSecond" must be 0 to %d`, mostPerSecond)
	}
	return nil
}

// SetPerSecond sets the number of requests that a company may make per second. With 0 the setting
// of the deployment applies. Each program applies the new number within a second (Follow).
func (s *Service) SetPerSecond(ctx context.Context, by Actor, reference string, requests int64) (Company, error) {
	if err := CheckPerSecond(requests); err != nil {
		return Company{}, err
	}
	return s.change(ctx, by, reference, change{
		audit: "company.rate", details: map[string]string{"requestsPerSecond": strconv.FormatInt(requests, 10)},
		event: event.LimitsChanged, data: event.Limit{CompanyID: reference, Limit: "requests", Per: "second", Count: wire.Number(requests)},
		column: "requests_per_second", set: func(c *Company) { c.PerSecond = requests },
	})
}

// change is a change of one column of a company, with its line in the audit log and its event.
type change struct {
	audit   string
	details map[string]string
	event   string
	data    any
	column  string
	set     func(*Company)
}

// liveChanged is the data of the event that reports that a company was switched on or off.
type liveChanged struct {
	CompanyID string `json:"companyId"`
	Live      bool   `json:"live"`
	APIKeys   int    `json:"apiKeys"` // the number of working API keys
}

// change makes one change of a company.
func (s *Service) change(ctx context.Context, by Actor, reference string, to change) (Company, error) {
	for {
		c, err := s.Find(ctx, reference)
		if err != nil {
			return Company{}, err
		}
		to.set(&c)
		c.UpdatedAt = s.clock.Now()
		u := ledger.For(reference)
		// The ledger refuses the unit if the KYB has changed meanwhile. The next try reads the new
		// state.
		u.Transition(companies.Record(c), string(c.KYB)).Only(to.column, "updated_at")
		event.Emit(&u, to.event, to.data)
		by.Audit(&u, to.audit, reference, to.details, c.UpdatedAt)
		err = s.book.Commit(ctx, u)
		if ledger.Is(err, ledger.Moved) {
			continue
		}
		if err != nil {
			return Company{}, explain(err)
		}
		return s.findChanged(ctx, reference)
	}
}

// findChanged reads a company after a change, and removes it from the cache of this process. Other
// processes do so in Follow.
func (s *Service) findChanged(ctx context.Context, reference string) (Company, error) {
	s.gate.Invalidate(reference)
	return s.Find(ctx, reference)
}

func allStates() string {
	var out []string
	for k := range before {
		out = append(out, string(k))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
