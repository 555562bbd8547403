package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/wire"
)

// These are the values of x-four-eyes that are not a condition. A condition is a word for the
// content of a request that makes a second operator necessary, such as raised (see stakes).
const (
	always      = "always"
	ownApproval = "its own approval" // the operation is a part of another approval by two operators
	noProposal  = "no proposal"      // the body is a secret, which no proposal may hold
)

// canBeProposed reports whether an operation can be an act of a proposal.
func canBeProposed(route string, op *contract.Operation) bool {
	switch {
	case strings.HasPrefix(route, http.MethodGet), op.FourEyes == ownApproval, op.FourEyes == noProposal:
		return false
	}
	return op.FourEyes != "" || strings.Contains(op.Path, "{reference}")
}

// accepted is the data of a response with status 202.
type accepted struct{ ProposedActs }

// digests matches the digest of an operator's key, or of the link of an invitation. A proposal shows only its first eight characters, which are
// enough to compare it. With the whole digest, a reader could propose the same key for another name.
var digests = regexp.MustCompile(`"([0-9a-f]{8})[0-9a-f]{56}"`)

func proposalOf(p operator.Proposal, done map[int64]time.Time) ProposedActs {
	acts := make([]ProposedAct, len(p.Acts))
	for i, a := range p.Acts {
		body := a.Body
		if body == nil {
			body = json.RawMessage("{}")
		}
		if slices.Contains([]string{"addOperator", "inviteOperator", "invitePerson"}, a.Operation) {
			body = digests.ReplaceAll(body, []byte(`"$1…"`))
		}
		acts[i] = ProposedAct{
			Operation: a.Operation, ID: wire.Optional(a.ID), Body: body, On: wire.Optional(a.On), Was: wire.Optional(a.Was), DoneAt: clock.Optional(done[int64(i)]),
		}
	}
	return ProposedActs{
		ProposalID: p.ID, Company: wire.Optional(p.Company), Acts: acts, State: string(p.State), ProposedBy: p.ProposedBy,
		DecidedBy: wire.Optional(p.DecidedBy), Note: wire.Optional(p.Note), CreatedAt: clock.Text(p.CreatedAt),
		ExpiresAt: clock.Text(p.ExpiresAt), DecidedAt: clock.Optional(p.DecidedAt),
	}
}

// proposed returns a proposal if the request needs a second operator. It returns nil if the action
// may run now.
func (e *edge) proposed(ctx context.Context, r *request) (any, error) {
	if !e.FourEyes || !e.proposable[r.op.ID] || r.op.FourEyes == "" {
		return nil, nil
	}
	s, err := e.stakeOf(ctx, r)
	if err != nil || !s.needsTwo {
		return nil, err
	}
	if err := e.checkers[r.op.ID](ctx, r, newPlan()); err != nil {
		return nil, err
	}
	body, err := json.Marshal(r.body)
	if err != nil {
		return nil, err
	}
	return e.propose(ctx, r.by, cmp.Or(r.PathValue("reference"), s.company), operator.Act{
		Operation: r.op.ID, ID: r.PathValue("id"), Body: body, On: s.on, Was: s.was,
	})
}

func (e *edge) propose(ctx context.Context, by operator.Operator, company string, acts ...operator.Act) (any, error) {
	p, err := e.Operators.Propose(ctx, by, company, acts)
	if err != nil {
		return nil, err
	}
	return accepted{proposalOf(p, nil)}, nil
}

func (e *edge) createProposal(ctx context.Context, r *request, body ProposalRequest) (any, error) {
	if n := len(body.Acts); n < 1 || n > 20 {
		return nil, fault.New(fault.Invalid, `"acts" must be 1 to 20 acts`)
	}
	acts, company, requests := make([]operator.Act, len(body.Acts)), body.Company, make([]*request, len(body.Acts))
	for i, a := range body.Acts {
		text, err := json.Marshal(a.Body)
		if err != nil {
			return nil, err
		}
		acts[i] = operator.Act{Operation: a.Operation, ID: a.ID, Body: text}
		if a.Body == nil {
			acts[i].Body = nil
		}
		q, err := e.actOf(ctx, r.by, body.Company, acts[i])
		if err != nil {
			return nil, err
		}
		s, err := e.stakeOf(ctx, q)
		if err != nil {
			return nil, err
		}
		acts[i].On, acts[i].Was = s.on, s.was
		if company = cmp.Or(company, s.company); s.company != "" && s.company != company {
			return nil, fault.Newf(fault.Invalid, "%s: %q is of a different company", a.Operation, a.ID)
		}
		requests[i] = q
	}
	// An act of a customer names the company only now. An act of no company would wait for ever beside it.
	if act := e.ofNoCompany(acts); company != "" && act != "" {
		return nil, fault.Newf(fault.Invalid, "%s concerns no company, and another act concerns company %s: make two proposals", act, company)
	}
	earlier := newPlan()
	for _, q := range requests {
		if err := e.checkers[q.op.ID](ctx, q, earlier); err != nil {
			return nil, within(q.op, err)
		}
	}
	return e.propose(ctx, r.by, company, acts...)
}

// actOf returns the request of an act. It checks the operator's role and the body, as for a request
// of this operator.
func (e *edge) actOf(ctx context.Context, by operator.Operator, company string, a operator.Act) (*request, error) {
	op, err := e.proposableOf(company, a)
	if err != nil {
		return nil, err
	}
	if err := by.May(operator.Role(op.Role)); err != nil {
		return nil, within(op, err)
	}
	return e.requestOf(ctx, by, op, company, a)
}

// proposableOf returns the operation of an act, which must be one that can be proposed for the company.
func (e *edge) proposableOf(company string, a operator.Act) (*contract.Operation, error) {
	op := e.operations[a.Operation]
	if op == nil || !e.proposable[op.ID] {
		return nil, fault.Newf(fault.Invalid, "%q is not an operation that can be proposed", a.Operation)
	}
	for name, value := range map[string]string{"{reference}": company, "{id}": a.ID} {
		isFree := name == "{reference}" && strings.HasPrefix(op.Path, customers) // the customer's company
		if !isFree && strings.Contains(op.Path, name) != (value != "") {
			return nil, fault.Newf(fault.Invalid, "%s: its path is %s, and %s is %q", op.ID, op.Path, name, value)
		}
	}
	return op, nil
}

// requestOf returns the request of an act after it has checked the body. It does not ask for the operator's role.
func (e *edge) requestOf(ctx context.Context, by operator.Operator, op *contract.Operation, company string, a operator.Act) (*request, error) {
	plain := &http.Request{
		URL: &url.URL{}, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(a.Body)),
	}
	r := &request{Request: plain.WithContext(ctx), by: by, op: op}
	r.SetPathValue("reference", company)
	r.SetPathValue("id", a.ID)
	if !op.HasBody() {
		if len(a.Body) > 0 && string(a.Body) != "{}" && string(a.Body) != "null" {
			return nil, fault.Newf(fault.Invalid, "%s takes no body", op.ID)
		}
		return r, nil
	}
	var err error
	r.body, err = readBody(nil, r)
	return r, within(op, err)
}

// within names the operation of an act in the message of a fault.
func within(op *contract.Operation, err error) error {
	if err == nil {
		return nil
	}
	f := *fault.Of(err)
	f.Message = op.ID + ": " + f.Message
	return &f
}

func (e *edge) listProposals(ctx context.Context, r *request) (any, error) {
	var failed error
	out, err := continued(ctx, r, func(p operator.Proposal) ProposedActs {
		row, err := e.shown(ctx, p)
		if err != nil {
			failed = err
		}
		return row
	}, operator.ProposalState(r.filter("status")), e.Operators.Proposals, e.Operators.ProposalsAfter)
	if err == nil {
		err = failed
	}
	return out, err
}

func (e *edge) findProposal(ctx context.Context, r *request) (any, error) {
	p, err := e.Operators.Proposal(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	done, err := e.Operators.Done(ctx, p)
	if err != nil {
		return nil, err
	}
	out := proposalOf(p, done)
	return out, e.addGround(ctx, p, done, &out)
}

func (e *edge) shown(ctx context.Context, p operator.Proposal) (ProposedActs, error) {
	done, err := e.Operators.Done(ctx, p)
	return proposalOf(p, done), err
}

// approveProposal carries out the acts of another operator's proposal. The commit of each act also
// stores that the act is done. So a repeated or a concurrent request does only what is left.
func (e *edge) approveProposal(ctx context.Context, r *request, _ NoRequest) (any, error) {
	p, err := e.Operators.Proposal(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	var left []*request
	err = e.Operators.Approve(ctx, r.by, p, func() error {
		left, err = e.left(ctx, r.by, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	answers, ran := make([]any, len(p.Acts)), false
	for i, q := range left {
		if q == nil {
			continue
		}
		if answers[i], err = e.carryOut(ctx, r.by, q, p, i); err == nil {
			ran = true
			continue
		}
		answers[i] = nil
		if err = e.failedAct(ctx, q.op, p, i, err); err != nil {
			if ran {
				err = with(answers, err)
			}
			return nil, err
		}
	}
	switch {
	case !ran:
		return nil, fault.New(fault.Refused, "The proposal is approved already")
	case len(answers) == 1:
		return answers[0], nil
	}
	return answers, nil
}

// failedAct returns the error of an act. It returns nil if a concurrent request has done the act, because
// the error of this attempt then says nothing.
func (e *edge) failedAct(ctx context.Context, op *contract.Operation, p operator.Proposal, position int, err error) error {
	done, unread := e.Operators.Done(ctx, p)
	if !done[int64(position)].IsZero() {
		return nil
	}
	now, missing := e.Operators.Proposal(ctx, p.ID)
	if missing == nil && now.Ended() != nil {
		return now.Ended()
	}
	if err = errors.Join(err, unread, missing); len(p.Acts) > 1 {
		err = within(op, err)
	}
	return err
}

// doneAnswers is the field of a fault with the responses of the acts that were done before it. Some of them
// are shown only once.
const doneAnswers = "answers"

// Answers returns the responses of the acts that were done before the error of an approval. They are in the order of the acts, with null for
// each act that was not done. For another error Answers returns nil. Some of the responses are shown only once.
func Answers(err error) []any {
	why := fault.Of(err)
	if why == nil {
		return nil
	}
	done, _ := why.Extra[doneAnswers].([]any)
	return done
}

// with adds the responses of the done acts to a fault.
func with(answers []any, err error) error {
	f := *fault.Of(err)
	f.Extra = map[string]any{doneAnswers: answers}
	return &f
}

// carryOut does an act of an approved proposal, if what the act rests on has not changed since the proposal.
func (e *edge) carryOut(ctx context.Context, by operator.Operator, q *request, p operator.Proposal, position int) (any, error) {
	for range tries {
		acts, err := e.actsAbout(ctx, p)
		if err != nil {
			return nil, err
		}
		why, err := e.outdated(ctx, q, p, p.Acts[position], changer(p.Acts[:position], p.Acts[position].On))
		switch {
		case err != nil:
			return nil, err
		case why != "":
			return nil, fault.New(fault.Refused, "What the act rests on has changed: "+why)
		}
		if q.by = by.As(p, position); p.Company != "" {
			q.by = q.by.After(acts)
		}
		if data, err := e.actions[q.op.ID](ctx, q); !operator.IsOvertaken(err) {
			return data, err
		}
	}
	return nil, errOvertaken
}

// left returns the requests of the acts that are not done yet, and nil for each done act. It ends
// the proposal if what the proposal rests on has changed.
func (e *edge) left(ctx context.Context, by operator.Operator, p operator.Proposal) ([]*request, error) {
	if err := e.twoScopes(p); err != nil {
		return nil, err
	}
	done, err := e.Operators.Done(ctx, p)
	if err != nil {
		return nil, err
	}
	out := make([]*request, len(p.Acts))
	for i, a := range p.Acts {
		q, err := e.actOf(ctx, by, p.Company, a)
		if err != nil {
			return nil, err
		}
		if done[int64(i)].IsZero() {
			why, err := e.outdatedNow(ctx, q, p, i, done)
			if err == nil && why != "" {
				err = e.Operators.End(ctx, p, why)
			}
			if err != nil {
				return nil, err
			}
			out[i] = q
		}
	}
	return out, nil
}

// rejectProposal ends the proposal of another operator.
func (e *edge) rejectProposal(ctx context.Context, r *request, body RejectionRequest) (any, error) {
	p, err := e.Operators.Proposal(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if err := e.twoScopes(p); err != nil {
		return nil, err
	}
	for _, a := range p.Acts {
		if _, err := e.actOf(ctx, r.by, p.Company, a); err != nil {
			return nil, err
		}
	}
	if err := e.Operators.Reject(ctx, r.by, p, body.Note); err != nil {
		return nil, err
	}
	return e.findProposal(ctx, r)
}

func (e *edge) withdrawProposal(ctx context.Context, r *request, _ NoRequest) (any, error) {
	p, err := e.Operators.Proposal(ctx, r.PathValue("id"))
	if err == nil {
		err = e.Operators.Withdraw(ctx, r.by, p)
	}
	if err != nil {
		return nil, err
	}
	return e.findProposal(ctx, r)
}
