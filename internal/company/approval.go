package company

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/peer"
)

// A company can require two people for its API keys (completion.md §7). An act on the keys then waits as
// an approval, until another person of the company decides. A thief of an API key and of the PIN so
// cannot make a key that lasts.
//
// An approval says who asked: a person, or a program with an API key. A person never approves what the same
// person asked for. What an API key asked for needs two people who approve, because whoever holds the key may be one of
// them.
// At the approval, the act is checked again as if it were asked for then.

// Approval is an act of a company that waits for a second person of the company.
type Approval struct {
	Company   string       `db:"company_id,key"`
	ID        string       `db:"id,key"`
	Kind      ApprovalKind `db:"kind"`
	Body      string       `db:"body"` // the act as JSON, without secrets
	State     string       `db:"state,state"`
	AskedBy   string       `db:"asked_by"` // person:NAME or key:ID
	CreatedAt time.Time    `db:"created_at"`
	ExpiresAt time.Time    `db:"expires_at"`
	FirstBy   string       `db:"first_by,changes"`   // who approved first what a program asked for; "" for nobody
	DecidedBy string       `db:"decided_by,changes"` // "" while it waits
	DecidedAt time.Time    `db:"decided_at,changes"` // zero while it waits
}

// ApprovalKind is the kind of an act that can wait.
type ApprovalKind string

// These are the kinds.
const (
	ApproveIssue   ApprovalKind = "ISSUE_API_KEY"
	ApproveRevoke  ApprovalKind = "REVOKE_API_KEY"
	ApproveRuleOff ApprovalKind = "TWO_PEOPLE_OFF"
)

// These are the states of an approval. EXPIRED is never stored.
const (
	ApprovalWaiting   = "WAITING"
	ApprovalApproved  = "APPROVED"
	ApprovalRejected  = "REJECTED"
	ApprovalWithdrawn = "WITHDRAWN"
	ApprovalExpired   = "EXPIRED"
)

const (
	approvalLife = 24 * time.Hour
	mostWaiting  = 10 // approvals about API keys of one person or API key that wait at once
	// mostPayoutsWaiting is the same about payouts.
	mostPayoutsWaiting = 200
)

// Act is what an approval would do.
type Act struct {
	Name      string    `json:"name,omitempty"`     // of a new API key
	ExpiresAt time.Time `json:"expiresAt,omitzero"` // of a new API key; zero means never
	KeyID     string    `json:"apiKeyId,omitempty"` // the API key to revoke

	Payout     *PayoutAct  `json:"payout,omitempty"`
	Bulk       *BulkAct    `json:"bulk,omitempty"`
	PayoutRule *PayoutRule `json:"payoutRule,omitempty"` // the new rule

	// Least is the amount of the rule by which a payout waits, as it was when somebody asked.
	Least money.Kobo `json:"least,omitempty"`
}

// Act returns what the approval would do.
func (a Approval) Act() (act Act, err error) {
	return act, json.Unmarshal([]byte(a.Body), &act)
}

// Status returns the state at an instant.
func (a Approval) Status(now time.Time) string {
	if a.State == ApprovalWaiting && !now.Before(a.ExpiresAt) {
		return ApprovalExpired
	}
	return a.State
}

// rule is what a company has decided about itself.
type rule struct {
	Company   string    `db:"company_id,key"`
	Name      string    `db:"name,key"`
	State     string    `db:"state,state"`
	ChangedBy string    `db:"changed_by,changes"`
	ChangedAt time.Time `db:"changed_at,changes"`
}

const (
	twoPeople = "two_people"
	ruleOn    = "ON"
	ruleOff   = "OFF"
)

var (
	approvals = db.Declare[Approval]("company_approval", db.Reads(approvalColumns), db.Rights("kind", "body", "state", "asked_by", "created_at", "expires_at", "first_by"))
	rules     = db.Declare[rule]("company_rule", db.Reads(ruleColumns), db.Rights("state"))
)

// TwoPeople reports whether the company's acts on its API keys wait for a second person.
func (s *Service) TwoPeople(ctx context.Context, reference string) (bool, error) {
	r, err := s.twoPeople(ctx, reference)
	return r.State == ruleOn, err
}

// RequireTwoPeople makes the company's acts on its API keys wait for a second person. The caller has checked
// that the company has another person who can approve.
func (s *Service) RequireTwoPeople(ctx context.Context, by Access) error {
	for {
		r, err := s.twoPeople(ctx, by.Company)
		if err != nil || r.State == ruleOn {
			return err
		}
		issued, err := s.book.Last(ctx, by.Company, ownKeys)
		if err != nil {
			return err
		}
		u := ledger.For(by.Company)
		u.Count(ownKeys, 1, issued+1) // acts on the keys that have read the old rule begin again
		s.decide(&u, r, ruleOn, by)
		s.self(ctx, by.Company).Audit(&u, "company.two_people.on", by.Company, by.details(), s.clock.Now())
		if err := s.book.Commit(ctx, u); !again(err) {
			return explain(err)
		}
	}
}

// again reports whether a rule or an approval has changed between its read and the commit.
func again(err error) bool {
	r := ledger.Refused(err)
	return ledger.Is(err, ledger.Moved, rules.Table) || r != nil && (r.Reason == ledger.Exists || r.Reason == ledger.Over)
}

// decide writes the rule's new state.
func (s *Service) decide(u *ledger.Unit, r rule, state string, by Access) {
	before := r.State
	r = rule{by.Company, twoPeople, state, by.who(), s.clock.Now()}
	u.Count(twoPeopleChanges, 1, anyNumber)
	if before == "" {
		u.Insert(rules.Record(r))
	} else {
		u.Transition(rules.Record(r), before)
	}
}

// WaiveTwoPeople asks that the company's acts on its API keys wait no longer. This waits for a second person
// itself.
func (s *Service) WaiveTwoPeople(ctx context.Context, by Access) (Approval, error) {
	on, err := s.TwoPeople(ctx, by.Company)
	if err == nil && !on {
		err = fault.New(fault.Refused, "The company does not require two people").With(fault.ApprovalState)
	}
	if err != nil {
		return Approval{}, err
	}
	u := ledger.For(by.Company)
	a, err := s.ask(ctx, &u, by, ApproveRuleOff, Act{})
	if err == nil {
		err = explain(s.book.Commit(ctx, u))
	}
	return a, err
}

// ask inserts an approval.
func (s *Service) ask(ctx context.Context, u *ledger.Unit, by Access, kind ApprovalKind, act Act) (Approval, error) {
	most, kinds := kind.mayWait()
	waiting, err := s.waitingOf(ctx, by.Company, by.who(), kinds)
	if err == nil && waiting >= most {
		err = fault.Newf(fault.Refused, "%d of your requests wait already", most).With(fault.QuotaReached)
	}
	if err != nil {
		return Approval{}, err
	}
	body, err := json.Marshal(act)
	if err != nil {
		return Approval{}, err
	}
	now := s.clock.Now()
	a := Approval{Company: by.Company, ID: id.New(), Kind: kind, Body: string(body), State: ApprovalWaiting, AskedBy: by.who(), CreatedAt: now, ExpiresAt: now.Add(approvalLife)}
	u.Insert(approvals.Record(a))
	s.self(ctx, by.Company).Audit(u, "company.approval.ask", a.ID, by.details("kind", string(kind)), now)
	return a, nil
}

var (
	errOwnRequest = fault.New(fault.Forbidden, "Another person of the company must approve what you asked for").With(fault.SecondPersonNeeded)
	errAskerGone  = fault.New(fault.Conflict, "Whoever asked for this has no access any more").With(fault.ApprovalState)
	errDecided    = fault.New(fault.Conflict, "The approval does not wait any more").With(fault.ApprovalState)
)

// waiting returns an approval that still waits.
func (s *Service) waiting(ctx context.Context, reference, approvalID string) (Approval, error) {
	a, mac, err := s.approvalWithMAC(ctx, reference, approvalID)
	if err != nil {
		return a, err
	}
	if a.Status(s.clock.Now()) != ApprovalWaiting {
		return a, errDecided
	}
	if !s.isSigned(approvals.Record(a), mac) {
		err = fault.New(fault.Internal, "the row of the approval was altered")
	}
	return a, err
}

// toApprove returns an approval that waits for somebody other than who asked for it.
func (s *Service) toApprove(ctx context.Context, by Access, approvalID string) (Approval, error) {
	a, err := s.waiting(ctx, by.Company, approvalID)
	if err == nil && (by.Person == "" || a.AskedBy == by.who()) {
		err = errOwnRequest
	}
	return a, err
}

// Approve does what an approval waits for, for a second person. Payouts have Accept instead. The response is the new API
// key, if the approval issues one. The fault is Forbidden for the person who asked, Conflict for an approval that does
// not wait, and otherwise that of the act.
func (s *Service) Approve(ctx context.Context, by Access, approvalID string, counts FirstCounts) (Approval, *IssuedKey, error) {
	a, err := s.toApproveAfter(ctx, by, approvalID, counts)
	if err != nil {
		return Approval{}, nil, err
	}
	act, err := a.Act()
	if err != nil {
		return Approval{}, nil, err
	}
	now := s.clock.Now()
	if a.byKey() && (a.FirstBy == "" || a.FirstBy == by.who()) {
		a, err = s.approveFirst(ctx, by, a)
		return a, nil, err
	}
	a.State, a.DecidedBy, a.DecidedAt = ApprovalApproved, by.who(), now
	if act.PayoutRule != nil {
		return a, nil, s.approveRule(ctx, by, a, *act.PayoutRule)
	}
	var issued *IssuedKey
	err = s.own(ctx, by, func(u *ledger.Unit, all []Key) error {
		if err := s.stillAsks(u, a, all); err != nil {
			return err
		}
		s.approved(ctx, u, by, a)
		switch a.Kind {
		case ApproveIssue:
			if err := inFuture(act.ExpiresAt, now); err != nil {
				return err
			}
			k, text := s.newKey(by.Company, now, act.ExpiresAt)
			k.Name = act.Name
			issued = &IssuedKey{k, text}
			return s.issueOwn(ctx, u, by, all, issued)
		case ApproveRevoke:
			return s.revokeOwn(ctx, u, by, all, act.KeyID)
		case ApproveRuleOff:
		default:
			return fault.Newf(fault.Internal, "nobody approves an approval of the kind %s so", a.Kind)
		}
		r, err := s.twoPeople(ctx, by.Company)
		if err != nil {
			return err
		}
		s.decide(u, r, ruleOff, by)
		return nil
	})
	if err = Decided(err); err != nil {
		return Approval{}, nil, err
	}
	return a, issued, nil
}

// stillAsks returns an error if an API key asked which does not work any more. The unit is refused if the key stops
// working before the commit.
func (s *Service) stillAsks(u *ledger.Unit, a Approval, all []Key) error {
	keyID, byKey := strings.CutPrefix(a.AskedBy, "key:")
	if !byKey {
		return nil
	}
	at := slices.IndexFunc(all, func(k Key) bool { return k.ID == keyID && k.works(s.clock.Now()) })
	if at < 0 {
		return errAskerGone
	}
	if act, err := a.Act(); err != nil || a.Kind == ApproveRevoke && act.KeyID != "" {
		return err // a revocation names all working keys in any case
	}
	u.Expect(keys.Record(all[at]), keyActive)
	return nil
}

// approveFirst notes the first of the two people who approve what a program asked for.
func (s *Service) approveFirst(ctx context.Context, by Access, a Approval) (Approval, error) {
	if a.FirstBy == by.who() {
		return Approval{}, errOwnRequest
	}
	a.FirstBy = by.who()
	u := ledger.For(by.Company)
	u.Transition(approvals.Record(a), ApprovalWaiting)
	s.self(ctx, by.Company).Audit(&u, ApprovedFirst, a.ID, by.details("kind", string(a.Kind), "askedBy", a.AskedBy), s.clock.Now())
	err := s.book.Commit(ctx, u)
	return a, explain(Decided(err))
}

// Reject ends an approval. If the person who asked ends it, it is withdrawn.
func (s *Service) Reject(ctx context.Context, by Access, approvalID string) (Approval, error) {
	a, err := s.waiting(ctx, by.Company, approvalID)
	if err != nil {
		return Approval{}, err
	}
	if by.Person == "" {
		return Approval{}, errOwnRequest
	}
	now := s.clock.Now()
	a.State, a.DecidedBy, a.DecidedAt = ApprovalRejected, by.who(), now
	if a.AskedBy == by.who() {
		a.State = ApprovalWithdrawn
	}
	u := ledger.For(by.Company)
	u.Transition(approvals.Record(a), ApprovalWaiting)
	s.self(ctx, by.Company).Audit(&u, "company.approval."+strings.ToLower(a.State), a.ID, by.details("kind", string(a.Kind)), now)
	return a, explain(Decided(s.book.Commit(ctx, u)))
}

// who names who acts: person:NAME or key:ID.
func (a Access) who() string {
	if a.Person != "" {
		return "person:" + a.Person
	}
	return "key:" + a.KeyID
}

// details returns the details of audit lines, with further pairs of name and value.
func (a Access) details(more ...string) map[string]string {
	out := map[string]string{"by": a.who()}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// OwnKey is what came of a company's request for an API key: the key, or an approval that waits.
type OwnKey struct {
	IssuedKey
	Waits *Approval
}

// issueOwn adds a new key of the company to a unit.
func (s *Service) issueOwn(ctx context.Context, u *ledger.Unit, by Access, all []Key, out *IssuedKey) error {
	now := s.clock.Now()
	out.Others = 0
	for _, k := range all {
		if k.works(now) {
			out.Others++
		}
		if k.ID == by.KeyID {
			u.Expect(keys.Record(k), keyActive) // a revocation names all working keys in any case
		}
	}
	if out.Others >= mostKeys {
		return errMostKeys
	}
	insertKey(u, out.Key, byCompany, peer.Of(ctx))
	u.Count(newKeys+now.In(clock.Lagos).Format(time.DateOnly), 1, mostNewKeys)
	s.self(ctx, by.Company).Audit(u, "company.key.issue", out.ID, by.details(), now)
	return nil
}

// revokeOwn adds the revocation of a key of the company to a unit.
func (s *Service) revokeOwn(ctx context.Context, u *ledger.Unit, by Access, all []Key, keyID string) error {
	last, err := s.revoke(u, keyID, all)
	switch {
	case err != nil:
		return err
	case last:
		return errLastKey
	}
	if err := s.touch(ctx, u); err != nil {
		return err
	}
	event.Emit(u, event.APIKeyRevoked, revokedData{u.Company, keyID, byCompany, peer.Of(ctx)})
	s.self(ctx, by.Company).Audit(u, "company.key.revoke", keyID, by.details(), s.clock.Now())
	return nil
}
