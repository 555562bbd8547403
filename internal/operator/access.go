package operator

import (
	"context"
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
	row, err := db.OrZero(findAccess(ctx, q))
	if err != nil {
		return Access{}, err
	}
	said, err := s.recordedAccess(ctx, q)
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

// recordedAccess returns the state of API access according to the signed lines of the audit log.
func (s *Service) recordedAccess(ctx context.Context, q db.Querier) (out Access, err error) {
	rows, err := accessLines(ctx, q)
	for _, row := range rows {
		if !s.isSigned(row) {
			// A line of the dense sequence that is not as Kobo wrote it hides nothing: two operators must look.
			if row.Action == closingAccess && row.Leaf > 0 && s.db.Signer() != nil {
				out = Access{Closed: true, Since: row.CreatedAt, Reason: "the line of the audit log that closed API access is not as Kobo wrote it", Automatic: true}
			}
			continue
		}
		line, err := row.line()
		switch {
		case err != nil:
			return Access{}, err
		case line.Action == openingAccess:
			out = Access{}
		case !out.Closed:
			out = Access{Closed: true, Since: line.CreatedAt}
			fallthrough
		default:
			out.Reason = line.Details["reason"]
			out.Automatic = out.Automatic || line.Details["automatic"] == "true"
		}
	}
	return out, err
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

// OpenAccess opens API access again.
func (s *Service) OpenAccess(ctx context.Context, by Operator) error {
	line := by.Note("", openingAccess, "", nil, s.clock.Now())
	return s.change(ctx, by, line, errIsOpen, func(q db.Querier) (int64, error) {
		said, err := s.recordedAccess(ctx, q)
		if err != nil {
			return 0, err
		}
		n, err := openAccess(ctx, q)
		if said.Closed {
			n = 1 // the row may be gone
		}
		return n, err
	})
}
