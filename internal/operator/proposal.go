package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// ProposalState is the state of a proposal.
type ProposalState string

// These are the states. Only a proposal in the state Proposed or Unfinished can change its state. Expired and
// Unfinished are not stored: they follow from the time and from the acts that are done.
const (
	Proposed   ProposalState = "PROPOSED"   // a second operator has not decided yet
	Unfinished ProposalState = "UNFINISHED" // a second operator has approved the acts, and not all are done
	Approved   ProposalState = "APPROVED"   // a second operator has approved the acts, and all are done
	Rejected   ProposalState = "REJECTED"   // a second operator has rejected the acts
	Withdrawn  ProposalState = "WITHDRAWN"  // the proposer has withdrawn the acts
	Expired    ProposalState = "EXPIRED"    // the time was over before all acts were done
	Dead       ProposalState = "DEAD"       // what the proposal rests on has changed
)

// ProposalStates returns all states.
func ProposalStates() []ProposalState {
	return []ProposalState{Proposed, Unfinished, Approved, Rejected, Withdrawn, Expired, Dead}
}

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
	Size       int64         `db:"act_count"`  // the number of the acts; 0 in a row of an earlier program
	Acts       []Act
}

// proposalLife is the time in which a second operator must approve a proposal. In this time an
// approved proposal can also be continued after a crash.
const proposalLife = 24 * time.Hour

// errAsked refuses a form that has asked for something else before.
var errAsked = fault.New(fault.Conflict, "This form has asked for something else before. Load the page again")

// Propose stores acts that wait for a second operator. If the form of the operator has stored them before, Propose returns the
// stored proposal (Sending).
func (s *Service) Propose(ctx context.Context, by Operator, company string, acts []Act) (Proposal, error) {
	now := s.clock.Now()
	p := Proposal{
		ID: by.NewID("proposal"), Company: company, State: Proposed, ProposedBy: by.Name, CreatedAt: now, ExpiresAt: now.Add(proposalLife),
		Size: int64(len(acts)), Acts: acts,
	}
	digest, err := p.digest()
	if err != nil {
		return Proposal{}, err
	}
	line := p.note(by, "proposal.create", now, map[string]string{actsDigest: digest})
	err = s.change(ctx, by, line, errAsked, func(q db.Querier) (int64, error) { return insertProposal(ctx, q, p) })
	if errors.Is(err, errAsked) {
		return s.asked(ctx, p, digest)
	}
	return p, err
}

// asked returns the stored proposal with the ID of p, if it is the same proposal.
func (s *Service) asked(ctx context.Context, p Proposal, digest string) (Proposal, error) {
	was, err := s.Proposal(ctx, p.ID)
	if err != nil {
		return Proposal{}, err
	}
	then, err := was.digest()
	if err == nil && (then != digest || was.Company != p.Company || was.ProposedBy != p.ProposedBy) {
		err = errAsked
	}
	return was, err
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
// empty state selects the proposals in any state. Proposed also selects the unfinished proposals, because
// both wait for an operator.
func (s *Service) Proposals(ctx context.Context, state ProposalState, limit, offset int) ([]Proposal, int64, error) {
	list, total, err := s.pageProposals(ctx, state, s.clock.Now(), limit, offset)
	for i, p := range list {
		list[i] = s.aged(p)
	}
	return list, total, err
}

// aged returns a proposal in the state that it has by now.
func (s *Service) aged(p Proposal) Proposal {
	if p.waits() && s.isOver(p) {
		p.State = Expired
	}
	return p
}

// waits reports whether the proposal waits for an operator.
func (p Proposal) waits() bool { return p.State == Proposed || p.State == Unfinished }

// isOver reports whether the time of a proposal is over. The stored expiry shows it, but the instant of
// the signed line decides, so a changed expiry revives no proposal.
func (s *Service) isOver(p Proposal) bool {
	now := s.clock.Now()
	return !now.Before(p.ExpiresAt) || !now.Before(p.CreatedAt.Add(proposalLife))
}

// Approve records that a second operator approves a proposal. Before that it calls check, which may
// refuse the approval. A proposal that no signed line of the audit log records is refused too, because
// somebody may have written it into the database. The caller then carries out the acts with the operator that As returns. After
// an error or a crash, Approve allows any second operator to continue an approved proposal.
func (s *Service) Approve(ctx context.Context, by Operator, p Proposal, check func() error) error {
	continued := p.State == Unfinished || p.State == Approved && !s.isOver(p)
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

// Reject ends the proposal of another operator. Of an unfinished proposal, it ends the acts that are not done.
func (s *Service) Reject(ctx context.Context, by Operator, p Proposal, note string) error {
	if p.ProposedBy == by.Name {
		return fault.New(fault.Refused, "You have made this proposal: withdraw it")
	}
	p.Note = note
	return s.decide(ctx, by, p, Rejected, "proposal.reject")
}

// Withdraw ends a proposal of the operator, as Reject does.
func (s *Service) Withdraw(ctx context.Context, by Operator, p Proposal) error {
	if p.ProposedBy != by.Name {
		return fault.Newf(fault.Refused, "Only %s can withdraw this proposal", p.ProposedBy)
	}
	return s.decide(ctx, by, p, Withdrawn, "proposal.withdraw")
}

// End ends a proposal because what it rests on has changed. It returns the refusal for the operator
// who wants to approve the proposal. End leaves an unfinished proposal as it is, because a concurrent
// approval may just be changing what the proposal rests on.
func (s *Service) End(ctx context.Context, p Proposal, why string) error {
	if p.State != Proposed {
		return fault.Newf(fault.Refused, "The proposal cannot go on, so reject or withdraw it: %s", why)
	}
	p.Note = why
	if err := s.decide(ctx, program, p, Dead, "proposal.end"); err != nil {
		return err
	}
	return fault.Newf(fault.Refused, "The proposal is dead: %s", why)
}

// Ended returns a refusal if somebody has ended the proposal, else nil.
func (p Proposal) Ended() error {
	if p.waits() || p.State == Approved {
		return nil
	}
	return p.decided()
}

func (p Proposal) decided() error {
	return fault.Newf(fault.Refused, "The proposal is %s already", strings.ToLower(string(p.State)))
}

var errJustDecided = fault.New(fault.Conflict, "The proposal has just been decided: look at it again")

// decide moves a waiting proposal to another state. If two operators decide at the same time, the first
// decision counts. The transaction that ends an unfinished proposal also takes the places of the acts that
// are not done. So a concurrent approval does none of them afterwards.
func (s *Service) decide(ctx context.Context, by Operator, p Proposal, to ProposalState, action string) error {
	if !p.waits() {
		return p.decided()
	}
	begun := p.State == Unfinished
	p.State, p.DecidedBy, p.DecidedAt = to, by.Name, s.clock.Now()
	details := map[string]string{"proposedBy": p.ProposedBy, "note": p.Note}
	return s.db.Tx(ctx, func(q db.Querier) error {
		n, err := decideProposal(ctx, q, p, begun)
		if err == nil && n == 0 {
			err = errJustDecided
		}
		if err == nil && begun {
			details["done"], details["notDone"], err = endActs(ctx, q, p)
		}
		if err == nil && begun && details["notDone"] == "" {
			err = fault.New(fault.Refused, "All acts of the proposal are done already")
		}
		if err != nil {
			return err
		}
		return s.note(ctx, q, by, p.note(by, action, p.DecidedAt, details))
	})
}

// endActs takes the places of the acts that are not done, and returns the names of the done acts and of
// the others. The commit of an act inserts a row with the act's place, and fails if the place is taken.
func endActs(ctx context.Context, q db.Querier, p Proposal) (done, notDone string, err error) {
	for i := range p.Acts {
		// An act of no company has a place without a company, also in a proposal with a company.
		for _, company := range slices.Compact([]string{"", p.Company}) {
			if _, err := insertDone(ctx, q, act{proposal: p.ID, position: int64(i)}.done(company, time.Time{}, 0)); err != nil {
				return "", "", err
			}
		}
	}
	times, err := doneTimes(ctx, q, p.ID)
	var names, others []string
	for i, a := range p.Acts {
		if _, isDone := times[int64(i)]; isDone {
			names = append(names, a.Operation)
		} else {
			others = append(others, a.Operation)
		}
	}
	return strings.Join(names, " "), strings.Join(others, " "), err
}

// act is the place of an act in a proposal.
type act struct {
	proposal, proposedBy string
	position             int64
	again                bool // the act is done already, and only its response is made again
}

// done returns the row that shows that the act is done. The commit of the act inserts the row.
func (a act) done(company string, at time.Time, acts int64) db.Record {
	return doneActs.Record(doneAct{Company: company, Proposal: a.proposal, Position: a.position, At: at, Acts: acts})
}

// ActsOfOthers returns the number of acts about the company since the proposal did its act at a position,
// without the acts of the proposal. Parameter now is the number of all acts about the company (Acts).
func (s *Service) ActsOfOthers(ctx context.Context, p Proposal, position int, now int64) (int64, error) {
	done, err := findDone(ctx, s.db, p.ID)
	if err != nil {
		return 0, err
	}
	var since int64
	for _, d := range done {
		if d.Position == int64(position) {
			since = d.Acts
		}
	}
	others := now - since
	for _, d := range done {
		if since < d.Acts && d.Acts <= now { // the acts after now are not in now
			others--
		}
	}
	return others, nil
}

var errDone = fault.New(fault.Conflict, "This act of the proposal is done already")

// As returns the operator for the act of a proposal at a position. The commit that holds the audit
// line of this operator then does the act at most once. Several acts may make things of one kind, so
// these get identifiers of their own, and none of the approval's form.
func (o Operator) As(p Proposal, position int) Operator {
	o.form = ""
	o.act = &act{proposal: p.ID, proposedBy: p.ProposedBy, position: int64(position)}
	return o
}

// Again returns the operator for a new response of an act that is done. The audit lines of this operator
// name the proposal, and no act counts as done. They do not count as acts about the company (Acts): a token
// that is made again has the same owner and the same end, so no approval rests on it.
func (o Operator) Again(p Proposal) Operator {
	o.act = &act{proposal: p.ID, proposedBy: p.ProposedBy, again: true}
	return o
}
