package person_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

// invite makes a link for an operator, or for an owner of a company.
func (h *house) invite(company, name string) (token string) {
	h.t.Helper()
	link, digest := person.NewLink()
	var err error
	if company == "" {
		_, err = h.Invite(h.t.Context(), root, name, operator.Finance, digest)
	} else {
		_, err = h.InvitePerson(h.t.Context(), root, company, name, person.Owner, digest)
	}
	h.must(err)
	return link.Reveal()
}

// A newer link of a person ends the earlier ones, also if the newer one is used, and also if somebody removes its row.
func TestALinkEndsWithANewerOne(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		for _, company := range []string{"", "acme"} {
			lost, other := h.invite(company, "ada"), h.invite(company, "obi")
			h.clock.Advance(-time.Second) // the clock of another program
			replaced := h.invite(company, "ada")
			h.clock.Advance(time.Minute)
			last := h.invite(company, "ada")
			_, _, err := h.UseLink(ctx, company, replaced, "", "")
			h.refuses("a replaced link", err, fault.Unauthenticated)
			p, _, err := h.UseLink(ctx, company, last, "", "")
			if err != nil || p.Name != "ada" {
				h.t.Fatalf("the last link of %q: %+v, %v", company, p, err)
			}
			h.exec(`DELETE FROM person_link WHERE used_at > 0`)
			_, _, err = h.UseLink(ctx, company, lost, "", "")
			h.refuses("the first link", err, fault.Unauthenticated)
			_, _, err = h.UseLink(ctx, company, other, "", "")
			h.must(err)
		}
	})
}

// A link ends when its person makes a passkey or a password in another way. A link that is newer than the password is for
// somebody who has lost it, and works.
func TestALinkEndsWithANewerPassword(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		for _, p := range []person.Person{h.join("ada", operator.Finance), h.joinCompany("acme", "ada", person.Owner)} {
			h.clock.Advance(time.Minute)
			link := h.invite(p.Company, p.Name)
			h.clock.Advance(time.Minute)
			h.setPassword(p)
			_, _, err := h.UseLink(ctx, p.Company, link, "", "")
			h.refuses("a link from before the password", err, fault.Unauthenticated)
			h.exec(`DELETE FROM person_credential WHERE person_id = $1`, p.ID)
			_, _, err = h.UseLink(ctx, p.Company, link, "", "")
			h.refuses("without the rows of the password", err, fault.Unauthenticated)
			h.setPassword(p)
			h.clock.Advance(time.Minute)
			if again, _, err := h.UseLink(ctx, p.Company, h.invite(p.Company, p.Name), "", ""); err != nil || again.ID != p.ID {
				h.t.Errorf("somebody who has lost a password: %+v, %v", again, err)
			}
		}
	})
}

// A link of an owner ends when the owner is removed or gets another role. A new owner of the same name does not revive it.
func TestALinkEndsWithItsMaker(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		h.joinCompany("acme", "boss", person.Owner)
		links := func(by person.Person) (out []string) {
			for _, name := range []string{"vera", "femi"} {
				token, digest := person.NewLink()
				_, err := h.InviteAs(ctx, by, name+"."+by.Name, person.Viewer, digest)
				h.must(err)
				out = append(out, token.Reveal())
			}
			return out
		}
		works := func(token string, want bool) {
			h.t.Helper()
			h.clock.Advance(time.Second)
			if _, _, err := h.UseLink(ctx, "acme", token, "", ""); (err == nil) != want || err != nil && !fault.Is(err, fault.Unauthenticated) {
				h.t.Errorf("the link works: %v", err)
			}
		}
		olu := h.joinCompany("acme", "olu", person.Owner)
		made := links(olu)
		works(made[0], true)
		_, err := h.SetRole(ctx, root, "acme", olu.ID, person.Viewer)
		h.must(err)
		works(made[1], false)
		_, err = h.SetRole(ctx, root, "acme", olu.ID, person.Owner)
		h.must(err)
		works(made[1], true)

		ada := h.joinCompany("acme", "ada", person.Owner)
		made = links(ada)
		works(made[0], true)
		_, err = h.End(ctx, root, "acme", ada.ID)
		h.must(err)
		works(made[1], false)
		h.joinCompany("acme", "ada", person.Owner)
		works(made[1], false)
	})
}
