package company

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/idempotency"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
)

// A company can require a second person for the payouts that its people ask for at the pages. Such a payout waits as an
// approval, and nothing moves. The commit that starts the payout also ends the approval, so an approval pays once, and a
// crash leaves either both or none. Programs with an API key pay alone: the company's own program decides for them.

// PayoutRule says which payouts of people wait for a second person.
type PayoutRule struct {
	On    bool
	Least money.Kobo // the least amount that waits, without the fee
}

// waits reports whether a payout of an amount waits.
func (r PayoutRule) waits(amount money.Kobo) bool { return r.On && amount >= r.Least }

// isWeaker reports whether a payout that waits now would not wait by another rule.
func (r PayoutRule) isWeaker(than PayoutRule) bool {
	return than.On && (!r.On || r.Least > than.Least)
}

// payoutRuleRow is the rule as it is stored.
type payoutRuleRow struct {
	Company   string     `db:"company_id,key"`
	State     string     `db:"state,state"`
	Least     money.Kobo `db:"least_kobo,changes"`
	ChangedBy string     `db:"changed_by,changes"`
	ChangedAt time.Time  `db:"changed_at,changes"`
}

func (r payoutRuleRow) rule() PayoutRule { return PayoutRule{On: r.State == ruleOn, Least: r.Least} }

var payoutRules = db.Declare[payoutRuleRow]("company_payout_rule", db.Reads(payoutRuleColumns), db.Rights("state", "least_kobo"))

// payoutRuleSchema is the first schema whose programs know the rule. An older program sends each payout, and takes the approval
// of a payout for the end of the rule about two people.
const payoutRuleSchema = 148

var errOlderRuns = errors.New("a program of an older Kobo runs, which would not keep the rule for payouts: upgrade it first")

// These are the kinds of approvals of payouts.
const (
	ApprovePayout     ApprovalKind = "SEND_PAYOUT"
	ApproveBulk       ApprovalKind = "CONFIRM_BULK"
	ApprovePayoutRule ApprovalKind = "PAYOUT_RULE"
)

// PayoutAct is a payout that waits. The account stands as the bank has named it.
type PayoutAct struct {
	VerifyID          string     `json:"verifyId"`
	SettlementID      int64      `json:"settlementId,omitempty"` // the account that pays; 0 in an approval of an earlier version, which has no fee either
	Amount            money.Kobo `json:"amount"`
	Fee               money.Kobo `json:"fee,omitempty"`
	AccountName       string     `json:"accountName"`
	AccountNumber     string     `json:"accountNumber"`
	BankCode          string     `json:"bankCode,omitempty"` // "" in an approval of an earlier version
	BankName          string     `json:"bankName,omitempty"`
	Narration         string     `json:"narration,omitempty"`
	ExternalReference string     `json:"externalReference,omitempty"`
	Metadata          string     `json:"metadata,omitempty"` // a JSON object
}

// BulkAct is the confirmation of a bulk payout that waits.
type BulkAct struct {
	BulkID       string     `json:"bulkId"`
	SettlementID int64      `json:"settlementId,omitempty"` // as in PayoutAct
	Lines        int64      `json:"lines"`
	Amount       money.Kobo `json:"amount"` // of all lines, without fees
	Fee          money.Kobo `json:"fee,omitempty"`
	Digest       string     `json:"digest,omitempty"` // of the lines; "" in an approval of an earlier version
}

// subject returns what waits: the reference of a payout, or the id of a bulk payout. It is "" for other acts.
func (a Act) subject() string {
	switch {
	case a.Payout != nil:
		return a.Payout.VerifyID
	case a.Bulk != nil:
		return a.Bulk.BulkID
	}
	return ""
}

// PayoutRule returns the company's rule for the payouts of its people.
func (s *Service) PayoutRule(ctx context.Context, reference string) (PayoutRule, error) {
	r, err := s.payoutRule(ctx, reference)
	return r.rule(), err
}

// PayoutWaits reports whether a payout that a person asks for waits for a second person.
func (s *Service) PayoutWaits(ctx context.Context, reference string, amount money.Kobo) (bool, error) {
	r, err := s.PayoutRule(ctx, reference)
	return r.waits(amount), err
}

// SetPayoutRule changes the company's rule for the payouts of its people. A weaker rule waits for a second person, and
// is then the approval. The caller has checked that the company has another person who can approve.
func (s *Service) SetPayoutRule(ctx context.Context, by Access, want PayoutRule) (*Approval, error) {
	for {
		u := ledger.For(by.Company)
		now, err := s.countPayoutRule(ctx, &u)
		if err != nil {
			return nil, err
		}
		if want == now.rule() || !want.On && !now.rule().On {
			return nil, fault.New(fault.Refused, "The rule is so already").With(fault.ApprovalState)
		}
		if want.On {
			if err := s.knowPayoutRule(ctx); err != nil {
				return nil, err
			}
		}
		if want.isWeaker(now.rule()) {
			ask := ledger.For(by.Company)
			a, err := s.ask(ctx, &ask, by, ApprovePayoutRule, Act{PayoutRule: &want})
			if err != nil {
				return nil, err
			}
			return &a, explain(s.book.Commit(ctx, ask))
		}
		s.decidePayoutRule(ctx, &u, now, want, by)
		if err := s.book.Commit(ctx, u); !isRuleChanged(err) {
			return nil, explain(err)
		}
	}
}

// knowPayoutRule returns an error if a program runs that does not know the rule.
func (s *Service) knowPayoutRule(ctx context.Context) error {
	older, err := s.db.Beside(ctx, payoutRuleSchema)
	if err == nil && older {
		err = fault.New(fault.Unavailable, "Service temporarily unavailable").Because(errOlderRuns)
	}
	return err
}

// countPayoutRule returns the stored rule. The unit is refused if the rule has changed when it is committed.
func (s *Service) countPayoutRule(ctx context.Context, u *ledger.Unit) (payoutRuleRow, error) {
	seen, err := s.book.Last(ctx, u.Company, payoutRuleChanges)
	if err != nil {
		return payoutRuleRow{}, err
	}
	u.Count(payoutRuleChanges, 1, seen+1)
	return s.payoutRule(ctx, u.Company)
}

// isRuleChanged reports whether the rule has changed between its read and the commit.
func isRuleChanged(err error) bool {
	r := ledger.Refused(err)
	return r != nil && r.Reason == ledger.Over
}

func (s *Service) decidePayoutRule(ctx context.Context, u *ledger.Unit, before payoutRuleRow, want PayoutRule, by Access) {
	r := payoutRuleRow{by.Company, ruleOff, want.Least, by.who(), s.clock.Now()}
	details := by.details("payouts", "never")
	if want.On {
		r.State = ruleOn
		details = by.details("payouts", "from "+want.Least.Decimal())
	}
	if before.State == "" {
		u.Insert(payoutRules.Record(r))
	} else {
		u.Transition(payoutRules.Record(r), before.State)
	}
	s.self(ctx, by.Company).Audit(u, "company.payout_rule", by.Company, details, r.ChangedAt)
}

// AskPayout lets a payout of a person wait for a second person.
func (s *Service) AskPayout(ctx context.Context, by Access, act PayoutAct, key *idempotency.Key) (Approval, error) {
	return s.askMoney(ctx, by, ApprovePayout, Act{Payout: &act}, key)
}

// AskBulk lets the confirmation of a bulk payout wait for a second person. The caller has checked the PIN.
func (s *Service) AskBulk(ctx context.Context, by Access, act BulkAct, key *idempotency.Key) (Approval, error) {
	return s.askMoney(ctx, by, ApproveBulk, Act{Bulk: &act}, key)
}

func (s *Service) askMoney(ctx context.Context, by Access, kind ApprovalKind, act Act, key *idempotency.Key) (Approval, error) {
	u := ledger.For(by.Company)
	r, err := s.PayoutRule(ctx, by.Company)
	if err != nil {
		return Approval{}, err
	}
	act.Least = r.Least
	a, err := s.ask(ctx, &u, by, kind, act)
	if err != nil {
		return Approval{}, err
	}
	key.Answer(&u, a, nil)
	return a, explain(s.book.Commit(ctx, u))
}

// approved adds the end of an approval to the unit that does what waited.
func (s *Service) approved(ctx context.Context, u *ledger.Unit, by Access, a Approval) {
	u.Transition(approvals.Record(a), ApprovalWaiting)
	s.self(ctx, by.Company).Audit(u, "company.approval.approve", a.ID, by.details("kind", string(a.Kind), "askedBy", a.AskedBy), a.DecidedAt)
}

// Decided turns the refusal of a unit with an approval that does not wait any more into a fault of the kind Conflict.
// It returns other errors as they are.
func Decided(err error) error {
	if IsDecided(err) {
		return errDecided
	}
	return err
}

// IsDecided reports whether the ledger has refused a unit because an approval in it does not wait any more.
func IsDecided(err error) bool { return ledger.Is(err, ledger.Moved, approvals.Table) }

// approveRule changes the rule for payouts, for a second person.
func (s *Service) approveRule(ctx context.Context, by Access, a Approval, want PayoutRule) error {
	for {
		u := ledger.For(by.Company)
		now, err := s.countPayoutRule(ctx, &u)
		if err != nil {
			return err
		}
		s.approved(ctx, &u, by, a)
		s.decidePayoutRule(ctx, &u, now, want, by)
		if err := s.book.Commit(ctx, u); !isRuleChanged(err) {
			return Decided(explain(err))
		}
	}
}

// IsOfPayouts reports whether people who pay decide about an approval of this kind. People who write programs decide
// about the others.
func (k ApprovalKind) IsOfPayouts() bool {
	return slices.Contains(ofPayouts, string(k))
}

// ofPayouts and ofKeys are the kinds of approvals, by what they are about.
var (
	ofPayouts = []string{string(ApprovePayout), string(ApproveBulk), string(ApprovePayoutRule)}
	ofKeys    = []string{string(ApproveIssue), string(ApproveRevoke), string(ApproveRuleOff)}
)

// mayWait returns how many requests of this and of like kinds one person may have waiting at once. Those about payouts
// leave room for those about API keys.
func (k ApprovalKind) mayWait() (most int64, kinds []string) {
	if k.IsOfPayouts() {
		return mostPayoutsWaiting, ofPayouts
	}
	return mostWaiting, ofKeys
}

// byKey reports whether a program with an API key asked.
func (a Approval) byKey() bool { return strings.HasPrefix(a.AskedBy, "key:") }
