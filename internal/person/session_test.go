package person_test

import (
	"cmp"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

// A new password and a removed one end the other sessions in the same commit. If the sessions cannot end, the password stays
// as it was.
func TestOtherSessionsEndWithThePassword(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		for _, p := range []person.Person{h.join("ada", operator.Finance), h.joinCompany("acme", "ada", person.Owner)} {
			var tokens []string
			enter := func() person.Session {
				token, err := h.Begin(ctx, p, "", true)
				h.must(err)
				tokens = append(tokens, token)
				x, _, err := h.Open(ctx, p.Company, token)
				h.must(err)
				return x
			}
			open := func(want int) {
				h.t.Helper()
				all, err := h.Sessions(ctx, p)
				if err != nil || len(all) != want {
					h.t.Errorf("%s: %d sessions are open, not %d, %v", p.Name, len(all), want, err)
				}
			}
			set := func(keep person.Session) error {
				c, err := h.NewCode(p, "")
				h.must(err)
				return h.SetPassword(ctx, p, keep, password, c.State, h.code(c.Secret))
			}
			held := func() []person.Credential {
				all, err := h.Credentials(ctx, p)
				h.must(err)
				return all
			}
			enter()
			own := enter()
			h.must(set(own))
			open(1)
			enter()
			first := held()
			_, err := h.d.Exec(ctx, `CREATE UNIQUE INDEX no_more ON operator_audit (company_id, subject) WHERE action = 'person.sessions.end' AND subject = '`+cmp.Or(p.Company, p.Name)+`'`)
			h.must(err)
			if err := set(own); err == nil || len(held()) != 2 || held()[0].ID != first[0].ID {
				h.t.Errorf("a new password without the end of the sessions: %v, %+v", err, held())
			}
			if err := h.Remove(ctx, p, own, first[0].ID); err == nil || len(held()) != 2 {
				h.t.Errorf("a removed password without the end of the sessions: %v, %+v", err, held())
			}
			open(2)
			_, err = h.d.Exec(ctx, `DROP INDEX no_more`)
			h.must(err)
			h.must(h.Remove(ctx, p, own, first[0].ID))
			open(1)
			if x, _, err := h.Open(ctx, p.Company, tokens[1]); err != nil || x.ID != own.ID {
				h.t.Errorf("the own session: %+v, %v", x, err)
			}
		}
	})
}
