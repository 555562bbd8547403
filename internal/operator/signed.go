package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
)

// ErrUnrecorded is the fault for a row that says who proposed something, if no signed line of the audit log
// says the same. Somebody may have written the row into the database.
var ErrUnrecorded = fault.New(fault.Refused, "No signed line of the audit log records this proposal: find out who wrote it, and propose again")

// SignedLine returns the line of the audit log about an act at an instant, if the program has signed it.
// Otherwise it returns ErrUnrecorded. The company is "" for a line of no company.
func (s *Service) SignedLine(ctx context.Context, company, action, subject string, at time.Time) (Line, error) {
	lines, err := s.signed(ctx, company, subject, at)
	for _, l := range lines {
		if l.Action == action && l.CreatedAt.Equal(at) {
			return l, nil
		}
	}
	if err == nil {
		err = ErrUnrecorded
	}
	return Line{}, err
}

// signed returns the signed lines about a subject since an instant, in the order of their numbers. A line that
// somebody has written without the evidence key is not among them.
func (s *Service) signed(ctx context.Context, company, subject string, since time.Time) (out []Line, err error) {
	rows, err := s.linesSince(ctx, company, subject, since)
	slices.SortFunc(rows, func(a, b auditRow) int { return cmp.Compare(a.Leaf, b.Leaf) }) // clocks of programs differ
	for _, row := range rows {
		if !s.isSigned(row) {
			continue
		}
		line, bad := row.line()
		if bad != nil {
			return nil, bad
		}
		out = append(out, line)
	}
	return out, err
}

// isSigned reports whether the program has signed a line.
func (s *Service) isSigned(row auditRow) bool { return s.isSignedRecord(audit.Record(row)) }

// isSignedRecord reports the same of a line as a record.
func (s *Service) isSignedRecord(line db.Record) bool {
	signer, mac := s.db.Signer(), line.Values[len(line.Values)-1].(string)
	return signer != nil && signer.Verify(db.Content(nil, audit.Table, line.Values), mac)
}

// MayStillPropose reports whether the proposer may still propose what needs the role finance. The
// person must have the role now, and must be the person of this name at the time of the proposal. If no
// signed line of the audit log records the proposal, MayStillPropose returns ErrUnrecorded.
func (s *Service) MayStillPropose(ctx context.Context, p operation.Draft) (bool, error) {
	lines, err := s.signed(ctx, p.Company, p.Subject, p.At)
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(lines, func(l Line) bool {
		for name, value := range p.Details {
			if l.Details[name] != value {
				return false
			}
		}
		return l.Action == p.Action && l.Operator == p.By && l.CreatedAt.Equal(p.At)
	}) {
		return false, ErrUnrecorded
	}
	return s.IsOperator(ctx, p.By, Finance, p.At)
}

// Proposer returns an error unless the operator who proposed something at an instant has the role least
// now. A key that is newer than the proposal belongs to a new person of the same name.
func (s *Service) Proposer(ctx context.Context, name string, least Role, at time.Time) error {
	k, err := s.find(ctx, name)
	switch {
	case err != nil:
		return err
	case k.CreatedAt.After(at):
		return fault.Newf(fault.Missing, "%s has a newer key than the proposal", name)
	}
	return Operator{Name: k.Name, Role: k.Role}.May(least)
}

// recorded returns ErrUnrecorded unless a signed line of the audit log records the proposal with the same
// acts and the same proposer. It returns a refusal if a later line records that the proposal has ended.
func (s *Service) recorded(ctx context.Context, p Proposal) error {
	lines, err := s.signed(ctx, "", cmp.Or(p.Company, p.ID), p.CreatedAt)
	if err != nil {
		return err
	}
	found := false
	for _, l := range lines {
		switch {
		case l.Details["proposal"] != p.ID:
		case l.Action == "proposal.reject" || l.Action == "proposal.withdraw" || l.Action == "proposal.end":
			return fault.New(fault.Refused, "The audit log records that the proposal has ended")
		case l.Action == "proposal.create":
			digest, err := p.digest()
			if err != nil {
				return err
			}
			found = l.Operator == p.ProposedBy && l.CreatedAt.Equal(p.CreatedAt) && l.Details[actsDigest] == digest
		}
	}
	if !found {
		return ErrUnrecorded
	}
	return nil
}

// actsDigest is the detail of the line proposal.create that holds Proposal.digest.
const actsDigest = "actsDigest"

// digest returns a hash of the acts, as they are stored.
func (p Proposal) digest() (string, error) {
	acts, err := json.Marshal(p.Acts)
	return digestOf(string(acts)), err
}

// actsOf is the name of the counter of a company's audited acts, of operators and of the company itself.
const actsOf = "operator/acts"

// Acts returns the number of the acts about a company that changed something. A token that is made again
// (Again) does not count.
func Acts(ctx context.Context, book *ledger.Book, company string) (int64, error) {
	return book.Last(ctx, company, actsOf)
}

// After returns the operator for an act that was weighed when the company had this number of acts. The
// ledger refuses the commit of the act if there are more by then (IsOvertaken).
func (o Operator) After(acts int64) Operator {
	o.weighed = &acts
	return o
}

// IsOvertaken reports whether err is the ledger's refusal of an act because of After.
func IsOvertaken(err error) bool {
	return ledger.IsOver(err, actsOf)
}
