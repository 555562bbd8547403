package person

import (
	"context"
	"slices"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

func (s *Service) rules(ctx context.Context, company string) ([]Rule, error) {
	if s.Rules == nil {
		return nil, nil
	}
	return s.Rules(ctx, company)
}

var errAlone = fault.New(fault.Refused, "While two people are required, one owner cannot add a person who approves. Ask Kobo's operator to invite the person.")

// alone returns an error if the company requires two people for what a role approves. An owner sees the link of an
// invitation, so one owner could otherwise approve as a person of their own making.
func (s *Service) alone(ctx context.Context, company, role string) error {
	rules, err := s.rules(ctx, company)
	if err == nil && slices.ContainsFunc(rules, func(approves Rule) bool { return approves(role) }) {
		err = errAlone
	}
	return err
}

// Ready returns the people of a company who have signed in: those with a passkey or a password, or with an open
// session. The oldest come first. Nobody can wait for the others.
func (s *Service) Ready(ctx context.Context, company string) ([]Person, error) {
	return s.readyIn(ctx, s.DB, company)
}

func (s *Service) readyIn(ctx context.Context, q db.Querier, company string) (out []Person, err error) {
	all, err := s.peopleOf(ctx, q, company)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.State != active || !s.isSigned(people.Table, p.row(), p.mac) {
			continue
		}
		has, err := s.accessIn(ctx, q, p)
		if err != nil {
			return nil, err
		}
		if has.SignsIn {
			out = append(out, p)
		}
	}
	return out, nil
}

var errLastApprover = fault.New(fault.Refused, "While two people are required, two people who approve must stay. Ask Kobo's operator to invite another one first, or to change this person.")

// keepApprovers returns a refusal if a change leaves fewer than two people who approve by a rule: one asks, and another
// one approves. Somebody who has never signed in may leave. Two such changes at the same time wait for each other.
func (s *Service) keepApprovers(ctx context.Context, q db.Querier, rules []Rule, before, after Person) error {
	lost := slices.DeleteFunc(slices.Clone(rules), func(approves Rule) bool {
		return !approves(before.Role) || after.State == active && approves(after.Role)
	})
	if len(lost) == 0 {
		return nil
	}
	if err := lockPeople(ctx, q, before.Company); err != nil {
		return err
	}
	ready, err := s.readyIn(ctx, q, before.Company)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(ready), func(p Person) bool { return p.ID == before.ID })
	if len(others) == len(ready) {
		return nil
	}
	for _, approves := range lost {
		if len(slices.DeleteFunc(slices.Clone(others), func(p Person) bool { return !approves(p.Role) })) < 2 {
			return errLastApprover
		}
	}
	return nil
}
