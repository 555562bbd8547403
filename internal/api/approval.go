package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/wire"
)

// waits is the message of a request that waits for a second person.
const waits = "Waiting for a second person"

// ListApprovals lists what waited for a second person of the company, the newest first.
func (h *handlers) ListApprovals(ctx context.Context, r ListApprovalsRequestObject) (ListApprovalsResponseObject, error) {
	waiting := r.Params.Waiting != nil && *r.Params.Waiting
	rows, meta, err := shaped(ctx, r.Params.Page, r.Params.PageSize, h.approval, func(offset, limit int) ([]company.Approval, int, error) {
		return h.Companies.Approvals(ctx, callOf(ctx).company, waiting, offset, limit)
	}, func(cursor string, limit int) ([]company.Approval, error) {
		return h.Companies.ApprovalsAfter(ctx, callOf(ctx).company, waiting, cursor, limit)
	})
	return ListApprovals200JSONResponse{Status: "success", Data: ApprovalPage{Data: rows, Meta: meta}}, err
}

// FindApproval returns one approval of the company, however old.
func (h *handlers) FindApproval(ctx context.Context, r FindApprovalRequestObject) (FindApprovalResponseObject, error) {
	a, err := h.Companies.Approval(ctx, callOf(ctx).company, r.ID)
	if err != nil {
		return nil, err
	}
	why, changes, err := h.outdated(ctx, a)
	if err != nil {
		return nil, err
	}
	if a.FirstBy != "" && a.Status(h.Clock.Now()) == company.ApprovalWaiting {
		counts, err := h.firstCounts(ctx, a)
		if err != nil {
			return nil, err
		}
		if !counts {
			a.FirstBy = "" // the page must not say that one person is enough
		}
	}
	out := h.approval(a)
	out.Outdated, out.Changes = wire.Optional(why), changes
	return FindApproval200JSONResponse{Status: "success", Data: out}, nil
}

var errNoPerson = fault.New(fault.Forbidden, "Only a person who has signed in at Kobo's pages can do this").With(fault.PersonNeeded)

// byPerson returns the access of the person who sends the request. A program with an API key gets a refusal.
func byPerson(ctx context.Context) (company.Access, person.Person, error) {
	p, sits := seatOf(ctx)
	if !sits {
		return company.Access{}, p, tokenless(ctx, errNoPerson)
	}
	return access(ctx, ""), p, nil
}

// SetTwoPeople makes acts on the company's API keys wait for a second person, or asks that they wait no longer.
func (h *handlers) SetTwoPeople(ctx context.Context, r SetTwoPeopleRequestObject) (SetTwoPeopleResponseObject, error) {
	by, p, err := byPerson(ctx)
	if err != nil {
		return nil, err
	}
	if !r.Body.On {
		a, err := h.Companies.WaiveTwoPeople(ctx, by)
		return SetTwoPeople202JSONResponse{Status: "success", Message: waits, Data: h.approval(a)}, err
	}
	if err := h.anotherMay(ctx, p, "issueAPIKey", "Nobody else could approve. Invite another owner or developer first."); err != nil {
		return nil, err
	}
	return SetTwoPeople200JSONResponse{Status: "success", Message: "Two people are required"}, h.Companies.RequireTwoPeople(ctx, by)
}

// anotherMay returns a fault with the words why unless another person of the company may run an operation. Only people
// who have signed in count.
func (h *handlers) anotherMay(ctx context.Context, p person.Person, operationID, why string) error {
	all, err := h.SignedIn(ctx, p.Company)
	if err == nil && !slices.ContainsFunc(all, func(one person.Person) bool { return one.ID != p.ID && MayRun(one.Role, operationID) }) {
		err = fault.New(fault.Refused, why+" Only people who have signed in count.").With(fault.SecondPersonNeeded)
	}
	return err
}

// ApproveRequest does what an approval waits for.
func (h *handlers) ApproveRequest(ctx context.Context, r ApproveRequestRequestObject) (ApproveRequestResponseObject, error) {
	by, p, err := byPerson(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := h.mayDecide(ctx, p, r.ID)
	if err != nil {
		return nil, tokenless(ctx, err)
	}
	if err := h.askerStays(ctx, asked); err != nil {
		return nil, err
	}
	if asked.Kind == company.ApprovePayout || asked.Kind == company.ApproveBulk {
		a, err := h.approvePayout(ctx, by, r.ID)
		if err != nil {
			return nil, tokenless(ctx, err)
		}
		return decided{Status: "success", Message: "Approved", Data: DecidedApproval{Approval: h.approval(a)}}, nil
	}
	a, key, err := h.Companies.Approve(ctx, by, r.ID, h.firstCounts)
	if err != nil {
		return nil, tokenless(ctx, err)
	}
	data := DecidedApproval{Approval: h.approval(a)}
	if key != nil {
		issued := h.issued(ctx, *key)
		data.APIKey = &issued
	}
	return decided{Status: "success", Message: "Approved", Data: data}, nil
}

// mayDecide returns an approval about which the person may decide: who pays decides about payouts, and who writes
// programs about API keys.
func (h *handlers) mayDecide(ctx context.Context, p person.Person, approvalID string) (company.Approval, error) {
	a, err := h.Companies.Approval(ctx, p.Company, approvalID)
	if err == nil && !MayRun(p.Role, decides(a.Kind)) {
		err = fault.Newf(fault.Forbidden, "This needs the role %s, and %s has the role %s", strings.Join(rolesFor(decides(a.Kind)), " or "), p.Name, p.Role).With(fault.RoleMissing)
	}
	return a, err
}

// decides returns the operation that people who decide about a kind of approval may run themselves.
func decides(k company.ApprovalKind) string {
	if k.IsOfPayouts() {
		return "sendPayout"
	}
	return "issueAPIKey"
}

// MayDecide reports whether people with a role decide about a kind of approval.
func MayDecide(role, kind string) bool { return MayRun(role, decides(company.ApprovalKind(kind))) }

// askerStays returns an error if the person who asked has been removed, or has a role that could not ask.
func (h *handlers) askerStays(ctx context.Context, a company.Approval) error {
	if !strings.HasPrefix(a.AskedBy, personPrefix) {
		return nil
	}
	stays, err := h.stays(ctx, a.Company, a.AskedBy, asks[a.Kind], a.CreatedAt)
	if err == nil && !stays {
		err = errAskerGone
	}
	return err
}

// personPrefix begins the name of a person in an approval.
const personPrefix = "person:"

// stays reports whether the person who acted at an instant is still there, with a role that may run an operation. A
// newer person of the same name is somebody else.
func (h *handlers) stays(ctx context.Context, reference, who, operationID string, at time.Time) (bool, error) {
	all, err := h.People(ctx, reference)
	return slices.ContainsFunc(all, func(p person.Person) bool {
		return personPrefix+p.Name == who && !p.CreatedAt.After(at) && MayRun(p.Role, operationID)
	}), err
}

// firstCounts reports whether the first of the two people who approve may still decide. The audit log says when that
// person approved: the person may be newer than the approval.
func (h *handlers) firstCounts(ctx context.Context, a company.Approval) (bool, error) {
	lines, err := h.SignedLines(ctx, a.Company, a.ID, a.CreatedAt)
	if err != nil {
		return false, err
	}
	at := a.CreatedAt
	for _, l := range lines {
		if l.Action == company.ApprovedFirst && l.Details["by"] == a.FirstBy {
			at = l.CreatedAt
		}
	}
	return h.stays(ctx, a.Company, a.FirstBy, decides(a.Kind), at)
}

var errAskerGone = fault.New(fault.Conflict, "Whoever asked for this has no access any more").With(fault.ApprovalState)

// asks are the operations by which each kind of approval is asked for.
var asks = map[company.ApprovalKind]string{
	company.ApproveIssue: "issueAPIKey", company.ApproveRevoke: "revokeAPIKey", company.ApproveRuleOff: "setTwoPeople",
	company.ApprovePayout: "sendPayout", company.ApproveBulk: "confirmBulkPayout", company.ApprovePayoutRule: "setPayoutApproval",
}

// decided may show a new API key, so a cache must not store it.
type decided ApproveRequest200JSONResponse

// VisitApproveRequestResponse sends the response with a header that forbids caching.
func (d decided) VisitApproveRequestResponse(w http.ResponseWriter) error {
	w.Header().Set("Cache-Control", "no-store")
	return ApproveRequest200JSONResponse(d).VisitApproveRequestResponse(w)
}

// RejectRequest ends an approval.
func (h *handlers) RejectRequest(ctx context.Context, r RejectRequestRequestObject) (RejectRequestResponseObject, error) {
	by, p, err := byPerson(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := h.mayDecide(ctx, p, r.ID); err != nil {
		return nil, tokenless(ctx, err)
	}
	a, err := h.Companies.Reject(ctx, by, r.ID)
	if err != nil {
		return nil, tokenless(ctx, err)
	}
	return RejectRequest200JSONResponse{Status: "success", Message: "Rejected", Data: h.approval(a)}, nil
}

func (h *handlers) approval(a company.Approval) Approval {
	act, err := a.Act()
	if err != nil {
		h.Log.Error("an approval cannot be read", "approval", a.ID, "error", err)
	}
	out := Approval{
		ID: a.ID, Kind: string(a.Kind), State: a.Status(h.Clock.Now()), Name: wire.Optional(act.Name), KeyExpiresAt: clock.Optional(act.ExpiresAt),
		APIKeyID: wire.Optional(act.KeyID), AskedBy: a.AskedBy, FirstApprovedBy: wire.Optional(a.FirstBy), CreatedAt: clock.Text(a.CreatedAt), ExpiresAt: clock.Text(a.ExpiresAt),
		DecidedBy: wire.Optional(a.DecidedBy), DecidedAt: clock.Optional(a.DecidedAt),
	}
	waitsWhat(&out, act)
	return out
}
