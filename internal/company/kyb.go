package company

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// KYB is how far a company's business verification has come.
type KYB string

// The states, in the words of the contract.
const (
	NotStarted       KYB = "NOT_STARTED"
	InProgress       KYB = "IN_PROGRESS"
	Submitted        KYB = "SUBMITTED"
	ChangesRequested KYB = "CHANGES_REQUESTED"
	Rejected         KYB = "REJECTED"
	Approved         KYB = "APPROVED"
)

// before are the states from which each can be reached, and no others
// (completion.md §3). Papers lapse: an approved company may be asked for changes,
// or be rejected. A rejected company may begin again.
var before = map[KYB][]string{
	InProgress:       {string(NotStarted), string(Rejected)},
	Submitted:        {string(InProgress), string(ChangesRequested)},
	ChangesRequested: {string(Submitted), string(Approved)},
	Rejected:         {string(Submitted), string(Approved)},
	Approved:         {string(Submitted)},
}

// changed is what the company is told of a move. It is not asked for its
// opinion, but it is told why.
type changed struct {
	CompanyID string `json:"companyId"`
	KYBStatus KYB    `json:"kybStatus"`
	Reason    string `json:"reason,omitempty"`
}

// MoveKYB moves a company's verification on. The move, the company's event and
// the audit line are one commit.
func (s *Service) MoveKYB(ctx context.Context, by Actor, reference string, to KYB, reason string) (Company, error) {
	if _, known := before[to]; !known && to != NotStarted {
		return Company{}, fault.New(fault.Invalid, `"status" must be one of [`+strings.Join(states(), ", ")+`]`)
	}
	now := s.clock.Now()
	err := s.book.Commit(ctx, ledger.Unit{
		Company: reference,
		Moves: []ledger.Move{{
			Table: companyTable, Key: []any{reference}, From: before[to], To: string(to),
			Set: []ledger.Change{{Column: "updated_at", Value: clock.Micros(now)}},
		}},
		Notes: []db.Record{
			event.New(reference, event.KYBChanged, changed{reference, to, reason}),
			by.Note(reference, "company.kyb", reference, map[string]string{"status": string(to), "reason": reason}, now),
		},
	})
	if r := ledger.Refused(err); r != nil && r.Reason == ledger.Moved {
		return Company{}, fault.Newf(fault.Refused, "KYB cannot move from %s to %s", r.State, to)
	}
	if err != nil {
		return Company{}, explain(err)
	}
	return s.anew(ctx, reference)
}

// SetLive switches a company on or off. Being live does not stand in for KYB,
// nor the other way round: the gate wants both.
func (s *Service) SetLive(ctx context.Context, by Actor, reference string, live bool) (Company, error) {
	for {
		c, err := s.Find(ctx, reference)
		if err != nil {
			return Company{}, err
		}
		now := s.clock.Now()
		// The row is guarded by its KYB state, which stays as it is; if it is
		// moved in this very moment, look again.
		err = s.book.Commit(ctx, ledger.Unit{
			Company: reference,
			Moves: []ledger.Move{{
				Table: companyTable, Key: []any{reference}, From: []string{string(c.KYB)}, To: string(c.KYB),
				Set: []ledger.Change{{Column: "live", Value: db.Flag(live)}, {Column: "updated_at", Value: clock.Micros(now)}},
			}},
			Notes: []db.Record{
				by.Note(reference, "company.live", reference, map[string]string{"live": strconv.FormatBool(live)}, now),
			},
		})
		if ledger.Is(err, ledger.Moved) {
			continue
		}
		if err != nil {
			return Company{}, explain(err)
		}
		return s.anew(ctx, reference)
	}
}

// anew reads a company that was just changed, and lets the gate of this process
// do the same; other processes may remember it for as long as the gate does.
func (s *Service) anew(ctx context.Context, reference string) (Company, error) {
	s.gate.Invalidate(reference)
	return s.Find(ctx, reference)
}

func states() []string {
	out := []string{string(NotStarted)}
	for k := range before {
		out = append(out, string(k))
	}
	slices.Sort(out)
	return out
}
