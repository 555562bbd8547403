package settlement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/wire"
)

// finding is a row that a walk found altered or added (ledger.Break).
type finding struct {
	Company   string       `db:"company_id,key"`
	ID        string       `db:"id,key"`
	Account   string       `db:"account_id"` // "" for a row that belongs to no account
	Detail    string       `db:"detail"`
	State     findingState `db:"state,state"`
	MAC       string       `db:"mac,changes"` // covers the state, so nobody can accept a row in the database
	CreatedAt time.Time    `db:"created_at"`
}

type findingState string

const (
	found    findingState = "FOUND"
	accepted findingState = "ACCEPTED" // two operators have accepted the row as it is
)

// in returns the finding with a state, and with the MAC of its content.
func (f finding) in(state findingState, by db.Signer) finding {
	f.State = state
	f.MAC = by.MAC(db.Content(nil, findings.Table, findings.Record(f).Values))
	return f
}

// isAccepted reports whether two operators have accepted the finding.
func (f finding) isAccepted(by db.Signer) bool {
	return f.State == accepted && by.Verify(db.Content(nil, findings.Table, findings.Record(f).Values), f.MAC)
}

// Broken stores rows of a company that a walk found altered or added, and opens a case for each account
// of these rows. It closes a settlement account to debits. It closes no other account, because all
// settlement accounts of a company need the accounts of providers, clearing and fees.
//
// One commit closes the account, opens its case, writes the audit line and tells the company. Broken
// may receive the same rows again. It returns the texts of the rows that operators have accepted.
// Their account stays open until a row changes again.
func (s *Service) Broken(ctx context.Context, company string, breaks []ledger.Break) (texts []string, err error) {
	byAccount := map[string][]ledger.Break{}
	for _, b := range breaks {
		same := func(other ledger.Break) bool { return other.ID == b.ID }
		if !slices.ContainsFunc(byAccount[b.Account], same) {
			byAccount[b.Account] = append(byAccount[b.Account], b)
		}
	}
	for account, list := range byAccount {
		more, failed := s.broken(ctx, company, account, list)
		texts, err = append(texts, more...), errors.Join(err, failed)
	}
	return texts, err
}

// broken does the work of Broken for one account.
func (s *Service) broken(ctx context.Context, company, account string, breaks []ledger.Break) (texts []string, err error) {
	for range attempts {
		known, err := s.findings(ctx, company, breaks)
		if err != nil {
			return nil, err
		}
		texts = texts[:0]
		var open, unknown []ledger.Break
		for _, b := range breaks {
			switch f, is := known[b.ID]; {
			case is && f.isAccepted(s.DB.Signer()):
				texts = append(texts, b.Text)
				continue
			case !is:
				unknown = append(unknown, b)
			}
			open = append(open, b)
		}
		if len(open) == 0 {
			return texts, nil
		}
		u, err := s.closing(ctx, company, account, open, unknown)
		if err != nil || u.IsEmpty() {
			return texts, err
		}
		err = s.Book.Commit(ctx, u)
		if !ledger.Is(err, ledger.Exists) && !ledger.Is(err, ledger.Moved) {
			return texts, err
		}
		// Another program has stored a row, or operators have just decided about the case.
	}
	return texts, fmt.Errorf("settlement: the case about %s of company %s changes all the time", account, company)
}

// closing returns the unit that stores the unknown rows and closes their account. The unit is empty if
// an earlier unit has done so.
func (s *Service) closing(ctx context.Context, company, account string, open, unknown []ledger.Break) (ledger.Unit, error) {
	u := ledger.For(company)
	w, err := s.wallet(ctx, company, account)
	if err != nil {
		return u, err
	}
	subject := account
	if account == "" {
		subject = operation.BrokenRows
	}
	if len(unknown) == 0 && (!w.is || w.closed) {
		has, err := s.Operations.HasOpen(ctx, company, subject, operation.BrokenChain)
		if err != nil || has {
			return u, err
		}
	}
	now := s.Clock.Now()
	for _, b := range unknown {
		f := finding{Company: company, ID: b.ID, Account: account, Detail: detail(company, b), CreatedAt: now}
		u.Insert(findings.Record(f.in(found, s.DB.Signer())))
	}
	c, err := s.Operations.AddCase(ctx, &u, operation.Case{
		Company: company, Subject: subject, Reason: operation.BrokenChain, Detail: fmt.Sprintf("%s (rows: %d)", detail(company, open[0]), len(open)),
	})
	action := "ledger.broken"
	if w.is && !w.closed {
		action = "settlement.close"
		u.CloseDebits(account)
		w.tell(&u, true, "Rows of the account do not verify")
	}
	operator.Itself().Audit(&u, action, c.ID, map[string]string{"account": account, "found": listed(company, open)}, now)
	return u, err
}

// mostListed is the largest number of rows that an audit line lists.
const mostListed = 20

// listed returns the texts of the first rows.
func listed(company string, breaks []ledger.Break) string {
	var texts []string
	for _, b := range breaks[:min(len(breaks), mostListed)] {
		texts = append(texts, detail(company, b))
	}
	if more := len(breaks) - mostListed; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// detail returns the text of a break without the company, which a case and an audit line have anyway.
func detail(company string, b ledger.Break) string { return strings.TrimPrefix(b.Text, company+": ") }

// wallet is a settlement account that can be closed to debits.
type wallet struct {
	is     bool // there is such an account
	closed bool
	id     int64
	status Status
}

// wallet returns the settlement account of a ledger account.
func (s *Service) wallet(ctx context.Context, company, account string) (w wallet, err error) {
	number, is := strings.CutPrefix(account, ledgerPrefix)
	if w.id, err = strconv.ParseInt(number, 10, 64); !is || err != nil {
		return wallet{}, nil // an account of another kind
	}
	closed, err := s.Book.ClosedAt(ctx, company, account)
	if err == nil {
		w.status, err = s.status(ctx, company, w.id)
	}
	if errors.Is(err, db.ErrNone) {
		return wallet{}, nil // somebody has deleted the account, so it pays nothing
	}
	w.is, w.closed = true, !closed.IsZero()
	return w, err
}

// tell adds the event that tells the company that the account is closed to debits, or open again.
func (w wallet) tell(u *ledger.Unit, closed bool, reason string) {
	event.Emit(u, event.SettlementStatusChanged, statusChanged{w.id, w.status, wire.Text(reason), &closed})
}

// accepted returns the unit that accepts the rows of a case as they are, and opens their account to
// debits again.
func (s *Service) accepted(ctx context.Context, c operation.Case, _ operation.Finding, agreed bool) (ledger.Unit, error) {
	u := ledger.For(c.Company)
	if !agreed {
		return u, nil
	}
	account := c.Subject
	if account == operation.BrokenRows {
		account = ""
	}
	list, err := s.findingsAt(ctx, c.Company, account)
	if err != nil {
		return u, err
	}
	for _, f := range list {
		if !f.isAccepted(s.DB.Signer()) {
			u.Transition(findings.Record(f.in(accepted, s.DB.Signer())), string(found), string(accepted))
		}
	}
	w, err := s.wallet(ctx, c.Company, account)
	if err == nil && w.closed {
		u.OpenDebits(account)
		w.tell(&u, false, "Two operators have checked the account")
	}
	return u, err
}
