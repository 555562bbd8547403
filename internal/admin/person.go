package admin

import (
	"context"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/wire"
)

// personOf returns a person of a company with the last use of the access. A person whose access has ended has none.
func (e *edge) personOf(ctx context.Context, p person.Person) (Person, error) {
	has, err := e.People.Access(ctx, p)
	return Person{
		ID: p.ID, Name: p.Name, Role: p.Role, Status: p.State, CreatedAt: clock.Text(p.CreatedAt), SignsIn: has.SignsIn && p.State == "ACTIVE", LastSeenAt: clock.Optional(has.UsedAt),
	}, err
}

func invitationOf(i person.Invitation) Invitation {
	return Invitation{i.Person.ID, i.Person.Name, i.Person.Role, clock.Text(i.ExpiresAt), wire.Optional(i.Code.Reveal())}
}

// inviteOperator invites an operator to the console. The caller keeps the link, and the operator who approves
// gets the code.
func (e *edge) inviteOperator(ctx context.Context, r *request, body InvitationRequest) (any, error) {
	i, err := e.People.Invite(ctx, r.by, body.Name, operator.Role(body.Role), body.LinkDigest)
	return invitationOf(i), err
}

func (e *edge) checkInvitation(ctx context.Context, _ *request, p *plan, body InvitationRequest) error {
	if err := e.People.CheckInvite(ctx, body.Name, operator.Role(body.Role), body.LinkDigest); err != nil {
		return err
	}
	if err := p.only("the link " + body.LinkDigest[:8] + "…"); err != nil {
		return err
	}
	return p.only("operator " + body.Name)
}

// removeOperator removes an operator, who needs no second operator to lose access. Somebody whose access has expired can
// be removed too.
func (e *edge) removeOperator(ctx context.Context, r *request) (any, error) {
	name := r.PathValue("id")
	if err := e.Operators.Remove(ctx, r.by, name); err != nil {
		return nil, err
	}
	return e.operatorNamed(ctx, name)
}

// operatorNamed returns the newest row of an operator, who may be removed.
func (e *edge) operatorNamed(ctx context.Context, name string) (out Operator, err error) {
	keys, err := e.Operators.Keys(ctx)
	for _, k := range keys {
		if k.Name == name {
			out = operatorOf(k)
		}
	}
	return out, err
}

func (e *edge) listPeople(ctx context.Context, r *request) (any, error) {
	if _, err := e.Companies.Find(ctx, r.PathValue("reference")); err != nil {
		return nil, err
	}
	all, err := e.People.People(ctx, r.PathValue("reference"))
	out := make([]Person, len(all))
	for i, p := range all {
		if err == nil {
			out[i], err = e.personOf(ctx, p)
		}
	}
	return out, err
}

func (e *edge) invitePerson(ctx context.Context, r *request, body PersonRequest) (any, error) {
	if _, err := e.Companies.Find(ctx, r.PathValue("reference")); err != nil {
		return nil, err
	}
	i, err := e.People.InvitePerson(ctx, r.by, r.PathValue("reference"), body.Name, body.Role, body.LinkDigest)
	return invitationOf(i), err
}

func (e *edge) checkPersonInvitation(ctx context.Context, r *request, p *plan, body PersonRequest) error {
	if err := e.People.CheckInvitePerson(ctx, r.PathValue("reference"), body.Name, body.Role, body.LinkDigest); err != nil {
		return err
	}
	if err := p.only("the link " + body.LinkDigest[:8] + "…"); err != nil {
		return err
	}
	return p.only("person " + body.Name)
}

func (e *edge) setPersonRole(ctx context.Context, r *request, body PersonRoleRequest) (any, error) {
	p, err := e.People.SetRole(ctx, r.by, r.PathValue("reference"), r.PathValue("id"), body.Role)
	if err != nil {
		return nil, err
	}
	return e.personOf(ctx, p)
}

func (e *edge) checkPersonRole(ctx context.Context, r *request, p *plan, body PersonRoleRequest) error {
	if err := person.CheckRole(body.Role); err != nil {
		return err
	}
	return e.checkPerson(ctx, r, p)
}

func (e *edge) weighPersonRole(ctx context.Context, r *request, _ PersonRoleRequest) (stake, error) {
	p, err := e.People.Find(ctx, r.PathValue("reference"), r.PathValue("id"))
	return stake{on: "person/" + p.Name, was: p.Role}, err
}

func (e *edge) endPerson(ctx context.Context, r *request) (any, error) {
	p, err := e.People.End(ctx, r.by, r.PathValue("reference"), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return e.personOf(ctx, p)
}

// checkPerson returns an error unless the company has the person, about whom a proposal has one act.
func (e *edge) checkPerson(ctx context.Context, r *request, p *plan) error {
	if _, err := e.People.Find(ctx, r.PathValue("reference"), r.PathValue("id")); err != nil {
		return err
	}
	return p.only("person " + r.PathValue("id"))
}
