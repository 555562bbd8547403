package company

import (
	"time"

	"github.com/kobo-waas/kobo/internal/db"
)

// WaitingQueries are the statements that read the approvals that wait, each with the arguments behind the company and the instant.
func WaitingQueries() map[string][]any {
	return map[string][]any{
		`SELECT count(*)` + waitingSince: nil,
		`SELECT ` + approvalColumns + waitingSince + ` ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`: {100, 0},
		`SELECT count(*)` + waitingSince + ` AND asked_by = $3 AND kind = ANY($4)`:                           {"person:ada", []string{"PAYOUT"}},
		`SELECT ` + approvalColumns + waitingSince + ` AND kind = $3 ORDER BY created_at, id`:                {"PAYOUT"},
	}
}

// DecidedApproval is the row of an approval that somebody has decided.
func DecidedApproval(reference, id string, at time.Time) db.Record {
	return approvals.Record(Approval{
		Company: reference, ID: id, Kind: ApproveIssue, Body: "{}", State: ApprovalApproved, AskedBy: "person:ada", CreatedAt: at, ExpiresAt: at.Add(approvalLife), DecidedBy: "person:bola", DecidedAt: at,
	}).Put("mac", "none")
}
