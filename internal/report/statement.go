package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// Holder describes a settlement account and the company that holds the account.
type Holder struct {
	Company string // the company's name
	Account string // the settlement account's name
	Number  string // the number of the first bank account; "" if there is no bank account
	Bank    string
	Since   time.Time // when the settlement account was opened
}

// Statement has the entries of a settlement account in a period. The closing balance of a period is
// the opening balance of the next period. Entries never change, so Each can read them with several
// SQL queries.
type Statement struct {
	Holder           Holder
	SettlementID     int64
	From, To         time.Time // To is excluded; a zero From is the account's beginning
	MadeAt           time.Time
	Opening, Closing money.Kobo
	Credits, Debits  money.Kobo // the sums of credits and of debits; a debit includes its fee
	Count            int64

	db      *db.DB
	issuer  Issuer
	company string
	span    span
}

// Statement returns the statement of a settlement account for a period (see period).
func (s *Service) Statement(ctx context.Context, company string, settlementID int64, from, to time.Time) (*Statement, error) {
	out, err := s.period(ctx, company, settlementID, from, to)
	if err != nil || out.Count == 0 {
		return out, err
	}
	p := out.span
	type sums struct{ credits, debits money.Kobo }
	var sum sums
	err = s.db.Heavy(ctx, company, func(q db.Querier) error {
		sum, err = db.One(ctx, q, db.Fields[sums], `
		SELECT CAST(coalesce(sum(CASE WHEN amount_kobo > 0 THEN amount_kobo ELSE 0 END), 0) AS BIGINT),
			CAST(coalesce(sum(CASE WHEN amount_kobo < 0 THEN -amount_kobo ELSE 0 END), 0) AS BIGINT)
		FROM ledger_entry WHERE company_id = $1 AND account_id = $2 AND sequence >= $3 AND sequence < $4`,
			company, p.account, p.first, p.end)
		return err
	})
	out.Credits, out.Debits = sum.credits, sum.debits
	return out, err
}

// period returns a statement without the sums of its credits and debits. If from is zero, the period
// begins with the account. If to is zero or in the future, the period ends now. A period that
// begins in the future is refused.
func (s *Service) period(ctx context.Context, company string, settlementID int64, from, to time.Time) (*Statement, error) {
	now := s.clock.Now()
	if to.IsZero() || to.After(now) {
		to = now
	}
	out := &Statement{SettlementID: settlementID, From: from, To: to, MadeAt: now, db: s.db, issuer: s.issuer, company: company}
	var err error
	out.Holder, err = db.One(ctx, s.db, db.Fields[Holder], `SELECT c.name, a.name, coalesce(b.account_number, ''), coalesce(b.bank_name, ''), a.created_at
		FROM settlement_account AS a
		JOIN company AS c ON c.company_id = a.company_id
		LEFT JOIN settlement_bank_account AS b ON b.company_id = a.company_id AND b.settlement_id = a.id
		WHERE a.company_id = $1 AND a.id = $2 ORDER BY b.created_at, b.account_number LIMIT 1`, company, settlementID)
	if errors.Is(err, db.ErrNone) {
		return nil, fault.New(fault.Missing, "Settlement account not found")
	}
	if err != nil {
		return nil, err
	}
	if from.After(now) {
		return nil, fault.New(fault.Refused, "The period has not begun").With(fault.InvalidRequest)
	}
	if to.Before(out.Opened()) {
		return nil, fault.New(fault.Refused, "The period ends before it begins").With(fault.InvalidRequest)
	}
	spans, err := spansOf(ctx, s.db, company, EntryFilter{SettlementID: settlementID, From: from, To: to})
	if err != nil || len(spans) == 0 {
		return out, err
	}
	p := spans[0]
	p.end = max(p.end, p.first)
	out.span, out.Count = p, p.len()
	if out.Opening, err = balanceBefore(ctx, s.db, company, p.account, p.first); err != nil {
		return nil, err
	}
	out.Closing, err = balanceBefore(ctx, s.db, company, p.account, p.end)
	return out, err
}

// Opened returns the instant at which the period begins.
func (s *Statement) Opened() time.Time {
	if s.From.IsZero() {
		return s.Holder.Since
	}
	return s.From
}

// Last returns the last instant of the period.
func (s *Statement) Last() time.Time { return s.To.Add(-time.Microsecond) }

// Name returns the statement's file name without an extension.
func (s *Statement) Name() string {
	return fmt.Sprintf("statement-%d-%s-%s", s.SettlementID, lagos(s.Opened(), time.DateOnly), lagos(s.Last(), time.DateOnly))
}

// lagos returns an instant as text, in the time zone of Lagos.
func lagos(t time.Time, layout string) string { return t.In(clock.Lagos).Format(layout) }

// piece is the number of entries that one SQL query reads.
const piece = 2000

// Each calls do for every entry, the oldest first, and adds up the entries. It returns an error if
// the sum differs from the closing balance. Each piece waits for its turn as a heavy read, as long as
// necessary, because a response that has begun cannot become a 503.
func (s *Statement) Each(ctx context.Context, do func(Entry) error) error {
	running, credits, debits, seen := s.Opening, money.Kobo(0), money.Kobo(0), int64(0)
	for at := s.span.first; at < s.span.end; at += piece {
		part := span{s.span.account, at, min(at+piece, s.span.end)}
		var list []Entry
		err := s.db.Heavy(db.Unbounded(ctx), s.company, func(q db.Querier) (err error) {
			list, err = lastEntries(ctx, q, s.company, part, "", piece)
			return err
		})
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(list) {
			if e.Previous != running {
				return fmt.Errorf("report: %s: entry %d begins at %d kobo, not at %d", s.span.account, e.sequence, e.Previous, running)
			}
			running = e.Current
			if seen++; e.Credit {
				credits += e.Moved()
			} else {
				debits -= e.Moved()
			}
			if err := do(e); err != nil {
				return err
			}
		}
	}
	if running != s.Closing || credits != s.Credits || debits != s.Debits || seen != s.Count || s.Opening+credits-debits != s.Closing {
		return fmt.Errorf("report: the statement of %s does not add up", settlement.LedgerAccount(s.SettlementID))
	}
	return nil
}

// eachNamed is Each, with the name of the payer's bank before its code, for people who read the statement.
func (s *Statement) eachNamed(ctx context.Context, do func(Entry) error) error {
	banks := map[string]string{}
	return s.Each(ctx, func(e Entry) (err error) {
		code := e.Sender.Bank
		if banks[code] == "" {
			if banks[code], err = bankWithCode(ctx, s.db, code); err != nil {
				return err
			}
		}
		e.Sender.Bank = banks[code]
		return do(e)
	})
}
