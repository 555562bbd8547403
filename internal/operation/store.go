package operation

import (
	"context"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/job"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Columns lists the columns of an operation, for SQL statements whose rows Scan reads.
const Columns = `operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.meter_codes, operation.created_at, operation.updated_at,
	operation.attempt`

// CaseColumns lists the columns of a case, for SQL statements whose rows ScanCase reads.
const CaseColumns = `company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, target_company,
	target_settlement, note, proposed_by, proposed_at, resolved_by, happened_at, created_at, updated_at`

const attemptColumns = `company_id, operation_id, attempt, provider, reference, cost_kobo, state, outcome, code, message, created_at, ended_at`

var (
	operations = db.Declare[Operation]("operation", db.Reads(Columns),
		db.UniqueIfGiven("company_id", "kind", "idempotency_key"))
	cases = db.Declare[Case]("operation_case", db.Reads(CaseColumns),
		db.Unique("company_id", "subject", "reason", "turn"),
		db.Rights("subject", "reason", "turn", "detail", "amount_kobo", "state", "outcome", "target_company",
			"target_settlement", "note", "proposed_by", "proposed_at", "resolved_by", "happened_at", "created_at"))
	answers  = db.Declare[answer]("operation_answer")
	labels   = db.Declare[label]("operation_label", db.UniqueIfGiven("company_id", "kind", "external_reference"))
	marks    = db.Declare[mark]("operation_mark")
	attempts = db.Declare[Attempt]("operation_attempt", db.Reads(attemptColumns), db.Unique("company_id", "reference"))
)

// ScanCase reads a row of CaseColumns.
func ScanCase(s db.Scanner) (Case, error) { return cases.Scan(s) }

// answer is a row of the history of provider replies. The history only covers operations whose
// first reply was not definite.
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

// lastAnswer returns the provider's last reply as a row of the history, with the words of this reply only.
func (o Operation) lastAnswer() db.Record {
	return answers.Record(answer{o.Company, id.New(), o.ID, o.Polls, o.Outcome, o.Code, o.Said, o.ProviderReference, o.UpdatedAt})
}

// Scan returns the operation in a row of Columns.
func Scan(s db.Scanner) (Operation, error) { return operations.Scan(s) }

// Targets returns pointers to the fields of o, in the order of Columns. It is for SQL statements
// that read further columns.
func (o *Operation) Targets() []any { return operations.Targets(o) }

// findLabelled selects operations with their labels.
const findLabelled = `SELECT ` + Columns + `, ` + LabelColumns + ` FROM operation` + LabelJoin

// Find returns one operation of the company, in any state.
func (s *Service) Find(ctx context.Context, company, operationID string) (Operation, error) {
	o, err := db.One(ctx, s.db, scanLabelled, findLabelled+`WHERE operation.company_id = $1 AND operation.id = $2`, company, operationID)
	if err == nil && o.Attempt > 0 {
		o.Last, err = s.lastAttempt(ctx, o)
	}
	return o, db.Missing(err, "Operation not found")
}

// FindAll returns the operations of the company that have these IDs, in any order and without their
// labels. IDs without an operation are left out.
func (s *Service) FindAll(ctx context.Context, company string, ids []string) ([]Operation, error) {
	return db.All(ctx, s.db, Scan, `SELECT `+Columns+` FROM operation WHERE company_id = $1 AND id = ANY($2)`, company, ids)
}

// ReferencesOf returns those of some externalReferences that operations of the company and kind have.
func (s *Service) ReferencesOf(ctx context.Context, company, kind string, references []string) ([]string, error) {
	return db.All(ctx, s.db, db.Value[string], `SELECT external_reference FROM operation_label
		WHERE company_id = $1 AND kind = $2 AND external_reference = ANY($3) AND external_reference <> ''`, company, kind, references)
}

// FindByKey returns the company's operation with this kind and this idempotency key of the
// caller.
func (s *Service) FindByKey(ctx context.Context, company, kind, key string) (Operation, error) {
	o, err := db.One(ctx, s.db, scanLabelled, findLabelled+`
		WHERE operation.company_id = $1 AND operation.kind = $2 AND operation.idempotency_key = $3 AND operation.idempotency_key <> ''`, company, kind, key)
	return o, db.Missing(err, "Operation not found")
}

// PendingOf returns the IDs of a company's PENDING operations with this kind and amount, the
// oldest first.
func PendingOf(ctx context.Context, q db.Querier, company, kind string, amount money.Kobo) ([]string, error) {
	open, err := openOf(ctx, q, company)
	if err != nil {
		return nil, err
	}
	return db.All(ctx, q, db.Value[string], `SELECT id FROM operation
		WHERE company_id = $1 AND id = ANY($4) AND state = 'PENDING' AND kind = $2 AND amount_kobo = $3
		ORDER BY created_at, id`, company, kind, int64(amount), open)
}

// openOf returns the IDs of all operations of a company that may be PENDING. A PENDING operation
// has a resolver's job or an open case. So no index of the operations by state is needed, which
// each outcome would have to change.
func openOf(ctx context.Context, q db.Querier, company string) ([]string, error) {
	open, err := job.Waiting(ctx, q, company, ResolveJob)
	if err != nil {
		return nil, err
	}
	undecided, err := db.All(ctx, q, db.Value[string],
		`SELECT subject FROM operation_case WHERE company_id = $1 AND state = 'OPEN'`, company)
	return append(open, undecided...), err
}

// pendingMoney returns the sum of the amounts and fees of a company's PENDING operations among
// these.
func pendingMoney(ctx context.Context, q db.Querier, company string, ids []string) (money.Kobo, error) {
	return db.One(ctx, q, db.Value[money.Kobo], `SELECT CAST(coalesce(sum(amount_kobo + fee_kobo), 0) AS BIGINT) FROM operation
		WHERE company_id = $1 AND id = ANY($2) AND state = 'PENDING'`, company, ids)
}

// pendingAfter returns the next PENDING operations of all companies, in the order of company and
// ID. It starts after the operation with this company and ID.
func pendingAfter(ctx context.Context, q db.Querier, company, operationID string) ([]Operation, error) {
	return db.All(ctx, q, Scan, `SELECT `+Columns+` FROM operation
		WHERE state = 'PENDING' AND (company_id, id) > ($1, $2) ORDER BY company_id, id LIMIT $3`, company, operationID, restoreBatch)
}

// pendingIn does the same as pendingAfter for the operations of one company.
func pendingIn(ctx context.Context, q db.Querier, company, operationID string) ([]Operation, error) {
	return db.All(ctx, q, Scan, `SELECT `+Columns+` FROM operation
		WHERE company_id = $1 AND id > $2 AND state = 'PENDING' ORDER BY id LIMIT $3`, company, operationID, restoreBatch)
}

// Repeated reports whether the provider has ever reported the operation's reference as a
// duplicate, or has replied with another reference. In that case the provider knows the reference
// from before a restore, or may know it in another spelling. So the reply "no such reference" does not count.
func (s *Service) Repeated(ctx context.Context, o Operation) (bool, error) {
	n, err := db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM operation_answer
		WHERE company_id = $1 AND operation_id = $2 AND (code = $3 OR code = $4)`, o.Company, o.ID, provider.CodeDuplicate, provider.CodeOther)
	return n > 0, err
}

// BegunAhead reports whether an answer about the operation is older than the operation. The clock was ahead then when the operation
// began, so the provider may have carried it out before CreatedAt.
func (s *Service) BegunAhead(ctx context.Context, o Operation) (bool, error) {
	n, err := db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM operation_answer
		WHERE company_id = $1 AND operation_id = $2 AND answered_at < $3`, o.Company, o.ID, clock.Micros(o.CreatedAt))
	return n > 0, err
}

// FindCase returns the case with this ID, of any company, since operators work across companies.
func (s *Service) FindCase(ctx context.Context, caseID string) (Case, error) {
	c, err := db.One(ctx, s.db, cases.Scan, `SELECT `+CaseColumns+` FROM operation_case WHERE id = $1 ORDER BY company_id`, caseID)
	return c, db.Missing(err, "Case not found")
}

// OpenAbout returns the IDs of a company's open cases about these subjects.
func (s *Service) OpenAbout(ctx context.Context, company string, subjects []string) ([]string, error) {
	return db.All(ctx, s.db, db.Value[string], `SELECT id FROM operation_case
		WHERE company_id = $1 AND subject = ANY($2) AND state = 'OPEN' ORDER BY id`, company, subjects)
}

// lastCase returns the company's newest case with this subject and reason.
func (s *Service) lastCase(ctx context.Context, company, subject string, reason Reason) (Case, error) {
	return db.One(ctx, s.db, cases.Scan, `SELECT `+CaseColumns+` FROM operation_case
		WHERE company_id = $1 AND subject = $2 AND reason = $3 ORDER BY turn DESC LIMIT 1`, company, subject, string(reason))
}

// casesAbout returns the company's cases with this subject and reason, in any state.
func (s *Service) casesAbout(ctx context.Context, company, subject string, reason Reason) ([]Case, error) {
	return db.All(ctx, s.db, cases.Scan, `SELECT `+CaseColumns+` FROM operation_case
		WHERE company_id = $1 AND subject = $2 AND reason = $3 ORDER BY turn`, company, subject, string(reason))
}

// passing is the SQL condition for the cases that a CaseFilter selects.
const passing = `state = $1 AND ($2 = '' OR company_id = $2) AND ($3 = '' OR reason = $3) AND ($4 = '' OR subject = $4)
	AND ($5 = CAST(0 AS BIGINT) OR proposed_by <> '')`

func (f CaseFilter) values() []any {
	return []any{string(f.State), f.Company, string(f.Reason), f.Subject, db.Flag(f.Proposed)}
}

// Cases returns a page of the cases that a filter selects, newest first, and their total count.
func (s *Service) Cases(ctx context.Context, f CaseFilter, limit, offset int) ([]Case, int64, error) {
	return db.Page(ctx, s.db, "", cases.Scan, `SELECT count(company_id) FROM operation_case WHERE `+passing, `SELECT `+CaseColumns+` FROM operation_case
		WHERE `+passing+` ORDER BY created_at DESC, id DESC LIMIT $6 OFFSET $7`, limit, offset, f.values()...)
}

// SQL statements that read the cases after a place, the newest first. Those of one company have an index of their own.
const (
	casesAfter = `SELECT ` + CaseColumns + ` FROM operation_case WHERE `
	isAfter    = `state = $1 AND ($2 = '' OR reason = $2) AND ($3 = '' OR subject = $3) AND ($4 = CAST(0 AS BIGINT) OR proposed_by <> '')
		AND (created_at, id) < ($5, $6) ORDER BY created_at DESC, id DESC LIMIT $7`
	ofCompanyAfter = `company_id = $8 AND `
)

// Cursor returns the place of a case in the list of cases.
func (c Case) Cursor() string { return db.Place{At: clock.Micros(c.CreatedAt), ID: c.ID}.Cursor() }

// CasesAfter returns at most limit cases that a filter selects, the newest first. They follow the case with the
// cursor after, which is "" for the newest cases. A wrong cursor is a fault of the kind Invalid.
func (s *Service) CasesAfter(ctx context.Context, f CaseFilter, after string, limit int) ([]Case, error) {
	at, err := db.PlaceOf(after)
	if err != nil {
		return nil, err
	}
	args := []any{string(f.State), string(f.Reason), f.Subject, db.Flag(f.Proposed), at.At, at.ID, limit}
	if f.Company == "" {
		return db.All(ctx, s.db, cases.Scan, casesAfter+isAfter, args...)
	}
	return db.All(ctx, s.db, cases.Scan, casesAfter+ofCompanyAfter+isAfter, append(args, f.Company)...)
}

// OpenOf returns the open cases of all companies with this reason and amount.
func (s *Service) OpenOf(ctx context.Context, reason Reason, amount money.Kobo) ([]Case, error) {
	return db.All(ctx, s.db, cases.Scan, `SELECT `+CaseColumns+` FROM operation_case
		WHERE state = 'OPEN' AND reason = $1 AND amount_kobo = $2 ORDER BY company_id, id`, string(reason), int64(amount))
}

// OpenBreaks returns the open cases about breaks, the oldest first. If the statement no longer
// shows a break, its case stays open until operators resolve the case.
func (s *Service) OpenBreaks(ctx context.Context) ([]Case, error) {
	reasons := make([]string, len(breakReasons))
	for i, r := range breakReasons {
		reasons[i] = string(r)
	}
	return db.All(ctx, s.db, cases.Scan, `SELECT `+CaseColumns+` FROM operation_case
		WHERE state = 'OPEN' AND reason = ANY($1) ORDER BY created_at, id`, reasons)
}

// lastAttempt returns the last attempt of an operation that has moved.
func (s *Service) lastAttempt(ctx context.Context, o Operation) (Attempt, error) {
	return db.One(ctx, s.db, attempts.Scan, `SELECT `+attemptColumns+` FROM operation_attempt
		WHERE company_id = $1 AND operation_id = $2 AND attempt = $3`, o.Company, o.ID, o.Attempt)
}

// FindAttempt returns the attempt that was sent under a reference of ours. The error is db.ErrNone if
// the reference belongs to no attempt.
func (s *Service) FindAttempt(ctx context.Context, company, reference string) (Attempt, error) {
	return db.One(ctx, s.db, attempts.Scan, `SELECT `+attemptColumns+` FROM operation_attempt
		WHERE company_id = $1 AND reference = $2`, company, reference)
}

// routedAttemptOwner finds what AttemptOwner finds. A routed database refuses its recursive query.
const routedAttemptOwner = `SELECT company_id FROM operation_attempt WHERE reference = $1`

// AttemptOwner returns the company of an attempt. A provider's notice has only the reference. The
// query looks into each company by its unique constraint.
func (s *Service) AttemptOwner(ctx context.Context, reference string) (string, error) {
	if s.db.Routed() {
		return db.One(ctx, s.db, db.Value[string], routedAttemptOwner, reference)
	}
	return db.One(ctx, s.db, db.Value[string], `WITH RECURSIVE owner (id) AS (
			SELECT min(company_id) FROM operation_attempt
			UNION ALL SELECT (SELECT min(n.company_id) FROM operation_attempt AS n WHERE n.company_id > owner.id) FROM owner WHERE owner.id IS NOT NULL)
		SELECT t.company_id FROM owner JOIN operation_attempt AS t ON t.company_id = owner.id AND t.reference = $1`, reference)
}

// Referenced reports whether an operation of the company and kind has this externalReference.
func (s *Service) Referenced(ctx context.Context, company, kind, reference string) (bool, error) {
	if reference == "" {
		return false, nil
	}
	n, err := db.One(ctx, s.db, db.Value[int64], `SELECT count(*) FROM operation_label
		WHERE company_id = $1 AND kind = $2 AND external_reference = $3 AND external_reference <> ''`, company, kind, reference)
	return n > 0, err
}

// lastAnswerAt returns the time of the last answer about an operation, or zero.
func (s *Service) lastAnswerAt(ctx context.Context, o Operation) (time.Time, error) {
	at, err := db.One(ctx, s.db, db.Value[int64], `SELECT coalesce(max(answered_at), 0) FROM operation_answer WHERE company_id = $1 AND operation_id = $2`, o.Company, o.ID)
	if err != nil || at == 0 {
		return time.Time{}, err
	}
	return clock.Time(at), nil
}

// contradicting are the reasons of cases that say the opposite of an outcome.
var contradicting = []string{string(Contradiction), string(FailedReversal), string(NotOnStatement)}

// contradicted is the SQL condition for a case c that contradicts the outcome of its operation o. A case without a definite answer of
// the provider can be about an operation that FAILED because the provider had no record of it. Such a case is younger than the failure, and is
// dismissed whatever operators have found. $2 are the contradicting reasons.
const contradicted = `(o.state = 'FAILED' AND (c.reason = ANY($2) OR c.reason = 'UNRESOLVED' AND c.created_at >= o.updated_at AND (c.state = 'OPEN' OR c.outcome = 'dismissed'))
	OR o.state = 'SUCCESS' AND c.reason = ANY($2) AND c.state = 'OPEN')`

// doubtful is the SQL that finds cases that contradict outcomes, of some companies and of the operations $3.
const (
	doubtful = `SELECT c.subject, CASE WHEN c.state = 'OPEN' THEN 1 ELSE 0 END
		FROM operation_case AS c JOIN operation AS o ON o.company_id = c.company_id AND o.id = c.subject
		WHERE c.subject = ANY($3) AND ` + contradicted + ` AND c.company_id `
	ofCompany   = `= $1`
	ofCompanies = `= ANY($1)`
)

// doubt is a case that contradicts the outcome of an operation.
type doubt struct {
	id   string
	open int64
}

func doubtsOf(list []doubt) map[string]Doubt {
	out := map[string]Doubt{}
	for _, d := range list {
		if d.open == 1 {
			out[d.id] = InDoubt
		} else if out[d.id] == Sure {
			out[d.id] = WasInDoubt
		}
	}
	return out
}

// Doubts returns the doubts about those of a company's operations whose outcome is contradicted.
func Doubts(ctx context.Context, q db.Querier, company string, ids []string) (map[string]Doubt, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := db.All(ctx, q, db.Fields[doubt], doubtful+ofCompany, company, contradicting, ids)
	return doubtsOf(list), err
}

// DoubtsAnywhere returns the same for operations of several companies, for operators.
func DoubtsAnywhere(ctx context.Context, q db.Querier, companies, ids []string) (map[string]Doubt, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := db.All(ctx, q, db.Fields[doubt], doubtful+ofCompanies, companies, contradicting, ids)
	return doubtsOf(list), err
}

// AllInDoubt returns the IDs of a company's operations whose outcome is in doubt, the newest first, and at most as many as limit says.
func AllInDoubt(ctx context.Context, q db.Querier, company string, limit int) ([]string, error) {
	return db.All(ctx, q, db.Value[string], `SELECT DISTINCT c.subject
		FROM operation_case AS c JOIN operation AS o ON o.company_id = c.company_id AND o.id = c.subject
		WHERE c.company_id = $1 AND c.state = 'OPEN' AND `+contradicted+` ORDER BY c.subject DESC LIMIT $3`, company, contradicting, limit)
}
