package operation

import (
	"context"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

var table = &db.Table{
	Name: "operation", Key: 2, State: "state", Unique: []string{"company_id", "kind", "idempotency_key"}, IfGiven: true,
	Columns: slices.Concat(
		db.Texts("company_id", "id", "kind", "idempotency_key", "state", "provider"),
		db.Ints("settlement_id", "amount_kobo", "fee_kobo", "called_until", "polls", "missing", "asked_at", "next_at"),
		db.Texts("outcome", "code", "message", "provider_reference", "token"),
		db.Ints("created_at", "updated_at"),
	),
}

var caseTable = &db.Table{
	Name: "operation_case", Key: 2, State: "state", Unique: []string{"company_id", "subject", "reason", "turn"},
	Columns: []db.Column{
		{Name: "company_id"},
		{Name: "id"},
		{Name: "subject"},
		{Name: "reason"},
		{Name: "turn", Type: db.Int},
		{Name: "detail"},
		{Name: "amount_kobo", Type: db.Int},
		{Name: "state"},
		{Name: "outcome"},
		{Name: "note"},
		{Name: "target_company"},
		{Name: "target_settlement", Type: db.Int},
		{Name: "proposed_by"},
		{Name: "resolved_by"},
		{Name: "proposed_at", Type: db.Int},
		{Name: "happened_at", Type: db.Int},
		{Name: "created_at", Type: db.Int},
		{Name: "updated_at", Type: db.Int},
	},
}

var answerTable = &db.Table{
	Name: "operation_answer", Key: 2,
	Columns: []db.Column{
		{Name: "company_id"},
		{Name: "id"},
		{Name: "operation_id"},
		{Name: "poll", Type: db.Int},
		{Name: "outcome"},
		{Name: "code"},
		{Name: "message"},
		{Name: "reference"},
		{Name: "answered_at", Type: db.Int},
	},
}

// answer is the operation's last answer, for the history that is kept of those
// which did not settle it at once.
func (o Operation) answer() db.Record {
	return db.Record{Table: answerTable, Values: []any{
		o.Company, id.New(), o.ID, o.Polls, o.Outcome, o.Code, o.Message, o.ProviderReference, clock.Micros(o.UpdatedAt),
	}}
}

// Columns are an operation's, in the order that Scan reads.
const Columns = `operation.company_id, operation.id, operation.kind, operation.idempotency_key, operation.state,
	operation.provider, operation.settlement_id, operation.amount_kobo, operation.fee_kobo, operation.called_until,
	operation.polls, operation.missing, operation.asked_at, operation.next_at, operation.outcome, operation.code,
	operation.message, operation.provider_reference, operation.token, operation.created_at, operation.updated_at`

func (o Operation) record() db.Record {
	return db.Record{Table: table, Values: []any{
		o.Company, o.ID, o.Kind, o.IdempotencyKey, string(o.State), o.Provider,
		o.SettlementID, int64(o.Amount), int64(o.Fee), clock.Micros(o.CalledUntil), o.Polls, o.Missing,
		clock.Micros(o.AskedAt), clock.Micros(o.NextAt), o.Outcome, o.Code, o.Message, o.ProviderReference, o.Token,
		clock.Micros(o.CreatedAt), clock.Micros(o.UpdatedAt),
	}}
}

func fromRecord(r db.Record) Operation {
	text := func(name string) string { return r.Value(name).(string) }
	number := func(name string) int64 { return r.Value(name).(int64) }
	instant := func(name string) time.Time { return clock.Time(number(name)) }
	return Operation{
		Company: text("company_id"), ID: text("id"), Kind: text("kind"), IdempotencyKey: text("idempotency_key"),
		State: State(text("state")), Provider: text("provider"), SettlementID: number("settlement_id"),
		Amount: money.Kobo(number("amount_kobo")), Fee: money.Kobo(number("fee_kobo")),
		CalledUntil: instant("called_until"), Polls: number("polls"), Missing: number("missing"),
		AskedAt: instant("asked_at"), NextAt: instant("next_at"),
		Outcome: text("outcome"), Code: text("code"), Message: text("message"), ProviderReference: text("provider_reference"),
		Token:     text("token"),
		CreatedAt: instant("created_at"), UpdatedAt: instant("updated_at"),
	}
}

// Targets are where Scan puts Columns; call the returned function after the
// scan. It lets a report read an operation together with other columns.
func (o *Operation) Targets() (targets []any, scanned func()) {
	var called, asked, next, created, updated int64
	targets = []any{
		&o.Company, &o.ID, &o.Kind, &o.IdempotencyKey, &o.State, &o.Provider, &o.SettlementID, &o.Amount, &o.Fee,
		&called, &o.Polls, &o.Missing, &asked, &next, &o.Outcome, &o.Code, &o.Message, &o.ProviderReference, &o.Token,
		&created, &updated,
	}
	return targets, func() {
		o.CalledUntil, o.AskedAt, o.NextAt = clock.Time(called), clock.Time(asked), clock.Time(next)
		o.CreatedAt, o.UpdatedAt = clock.Time(created), clock.Time(updated)
	}
}

// Scan reads Columns.
func Scan(s db.Scanner) (Operation, error) {
	var o Operation
	targets, scanned := o.Targets()
	err := s.Scan(targets...)
	scanned()
	return o, err
}

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

func (c Case) record() db.Record {
	return db.Record{Table: caseTable, Values: []any{
		c.Company, c.ID, c.Subject, string(c.Reason), c.Turn, c.Detail, int64(c.Amount), string(c.State), c.Outcome, c.Note,
		c.Target, c.TargetID, c.ProposedBy, c.ResolvedBy, clock.Micros(c.ProposedAt), clock.Micros(c.HappenedAt),
		clock.Micros(c.CreatedAt), clock.Micros(c.UpdatedAt),
	}}
}

const caseColumns = `company_id, id, subject, reason, turn, detail, amount_kobo, state, outcome, note, target_company,
	target_settlement, proposed_by, resolved_by, proposed_at, happened_at, created_at, updated_at`

func scanCase(s db.Scanner) (Case, error) {
	var c Case
	var proposed, happened, created, updated int64
	err := s.Scan(&c.Company, &c.ID, &c.Subject, &c.Reason, &c.Turn, &c.Detail, &c.Amount, &c.State, &c.Outcome, &c.Note, &c.Target,
		&c.TargetID, &c.ProposedBy, &c.ResolvedBy, &proposed, &happened, &created, &updated)
	c.ProposedAt, c.HappenedAt = clock.Time(proposed), clock.Time(happened)
	c.CreatedAt, c.UpdatedAt = clock.Time(created), clock.Time(updated)
	return c, err
}

// caseFromRecord is the case that a refused claim found in its place.
func caseFromRecord(r db.Record) Case {
	text := func(name string) string { return r.Value(name).(string) }
	number := func(name string) int64 { return r.Value(name).(int64) }
	instant := func(name string) time.Time { return clock.Time(number(name)) }
	return Case{
		Company: text("company_id"), ID: text("id"), Subject: text("subject"), Reason: Reason(text("reason")), Turn: number("turn"),
		Detail: text("detail"), Amount: money.Kobo(number("amount_kobo")), State: CaseState(text("state")),
		Finding: Finding{Outcome: text("outcome"), Target: text("target_company"), TargetID: number("target_settlement")},
		Note:    text("note"), ProposedBy: text("proposed_by"), ResolvedBy: text("resolved_by"),
		ProposedAt: instant("proposed_at"), HappenedAt: instant("happened_at"),
		CreatedAt: instant("created_at"), UpdatedAt: instant("updated_at"),
	}
}

// findCase looks a case up by its id alone: an operator works across companies.
func (s *Service) findCase(ctx context.Context, caseID string) (Case, error) {
	return db.One(ctx, s.db, scanCase, `SELECT `+caseColumns+` FROM operation_case WHERE id = $1 ORDER BY company_id`, caseID)
}

// lastCase is the newest case of a subject and reason.
func (s *Service) lastCase(ctx context.Context, company, subject string, reason Reason) (Case, error) {
	return db.One(ctx, s.db, scanCase, `SELECT `+caseColumns+` FROM operation_case
		WHERE company_id = $1 AND subject = $2 AND reason = $3 ORDER BY turn DESC LIMIT 1`, company, subject, string(reason))
}

// cases is a page of the cases in a state, of all companies, newest first.
// passing is what a case that a filter lets through has.
const passing = `state = $1 AND ($2 = '' OR company_id = $2) AND ($3 = '' OR reason = $3) AND ($4 = '' OR subject = $4)`

func (f CaseFilter) values() []any {
	return []any{string(f.State), f.Company, string(f.Reason), f.Subject}
}

func (s *Service) cases(ctx context.Context, f CaseFilter, limit, offset int) ([]Case, error) {
	return db.All(ctx, s.db, scanCase, `SELECT `+caseColumns+` FROM operation_case
		WHERE `+passing+` ORDER BY created_at DESC, id DESC LIMIT $5 OFFSET $6`, append(f.values(), limit, offset)...)
}

// openOf are the open cases of a reason and an amount, of all companies.
func (s *Service) openOf(ctx context.Context, reason Reason, amount money.Kobo) ([]Case, error) {
	return db.All(ctx, s.db, scanCase, `SELECT `+caseColumns+` FROM operation_case
		WHERE state = 'OPEN' AND reason = $1 AND amount_kobo = $2 ORDER BY company_id, id`, string(reason), int64(amount))
}

// openBreaks are the open cases of these reasons, of all companies, the oldest first.
func (s *Service) openBreaks(ctx context.Context, reasons []string) ([]Case, error) {
	return db.All(ctx, s.db, scanCase, `SELECT `+caseColumns+` FROM operation_case
		WHERE state = 'OPEN' AND reason = ANY($1) ORDER BY created_at, id`, reasons)
}

func (s *Service) caseCount(ctx context.Context, f CaseFilter) (int64, error) {
	return db.One(ctx, s.db, db.Value[int64], `SELECT count(company_id) FROM operation_case WHERE `+passing, f.values()...)
}
