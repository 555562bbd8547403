package operator

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

// Access is the state of API access. While API access is closed, companies cannot call the API.
// Background work goes on: Kobo polls the banks for credits, and the providers for outcomes.
type Access struct {
	Closed    bool
	Reason    string
	Since     time.Time
	Automatic bool // Kobo itself has closed API access
}

// Access returns the present state of API access.
func (s *Service) Access(ctx context.Context) (Access, error) { return s.accessIn(ctx, s.db) }

// accessIn returns the state of API access in a transaction. If the signed lines of the audit log say that API
// access is closed, they decide, and not the row. So nobody opens API access by a change of the row.
func (s *Service) accessIn(ctx context.Context, q db.Querier) (Access, error) {
	row, said, err := s.readAccess(ctx, q)
	if err != nil || !said.Closed {
		return row, err
	}
	if !row.Closed || row.Reason != said.Reason || said.Automatic && !row.Automatic {
		said.Reason += altered
	}
	return said, nil
}

// altered follows the reason if the row of API access differs from the audit log.
const altered = " (somebody has changed or removed this state in the database: run kobo verify)"

// readAccess returns the state of API access according to its row, and according to the signed lines of the
// audit log. One statement reads both, so an act at the same time is in both or in neither.
func (s *Service) readAccess(ctx context.Context, q db.Querier) (row, said Access, err error) {
	found, err := accessLines(ctx, q, s.db.Routed())
	if err != nil {
		return row, said, err
	}
	var lines []AccessLine
	for _, f := range found {
		switch {
		case f.Action == doorRow:
			row = Access{Closed: true, Reason: f.Subject, Since: f.CreatedAt, Automatic: f.Operator == automatically}
		case s.isSigned(f):
			line, err := f.line()
			if err != nil {
				return row, said, err
			}
			lines = append(lines, AccessLine{f.Leaf, f.CreatedAt, f.Action == closingAccess, line.Details["automatic"] == "true", line.Details["reason"]})
		case f.Action == closingAccess && f.Leaf > 0 && s.db.Signer() != nil:
			// A line of the dense sequence that is not as Kobo wrote it hides nothing: two operators must look.
			lines = append(lines, AccessLine{f.Leaf, f.CreatedAt, true, true, "the line of the audit log that closed API access is not as Kobo wrote it"})
		}
	}
	if slices.IsSortedFunc(lines, AccessLine.compareTimes) {
		return row, AccessAfter(lines, 0), nil // the numbers and the instants agree
	}
	last, err := s.lastAdopted(ctx, q)
	return row, AccessAfter(lines, last), err
}

// lastAdopted returns the number of the line that ended the adoption of the audit lines of no company. Until
// then each of these lines may have been adopted, so it returns the largest number.
func (s *Service) lastAdopted(ctx context.Context, q db.Querier) (int64, error) {
	last := int64(math.MaxInt64)
	lines, err := adoptions(ctx, q, "")
	for _, line := range lines {
		if line.Value("action") == adopted && s.isSignedRecord(line) {
			last = min(last, line.Value("leaf").(int64))
		}
	}
	return last, err
}

// AccessLine is what a line of the audit log says about API access.
type AccessLine struct {
	Leaf              int64 // its number among the lines of no company
	At                time.Time
	Closed, Automatic bool
	Reason            string
}

func (l AccessLine) compareTimes(other AccessLine) int {
	return cmp.Or(l.At.Compare(other.At), cmp.Compare(l.Leaf, other.Leaf))
}

// AccessAfter returns the state of API access after all these lines.
//
// A line that Kobo signed when it wrote the line has its number from the commit. So the numbers are the order
// of these lines, also if a clock was set back. A program of an earlier schema wrote a line without a number.
// Its adoption gave the line a later number than newer lines may have. The parameter lastAdopted is the number of the
// line that ended the adoption of the lines of no company. Up to this number, the instants are the order.
func AccessAfter(lines []AccessLine, lastAdopted int64) (out Access) {
	slices.SortFunc(lines, func(a, b AccessLine) int {
		if a.Leaf <= lastAdopted && b.Leaf <= lastAdopted {
			return a.compareTimes(b)
		}
		return cmp.Compare(a.Leaf, b.Leaf)
	})
	for _, line := range lines {
		switch {
		case !line.Closed:
			out = Access{}
			continue
		case !out.Closed:
			out = Access{Closed: true, Since: line.At}
		}
		out.Reason, out.Automatic = line.Reason, out.Automatic || line.Automatic
	}
	return out
}

// These are the actions of the lines about API access.
const (
	closingAccess = "door.close"
	openingAccess = "door.open"
)

var (
	errNoReason = fault.New(fault.Invalid, "closing API access needs a reason")
	errIsOpen   = fault.New(fault.Refused, "API access is open")
)

// CheckAccess returns an error if an operator cannot close API access for this reason, or cannot open it.
func (s *Service) CheckAccess(ctx context.Context, closed bool, reason string) error {
	if closed {
		if reason == "" {
			return errNoReason
		}
		return nil
	}
	is, err := s.Access(ctx)
	if err == nil && !is.Closed {
		err = errIsOpen
	}
	return err
}

// CloseAccess closes API access. If API access is closed already, CloseAccess changes the reason.
// It does not change that Kobo itself has closed API access.
func (s *Service) CloseAccess(ctx context.Context, by Operator, reason string) error {
	if reason == "" {
		return errNoReason
	}
	return s.db.Tx(ctx, func(q db.Querier) error { return s.shut(ctx, q, by, reason, false) })
}

// CloseRestored closes API access of a database that the operator has restored. As after Shut, two
// operators open API access.
func (s *Service) CloseRestored(ctx context.Context, by Operator, reason string) error {
	return s.db.Tx(ctx, func(q db.Querier) error { return s.shut(ctx, q, by, reason, true) })
}

// Shut closes API access in the caller's transaction, with the program itself as operator. If
// API access is closed already, Shut appends the earlier reason to the new one.
func (s *Service) Shut(ctx context.Context, q db.Querier, reason string) error {
	d, err := s.accessIn(ctx, q)
	if err != nil {
		return err
	}
	if d.Closed {
		reason += "; before that: " + d.Reason
	}
	return s.shut(ctx, q, program, reason, true)
}

func (s *Service) shut(ctx context.Context, q db.Querier, by Operator, reason string, automatic bool) error {
	now := s.clock.Now()
	if err := closeAccess(ctx, q, reason, now, automatic); err != nil {
		return err
	}
	details := map[string]string{"reason": reason}
	if automatic {
		details["automatic"] = "true"
	}
	return s.note(ctx, q, by, by.Note("", closingAccess, "", details, now))
}

// Seeing returns the operator who opens API access after its state was weighed. OpenAccess refuses if the state is another
// one by then, because Kobo may have closed API access in between, and then two operators open it.
func (o Operator) Seeing(state Access) Operator {
	o.seen = &state
	return o
}

var errOtherAccess = fault.New(fault.Conflict, "The state of API access has just changed: look at it again")

// OpenAccess opens API access again.
func (s *Service) OpenAccess(ctx context.Context, by Operator) error {
	line := by.Note("", openingAccess, "", nil, s.clock.Now())
	return s.change(ctx, by, line, errIsOpen, func(q db.Querier) (int64, error) {
		rows, err := lockAccess(ctx, q) // first, so that an act at the same time waits
		if err != nil {
			return 0, err
		}
		is, err := s.accessIn(ctx, q)
		switch {
		case err != nil || !is.Closed:
			return 0, err
		case by.seen != nil && !is.equals(*by.seen):
			return 0, errOtherAccess
		}
		gone, err := openAccess(ctx, q) // no row, if somebody has removed it
		if err == nil && gone != rows {
			err = errOtherAccess // Kobo has closed API access since, and there was no row to lock
		}
		return 1, err
	})
}

func (a Access) equals(b Access) bool {
	return a.Closed == b.Closed && a.Reason == b.Reason && a.Since.Equal(b.Since) && a.Automatic == b.Automatic
}
