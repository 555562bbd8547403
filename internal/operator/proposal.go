package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
)

// ProposalState is the state of a proposal.
type ProposalState string

// These are the states. Only a proposal in the state Proposed can change its state.
const (
	Proposed  ProposalState = "PROPOSED"  // a second operator has not decided yet
	Approved  ProposalState = "APPROVED"  // a second operator has approved the acts
	Rejected  ProposalState = "REJECTED"  // a second operator has rejected the acts
	Withdrawn ProposalState = "WITHDRAWN" // the proposer has withdrawn the acts
	Expired   ProposalState = "EXPIRED"   // nobody has decided in time
	Dead      ProposalState = "DEAD"      // what the proposal rests on has changed
)

// Act is an operation of the admin API as data. It never contains a secret.
type Act struct {
	Operation string          `json:"operation"`
	ID        string          `json:"id,omitempty"` // the {id} in the operation's path
	Body      json.RawMessage `json:"body,omitempty"`
	On        string          `json:"on,omitempty"`  // the name of what the act changes, such as quota/otp
	Was       string          `json:"was,omitempty"` // the value of what the act changes, at the proposal
}

// Proposal is a list of acts of one company, or of none, that a second operator approves together.
type Proposal struct {
	ID         string        `db:"id,key"`
	Company    string        `db:"company"`
	State      ProposalState `db:"state"`
	ProposedBy string        `db:"proposed_by"`
	DecidedBy  string        `db:"decided_by"` // "" while nobody has decided
	Note       string        `db:"note"`       // the reason for the end of the proposal
	CreatedAt  time.Time     `db:"created_at"`
	ExpiresAt  time.Time     `db:"expires_at"`
	DecidedAt  time.Time     `db:"decided_at"` // zero while nobody has decided
	Acts       []Act
}

// proposalLife is the time in which a second operator must approve a proposal. In this time an
// approved proposal can also be continued after a crash.
const proposalLife = 24 * time.Hour

// Propose stores acts that wait for a second operator.
func (s *Service) Propose(ctx context.Context, by Operator, company string, acts []Act) (Proposal, error) {
	now := s.clock.Now()
	p := Proposal{
		ID: id.New(), Company: company, State: Proposed, ProposedBy: by.Name, CreatedAt: now, ExpiresAt: now.Add(proposalLife), Acts: acts,
	}
	digest, err := p.digest()
	if err != nil {
		return Proposal{}, err
	}
	line := p.note(by, "proposal.create", now, map[string]string{actsDigest: digest})
	return p, s.change(ctx, by, line, nil, func(q db.Querier) (int64, error) { return insertProposal(ctx, q, p) })
}

// note returns a line of the audit log about the proposal. The line belongs to no company, because a
// proposal changes nothing of the company. Its subject is the company, so a search for the company
// finds it.
func (p Proposal) note(by Operator, action string, at time.Time, details map[string]string) db.Record {
	details["proposal"], details["acts"] = p.ID, p.Names()
	return by.Note("", action, cmp.Or(p.Company, p.ID), details, at)
}

// Names returns the operations of the acts, separated by spaces.
func (p Proposal) Names() string {
	out := make([]string, len(p.Acts))
	for i, a := range p.Acts {
		out[i] = a.Operation
	}
	return strings.Join(out, " ")
}

// Proposal returns the proposal with this ID, whichever company it belongs to.
func (s *Service) Proposal(ctx context.Context, proposalID string) (Proposal, error) {
	p, err := s.findProposal(ctx, proposalID)
	return s.aged(p), db.Missing(err, "Proposal not found")
}

// Proposals returns a page of the proposals in a state, the newest first, and their total count. An
// empty state selects the proposals in any state.
func (s *Service) Proposals(ctx context.Context, state ProposalState, limit, offset int) ([]Proposal, int64, error) {
	list, total, err := s.pageProposals(ctx, state, s.clock.Now(), limit, offset)
	for i, p := range list {
		list[i] = s.aged(p)
	}
	return list, total, err
}

// aged returns a proposal in the state that it has by now.
func (s *Service) aged(p Proposal) Proposal {
	if p.State == Proposed && s.isOver(p) {
		p.State = Expired
	}
	return p
}

// isOver reports whether the time of a proposal is over. The stored expiry shows it, but the instant of
// the signed line decides, so a changed expiry revives no proposal.
func (s *Service) isOver(p Proposal) bool {
	now := s.clock.Now()
	return !now.Before(p.ExpiresAt) || !now.Before(p.CreatedAt.Add(proposalLife))
}

// Approve records that a second operator approves a proposal. Before that it calls check, which may
// refuse the approval. A proposal that no signed line of the audit log records is refused too, because
// somebody may have written it into the database. The caller then carries out the acts with the operator that As returns. After
// a crash, Approve allows any second operator to continue an approved proposal.
func (s *Service) Approve(ctx context.Context, by Operator, p Proposal, check func() error) error {
	continued := p.State == Approved && !s.isOver(p)
	switch {
	case p.ProposedBy == by.Name:
		return fault.New(fault.Refused, "A proposal must be approved by a second operator")
	case p.State != Proposed && !continued:
		return p.decided()
	}
	if err := s.recorded(ctx, p); err != nil {
		return err
	}
	if err := check(); err != nil || continued {
		return err
	}
	return s.decide(ctx, by, p, Approved, "proposal.approve")
}

// Reject ends the proposal of another operator.
func (s *Service) Reject(ctx context.Context, by Operator, p Proposal, note string) error {
	if p.ProposedBy == by.Name {
		return fault.New(fault.Refused, "You have made this proposal: withdraw it")
	}
	p.Note = note
	return s.decide(ctx, by, p, Rejected, "proposal.reject")
}

// Withdraw ends a proposal of the operator.
func (s *Service) Withdraw(ctx context.Context, by Operator, p Proposal) error {
	if p.ProposedBy != by.Name {
		return fault.Newf(fault.Refused, "Only %s can withdraw this proposal", p.ProposedBy)
	}
	return s.decide(ctx, by, p, Withdrawn, "proposal.withdraw")
}

// End ends a proposal because what it rests on has changed. It returns the refusal for the operator
// who wants to approve the proposal.
func (s *Service) End(ctx context.Context, p Proposal, why string) error {
	if p.State == Proposed {
		p.Note = why
		if err := s.decide(ctx, program, p, Dead, "proposal.end"); err != nil {
			return err
		}
	}
	return fault.Newf(fault.Refused, "The proposal is dead: %s", why)
}

func (p Proposal) decided() error {
	return fault.Newf(fault.Refused, "The proposal is %s already", strings.ToLower(string(p.State)))
}

// decide moves a proposal from the state Proposed to another state. If two operators decide at the
// same time, the first decision counts.
func (s *Service) decide(ctx context.Context, by Operator, p Proposal, to ProposalState, action string) error {
	if p.State != Proposed {
		return p.decided()
	}
	refusal := fault.New(fault.Conflict, "The proposal has just been decided: look at it again")
	p.State, p.DecidedBy, p.DecidedAt = to, by.Name, s.clock.Now()
	line := p.note(by, action, p.DecidedAt, map[string]string{"proposedBy": p.ProposedBy, "note": p.Note})
	return s.change(ctx, by, line, refusal, func(q db.Querier) (int64, error) { return decideProposal(ctx, q, p) })
}

// act is the place of an act in a proposal.
type act struct {
	proposal, proposedBy string
	position             int64
}

// done returns the row that shows that the act is done. The commit of the act inserts the row.
func (a act) done(company string, at time.Time) db.Record {
	return doneActs.Record(doneAct{Company: company, Proposal: a.proposal, Position: a.position, At: at})
}

var errDone = fault.New(fault.Conflict, "This act of the proposal is done already")

// As returns the operator for the act of a proposal at a position. The commit that holds the audit
// line of this operator then does the act at most once.
func (o Operator) As(p Proposal, position int) Operator {
	o.act = &act{p.ID, p.ProposedBy, int64(position)}
	return o
}
