package report

import (
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/operation"
)

// outcomeColumns selects an operation's columns, and 1 if the operation has an open case, or 0.
const outcomeColumns = `SELECT ` + operation.Columns + `,
	CASE WHEN EXISTS (SELECT 1 FROM operation_case AS c
		WHERE c.company_id = operation.company_id AND c.subject = operation.id AND c.state = 'OPEN')
	THEN 1 ELSE 0 END FROM operation `

// isOpen is the condition for an open operation of the company $1. Such an operation has a job that
// asks for the outcome, or an open case. So the query reads no operations with an outcome.
const isOpen = ` operation.company_id = $1 AND operation.state = 'PENDING' AND operation.id IN (` + undecided + `) `

// isOneOf is the condition for an open operation of the company $1 with one of the references $2.
const isOneOf = ` operation.company_id = $1 AND operation.id = ANY($2) AND operation.state = 'PENDING' `

// undecided is SQL that selects the IDs of a company's operations that have a job or an open case.
const undecided = `SELECT subject FROM job WHERE company_id = $1 AND kind = 'operation.resolve'
	UNION SELECT subject FROM operation_case WHERE company_id = $1 AND state = 'OPEN'`

// isOpenCase is the SQL condition for an open case that can be about an operation. An operation's reference has no slash. A case about a
// ledger account or about a session of a bank has one, as in "settlement/1". There are many of them after somebody has altered rows.
const isOpenCase = `state = 'OPEN' AND subject NOT LIKE '%/%'`

// bought is SQL for what a purchase has bought. Airtime and power have no product, but a category such as MTN.
const bought = `CASE WHEN product_name <> '' THEN product_name
	ELSE coalesce((SELECT c.name FROM vtu_category AS c WHERE c.id = category_id) || ' ', '') || lower(kind) END`

// endedAdjustment is SQL for the state of an adjustment that was not approved. Operators withdraw their own adjustment by rejecting it.
const endedAdjustment = `CASE WHEN state = 'REJECTED' AND decided_by = created_by THEN 'WITHDRAWN' ELSE state END`

func scanOutcome(s db.Scanner) (Outcome, error) {
	var o operation.Operation
	var open int64
	err := s.Scan(append(o.Targets(), &open)...)
	last := o.Outcome
	if o.Code != "" {
		last += " (" + o.Code + ")"
	}
	out := Outcome{
		Reference: o.ID, Type: o.Kind, Status: string(o.State), Amount: o.Amount, Attempts: int(o.Polls),
		LastAnswer: last, LastAskedAt: o.AskedAt, NextTryAt: o.NextAt, NeedsDecision: open == 1,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt,
	}
	if o.State == operation.Pending {
		out.GraceEndsAt, out.CaseDueAt = o.GraceEnds(), o.CaseDue()
	}
	return out, err
}
