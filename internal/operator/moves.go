package operator

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/deployment"
)

// MovesHold is the state of the moves of purchases to further billers.
type MovesHold struct {
	Held   bool
	Since  time.Time // zero if no line of the audit log says it
	By     string    // the name of the operator, or "" if no line says it
	Reason string    // "" if nobody gave one
}

// These are the actions of the lines about the moves of purchases.
const (
	holdingMoves  = "moves.hold"
	allowingMoves = "moves.allow"
)

// HoldMoves holds the moves of purchases to further billers, or allows them again, in the caller's
// transaction. The reason of a hold may be "". If something changes, HoldMoves appends a line to the audit
// log. It returns an error if the database has no name yet (deployment.Service.Name).
func (s *Service) HoldMoves(ctx context.Context, q db.Querier, by Operator, held bool, reason string) error {
	changed, err := deployment.HoldMoves(ctx, q, held)
	if err != nil || !changed {
		return err
	}
	if !held {
		return s.NoteIn(ctx, q, by, allowingMoves, "", nil)
	}
	var details map[string]string
	if reason != "" {
		details = map[string]string{"reason": reason}
	}
	return s.NoteIn(ctx, q, by, holdingMoves, "", details)
}

// Moves returns whether the moves of purchases are held, and since when and why according to the newest
// line of the audit log. A hold of an earlier program may have no line.
func (s *Service) Moves(ctx context.Context) (h MovesHold, err error) {
	if h.Held, err = deployment.MovesHeld(ctx, s.db); err != nil || !h.Held {
		return h, err
	}
	lines, _, err := s.SearchAudit(ctx, AuditFilter{Action: holdingMoves}, 1, 0)
	if err != nil || len(lines) == 0 {
		return h, err
	}
	ended, _, err := s.SearchAudit(ctx, AuditFilter{Action: allowingMoves, From: lines[0].CreatedAt}, 1, 0)
	if err != nil || len(ended) > 0 {
		return h, err // the line is about an earlier hold
	}
	h.Since, h.By, h.Reason = lines[0].CreatedAt, lines[0].Operator, lines[0].Details["reason"]
	return h, nil
}

// MovesAllowedAt returns when operators last ended a hold of moves. It returns the zero time if no line of the audit log says it.
func (s *Service) MovesAllowedAt(ctx context.Context) (time.Time, error) {
	lines, _, err := s.SearchAudit(ctx, AuditFilter{Action: allowingMoves}, 1, 0)
	if err != nil || len(lines) == 0 {
		return time.Time{}, err
	}
	return lines[0].CreatedAt, nil
}
