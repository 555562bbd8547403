package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Columns are an operation's, in the order that Scan reads.
const Columns = `operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at`

const caseColumns = `company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, target_company,
	target_settlement, note, proposed_by, proposed_at, resolved_by, happened_at, created_at, updated_at`

var (
	operations = db.Declare[Operation]("operation", db.Reads(Columns),
		db.UniqueIfGiven("company_id", "kind", "idempotency_key"))
	cases = db.Declare[Case]("operation_case", db.Reads(caseColumns),
		db.Unique("company_id", "subject", "reason", "turn"))
	answers = db.Declare[answer]("operation_answer")
)

// answer is what a provider said of an operation, kept for the history of those
// that no answer settled at once.
type answer struct {
	Company     string    `db:"company_id,key"`
	ID          string    `db:"id,key"`
	OperationID string    `db:"operation_id"`
	Poll        int64     `db:"poll"`
	Outcome     string    `db:"outcome"`
	Code        string    `db:"code"`
	Message     string    `db:"message"`
	Reference   string    `db:"reference"`
	AnsweredAt  time.Time `db:"answered_at"`
}

// lastAnswer is the operation's last answer as a row of its history.
func (o Operation) lastAnswer() db.Record {
	return answers.Record(answer{o.Company, id.New(), o.ID, o.Polls, o.Outcome, o.Code, o.Message, o.ProviderReference, o.UpdatedAt})
}

// Scan reads Columns.
func Scan(s db.Scanner) (Operation, error) { return operations.Scan(s) }

// Targets are the places in o that a Scan of Columns fills, for a statement that
// reads an operation beside other columns.
func (o *Operation) Targets() []any { return operations.Targets(o) }

func (s *Service) find(ctx context.Context, company, operationID string) (Operation, error) {
	return db.One(ctx, s.db, Scan,
		`SELECT `+Columns+` FROM operation WHERE company_id = $1 AND id = $2`, company, operationID)
}

func (s *Service) findByKey(ctx context.Context, company, kind, key string) (Operation, error) {
	return db.One(ctx, s.db, Scan, `SELECT `+Columns+` FROM operation
		WHERE company_id = $1 AND kind = $2 AND idempotency_key = $3 AND idempotency_key <> ''`, company, kind, key)
}

// PendingOf are the operations of a kind and an amount whose outcome is not known,
// the oldest first.
func PendingOf(ctx context.Context, q db.Querier, company, kind string, amount money.Kobo) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT id FROM operation
		WHERE company_id = $1 AND state = 'PENDING' AND kind = $2 AND amount_kobo = $3 ORDER BY created_at, id`, company, kind, int64(amount))
}

// pendingAfter are the next open operations of all companies after one of them.
func (s *Service) pendingAfter(ctx context.Context, company, operationID string, limit int) ([]Operation, error) {
	return db.All(ctx, s.db, Scan, `SELECT `+Columns+` FROM operation
		WHERE state = 'PENDING' AND (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`, company, operationID, limit)
}

// Repeated tells whether the provider has called the operation's reference a
// duplicate. Then it knows the reference from before a restore, and what it says
// of not knowing it is no answer.
func (s *Service) Repeated(ctx context.Context, o Operation) (bool, error) {
	n, err := db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM operation_answer
		WHERE company_id = $1 AND operation_id = $2 AND code = $3`, o.Company, o.ID, provider.CodeDuplicate)
	return n > 0, err
}

// findCase looks a case up by its id alone: an operator works across companies.
func (s *Service) findCase(ctx context.Context, caseID string) (Case, error) {
	return db.One(ctx, s.db, cases.Scan, `SELECT `+caseColumns+` FROM operation_case WHERE id = $1 ORDER BY company_id`, caseID)
}

// lastCase is the newest case of a subject and reason.
func (s *Service) lastCase(ctx context.Context, company, subject string, reason Reason) (Case, error) {
	return db.One(ctx, s.db, cases.Scan, `SELECT `+caseColumns+` FROM operation_case
		WHERE company_id = $1 AND subject = $2 AND reason = $3 ORDER BY turn DESC LIMIT 1`, company, subject, string(reason))
}

// passing is what a case that a filter lets through has.
const passing = `state = $1 AND ($2 = '' OR company_id = $2) AND ($3 = '' OR reason = $3) AND ($4 = '' OR subject = $4)`

func (f CaseFilter) values() []any {
	return []any{string(f.State), f.Company, string(f.Reason), f.Subject}
}

// caseList is a page of the cases in a state, of all companies, newest first.
func (s *Service) caseList(ctx context.Context, f CaseFilter, limit, offset int) ([]Case, error) {
	return db.All(ctx, s.db, cases.Scan, `SELECT `+caseColumns+` FROM operation_case
		WHERE `+passing+` ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`, append(f.values(), limit, offset)...)
}

// openOf are the open cases of a reason and an amount, of all companies.
func (s *Service) openOf(ctx context.Context, reason Reason, amount money.Kobo) ([]Case, error) {
	return db.All(ctx, s.db, cases.Scan, `SELECT `+caseColumns+` FROM operation_case
		WHERE state = 'OPEN' AND reason = $1 AND amount_kobo = $2 ORDER BY company_id, id`, string(reason), int64(amount))
}

// openBreaks are the open cases of these reasons, of all companies, the oldest first.
func (s *Service) openBreaks(ctx context.Context, reasons []string) ([]Case, error) {
	return db.All(ctx, s.db, cases.Scan, `SELECT `+caseColumns+` FROM operation_case
		WHERE state = 'OPEN' AND reason = ANY($1) ORDER BY created_at, id`, reasons)
}

func (s *Service) caseCount(ctx context.Context, f CaseFilter) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64], `SELECT count(company_id) FROM operation_case WHERE `+passing, f.values()...)
}
