package main

import (
	"github.com/spf13/cobra"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/person"
)

func companyPersonCommand() *cobra.Command {
	c := &cobra.Command{Use: "person", Short: "Manage the people who sign in for a company"}
	add := commandsOf(c)
	guest := add("invite REFERENCE NAME", "Invite a person of a company to its pages; the link is printed once", 2, ofCompany(invitePerson))
	guest.Long = `Invite a person of a company to its pages (/app/). The person may be new, and somebody who has
lost a passkey is invited again. The first one is an owner, who invites the others. With four
eyes two operators invite: the second one runs kobo proposal approve and gets a code. The new
person needs the link and the code.`
	guest.Flags().String("role", person.Viewer, "owner, developer, finance or viewer; of a person who exists: the present role")
	add("list REFERENCE", "List the people of a company, oldest first", 1, ofCompany(listPeople))
	add("role REFERENCE NAME ROLE", "Give a person of a company another role; the sessions of the person end", 3, ofCompany(setPersonRole))
	add("remove REFERENCE NAME", "End the access of a person of a company at once", 2, ofCompany(removePerson))
	return c
}

// invitePerson makes the link of an invitation. Only its digest leaves this command.
func invitePerson(c *cobra.Command, a *app.App, args []string) error {
	reference, name, role := args[0], args[1], flagOf(c, "role")
	token, digest := person.NewLink()
	body := map[string]string{"name": name, "role": role, "linkDigest": digest}
	err := act(c, a, at("companies", reference, "people"), body, func() error {
		_, err := a.People.InvitePerson(c.Context(), local(), reference, name, role, digest)
		return err
	})
	return done(c, err, "%s", a.CompanyLink(reference, token))
}

func listPeople(c *cobra.Command, a *app.App, args []string) error {
	all, err := a.People.People(c.Context(), args[0])
	access := map[string]person.Access{}
	for _, p := range all {
		if err == nil {
			access[p.ID], err = a.People.Access(c.Context(), p)
		}
	}
	return printList(c, "NAME ROLE SIGNS_IN LAST_SEEN SINCE", all, err, func(p person.Person) []any {
		return []any{p.Name, p.Role, access[p.ID].SignsIn, instant(access[p.ID].UsedAt), clock.Text(p.CreatedAt)}
	})
}

func setPersonRole(c *cobra.Command, a *app.App, args []string) error {
	p, err := a.People.FindNamed(c.Context(), args[0], args[1])
	if err != nil {
		return err
	}
	return act(c, a, at("companies", args[0], "people", p.ID, "role"), map[string]string{"role": args[2]}, func() error {
		_, err := a.People.SetRole(c.Context(), local(), args[0], p.ID, args[2])
		return err
	})
}

// removePerson needs no second operator, so it also works without a key.
func removePerson(c *cobra.Command, a *app.App, args []string) error {
	p, err := a.People.FindNamed(c.Context(), args[0], args[1])
	if err == nil {
		_, err = a.People.End(c.Context(), local(), args[0], p.ID)
	}
	return err
}
