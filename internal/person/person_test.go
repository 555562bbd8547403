package person_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	origin   = "https://console.example.com"
	password = "a rather long phrase"
)

var root = operator.Local("root")

// house is a service on an empty database. The clock of the house and that of the machine move apart.
type house struct {
	*person.Service
	t              *testing.T
	d              *db.DB
	clock, machine *clock.Manual
}

func each(t *testing.T, f func(h *house)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		h := &house{t: t, d: d, clock: clock.At(start), machine: clock.At(start)}
		h.Service, err = person.New(person.Config{
			DB: d, Keys: keys, Operators: operator.New(d, keys, h.clock), Clock: h.clock, Machine: h.machine, Origin: origin,
		})
		if err != nil {
			t.Fatal(err)
		}
		f(h)
	})
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) exec(statement string, args ...any) {
	h.t.Helper()
	n, err := h.d.Exec(h.t.Context(), statement, args...)
	if err != nil || n == 0 {
		h.t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

// refuses checks that an error is a refusal of a kind.
func (h *house) refuses(what string, err error, kind fault.Kind) {
	h.t.Helper()
	if !fault.Is(err, kind) {
		h.t.Errorf("%s: %v, not %s", what, err, kind)
	}
}

// join invites an operator, who uses the link.
func (h *house) join(name string, role operator.Role) person.Person {
	h.t.Helper()
	token, digest := person.NewLink()
	_, err := h.Invite(h.t.Context(), root, name, role, digest)
	h.must(err)
	p, _, err := h.UseLink(h.t.Context(), "", token.Reveal(), "", "")
	h.must(err)
	return p
}

// joinCompany invites a person of a company, who uses the link.
func (h *house) joinCompany(company, name, role string) person.Person {
	h.t.Helper()
	token, digest := person.NewLink()
	_, err := h.InvitePerson(h.t.Context(), root, company, name, role, digest)
	h.must(err)
	p, _, err := h.UseLink(h.t.Context(), company, token.Reveal(), "", "")
	h.must(err)
	return p
}

// setPassword gives a person a password, and returns the secret of the one-time codes.
func (h *house) setPassword(p person.Person) string {
	h.t.Helper()
	c, err := h.NewCode(p, "")
	h.must(err)
	h.must(h.SetPassword(h.t.Context(), p, person.Session{}, password, c.State, h.code(c.Secret)))
	return c.Secret
}

// code returns the code of the present step.
func (h *house) code(key string) string {
	h.t.Helper()
	code, err := totp.GenerateCode(key, h.machine.Now())
	h.must(err)
	return code
}

func TestALinkWorksOnce(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		token, digest := person.NewLink()
		_, err := h.Invite(ctx, root, "ada", operator.Finance, digest)
		h.must(err)
		_, err = h.Invite(ctx, root, "eve", operator.Finance, digest)
		h.refuses("a second invitation with the same link", err, fault.Refused)
		_, _, err = h.UseLink(ctx, "acme", token.Reveal(), "", "")
		h.refuses("the link at a company", err, fault.Unauthenticated)
		_, _, err = h.UseLink(ctx, "", digest, "", "")
		h.refuses("the digest as a token", err, fault.Unauthenticated)
		p, _, err := h.UseLink(ctx, "", token.Reveal(), "", "")
		if err != nil || p.Name != "ada" || p.Role != "finance" || p.Company != "" {
			h.t.Fatalf("the link: %+v, %v", p, err)
		}
		_, _, err = h.UseLink(ctx, "", token.Reveal(), "", "")
		h.refuses("the link again", err, fault.Unauthenticated)

		late, digest := person.NewLink()
		_, err = h.Invite(ctx, root, "ada", operator.Finance, digest)
		h.must(err)
		_, err = h.Invite(ctx, root, "ada", operator.Admin, strings.Repeat("a", 64))
		h.refuses("an invitation with another role", err, fault.Refused)
		h.clock.Advance(72 * time.Hour)
		_, _, err = h.UseLink(ctx, "", late.Reveal(), "", "")
		h.refuses("a late link", err, fault.Unauthenticated)
	})
}

func TestALinkIsNoUseToWhoWritesTheDatabase(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		h.join("ada", operator.Admin)
		boss, err := h.FindNamed(ctx, "", "ada")
		h.must(err)
		token, digest := person.NewLink()
		_, err = h.Invite(ctx, root, "eve", operator.Viewer, digest)
		h.must(err)
		h.exec(`CREATE TABLE earlier AS SELECT * FROM person_link`)
		h.exec(`UPDATE person_link SET person_id = $1 WHERE digest = $2`, boss.ID, digest)
		_, _, err = h.UseLink(ctx, "", token.Reveal(), "", "")
		h.refuses("a link of somebody else", err, fault.Unauthenticated)
		h.exec(`DELETE FROM person_link`)
		h.exec(`INSERT INTO person_link SELECT * FROM earlier`)
		_, _, err = h.UseLink(ctx, "", token.Reveal(), "", "")
		h.must(err)
		h.exec(`DELETE FROM person_link`)
		h.exec(`INSERT INTO person_link SELECT * FROM earlier`)
		_, _, err = h.UseLink(ctx, "", token.Reveal(), "", "")
		h.refuses("a used link that was put back", err, fault.Unauthenticated)
	})
}

func TestAPasswordNeedsANewCodeEachTime(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		p := h.join("ada", operator.Finance)
		c, err := h.NewCode(p, "")
		h.must(err)
		for word, want := range map[string]string{"short": "at least 12", "my name is ada, yes": "must not contain"} {
			if err := h.SetPassword(ctx, p, person.Session{}, word, c.State, h.code(c.Secret)); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
				h.t.Errorf("%q: %v", word, err)
			}
		}
		h.refuses("a wrong code", h.SetPassword(ctx, p, person.Session{}, password, c.State, "000000"), fault.Invalid)
		if same, err := h.NewCode(p, c.State); err != nil || same.Secret != c.Secret {
			h.t.Errorf("the secret changed after a wrong code: %v", err)
		}
		other := h.join("bola", operator.Finance)
		h.refuses("the code of another person", h.SetPassword(ctx, other, person.Session{}, password, c.State, h.code(c.Secret)), fault.Invalid)
		h.must(h.SetPassword(ctx, p, person.Session{}, password, c.State, h.code(c.Secret)))

		_, err = h.SignIn(ctx, "", "ada", password, h.code(c.Secret))
		h.refuses("the code that set the password", err, fault.Unauthenticated)
		h.machine.Advance(30 * time.Second)
		for what, err := range map[string]func() (person.Person, error){
			"a wrong password": func() (person.Person, error) { return h.SignIn(ctx, "", "ada", password+"!", h.code(c.Secret)) },
			"a wrong code":     func() (person.Person, error) { return h.SignIn(ctx, "", "ada", password, "123456") },
			"a wrong name":     func() (person.Person, error) { return h.SignIn(ctx, "", "nobody", password, h.code(c.Secret)) },
			"no password":      func() (person.Person, error) { return h.SignIn(ctx, "", "bola", "", "") },
			"another company":  func() (person.Person, error) { return h.SignIn(ctx, "acme", "ada", password, h.code(c.Secret)) },
		} {
			_, err := err()
			h.refuses(what, err, fault.Unauthenticated)
		}
		got, err := h.SignIn(ctx, "", "ada", password, h.code(c.Secret))
		if err != nil || got.ID != p.ID {
			h.t.Fatalf("the right code: %+v, %v", got, err)
		}
		_, err = h.SignIn(ctx, "", "ada", password, h.code(c.Secret))
		h.refuses("a used code", err, fault.Unauthenticated)

		again := h.setPassword(p)
		h.machine.Advance(time.Minute)
		_, err = h.SignIn(ctx, "", "ada", password, h.code(c.Secret))
		h.refuses("a code of the earlier secret", err, fault.Unauthenticated)
		all, err := h.Credentials(ctx, p)
		if err != nil || len(all) != 2 {
			h.t.Errorf("credentials: %+v, %v", all, err)
		}
		h.must(h.Remove(ctx, p, person.Session{}, all[0].ID))
		_, err = h.SignIn(ctx, "", "ada", password, h.code(again))
		h.refuses("a removed password", err, fault.Unauthenticated)
		h.refuses("a second removal", h.Remove(ctx, p, person.Session{}, all[0].ID), fault.Missing)
	})
}

func TestARemovedOperatorHasNothingLeft(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		p := h.join("ada", operator.Finance)
		key := h.setPassword(p)
		token, err := h.Begin(ctx, p, "", true)
		h.must(err)
		h.must(h.Operators.RevokeKey(ctx, root, "ada"))
		h.machine.Advance(time.Minute)
		if x, _, err := h.Open(ctx, "", token); err != nil || x.ID != "" {
			h.t.Errorf("the session goes on: %+v, %v", x, err)
		}
		if q := h.join("ada", operator.Admin); q.ID == p.ID {
			h.t.Error("a new person of the same name is the same person")
		}
		_, err = h.SignIn(ctx, "", "ada", password, h.code(key))
		h.refuses("the password of the earlier person", err, fault.Unauthenticated)
		if x, _, err := h.Open(ctx, "", token); err != nil || x.ID != "" {
			h.t.Errorf("the session of the earlier person: %+v, %v", x, err)
		}
	})
}

func TestASessionEnds(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		operators, owner := h.join("ada", operator.Finance), h.joinCompany("acme", "olu", person.Owner)
		for _, c := range []struct {
			p           person.Person
			idle, whole time.Duration
		}{{operators, 30 * time.Minute, 12 * time.Hour}, {owner, time.Hour, 24 * time.Hour}} {
			isOpen := func(token string) bool {
				x, p, err := h.Open(ctx, c.p.Company, token)
				h.must(err)
				if x.ID != "" && (p.ID != c.p.ID || p.Role != c.p.Role) {
					h.t.Fatalf("a session of %s: %+v", c.p.Name, p)
				}
				return x.ID != ""
			}
			use := func(token string) {
				x, _, err := h.Open(ctx, c.p.Company, token)
				h.must(err)
				h.must(h.Use(ctx, x))
			}
			idle, err := h.Begin(ctx, c.p, "a browser", true)
			h.must(err)
			h.clock.Advance(100 * time.Hour) // the clock of sandbox mode
			h.machine.Advance(c.idle - time.Second)
			if !isOpen(idle) || isOpen(idle+"x") || isOpen("") || isOpen(".") {
				h.t.Errorf("%s: before the end", c.p.Name)
			}
			use(idle)
			h.machine.Advance(c.idle - time.Minute)
			if !isOpen(idle) {
				h.t.Errorf("%s: a use did not count", c.p.Name)
			}
			h.machine.Advance(time.Minute)
			if isOpen(idle) { // a look at the session is no use
				h.t.Errorf("%s: an idle session", c.p.Name)
			}
			busy, err := h.Begin(ctx, c.p, "", true)
			h.must(err)
			for spent := time.Duration(0); spent < c.whole; spent += 20 * time.Minute {
				if !isOpen(busy) {
					h.t.Fatalf("%s: ended after %s", c.p.Name, spent)
				}
				use(busy)
				h.machine.Advance(20 * time.Minute)
			}
			if isOpen(busy) {
				h.t.Errorf("%s: a session has no end", c.p.Name)
			}
		}
		first, err := h.Begin(ctx, operators, "", true)
		h.must(err)
		second, err := h.Begin(ctx, operators, "", true)
		h.must(err)
		x, _, err := h.Open(ctx, "", second)
		h.must(err)
		h.must(h.EndOthers(ctx, operators, x))
		if gone, _, err := h.Open(ctx, "", first); err != nil || gone.ID != "" {
			h.t.Errorf("another session: %+v, %v", gone, err)
		}
		_, err = h.Operators.SetRole(ctx, root, "ada", operator.Admin)
		h.must(err)
		if gone, _, err := h.Open(ctx, "", second); err != nil || gone.ID != "" {
			h.t.Errorf("a session with the earlier role: %+v, %v", gone, err)
		}
	})
}

func TestAProofIsFreshAndOnesOwn(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		p, other := h.join("ada", operator.Finance), h.join("bola", operator.Finance)
		token, err := h.Begin(ctx, p, "", false)
		h.must(err)
		open := func() person.Session {
			x, _, err := h.Open(ctx, "", token)
			h.must(err)
			return x
		}
		if h.IsProved(open()) {
			h.t.Error("a link is a proof")
		}
		h.refuses("a proof of another person", h.Prove(ctx, open(), other, token), fault.Unauthenticated)
		h.must(h.Prove(ctx, open(), p, token))
		if !h.IsProved(open()) {
			h.t.Error("a proof is none")
		}
		h.machine.Advance(person.ProofLife)
		if x := open(); x.ID == "" || h.IsProved(x) {
			h.t.Errorf("an old proof: %+v", x)
		}
	})
}

// A session that began by a link makes one passkey or password without a fresh proof, at any time of its life. No other
// session does: not one that began otherwise, not that of another person, and not the same one a second time.
func TestALinkIsTheProofForTheFirstPassword(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		for _, p := range []person.Person{h.join("ada", operator.Finance), h.joinCompany("c1", "obi", person.Owner)} {
			enter := func(begin func() (string, error)) person.Session {
				token, err := begin()
				h.must(err)
				x, _, err := h.Open(ctx, p.Company, token)
				h.must(err)
				return x
			}
			may := func(x person.Session) bool {
				may, err := h.MayMakeFirst(ctx, x, p)
				h.must(err)
				return may
			}
			otherwise := enter(func() (string, error) { return h.Begin(ctx, p, "", true) })
			h.clock.Advance(time.Second)
			h.machine.Advance(time.Second)
			linked := enter(func() (string, error) {
				_, token, err := h.UseLink(ctx, p.Company, h.invite(p.Company, p.Name), "", "")
				return token, err
			})
			h.clock.Advance(2 * person.ProofLife)
			h.machine.Advance(2 * person.ProofLife)
			if h.IsProved(linked) || !may(linked) || may(otherwise) {
				h.t.Errorf("%s: after a link %t, and otherwise %t", p.Name, may(linked), may(otherwise))
			}
			theirs := linked
			theirs.ID = otherwise.ID
			if may(theirs) {
				h.t.Errorf("%s: another session counts", p.Name)
			}
			h.exec(`UPDATE operator_audit SET details = $1 WHERE action = 'operator.signed_in' AND details LIKE $2`,
				`{"by":"link","person":"`+p.Name+`","personId":"`+p.ID+`","sessionId":"`+otherwise.ID+`"}`, "%"+otherwise.ID+"%")
			if may(otherwise) {
				h.t.Errorf("%s: a line counts that somebody has written without the key", p.Name)
			}
			h.setPassword(p)
			if may(linked) {
				h.t.Errorf("%s: a second one without a proof", p.Name)
			}
			h.exec(`DELETE FROM person_credential WHERE person_id = $1`, p.ID)
			if may(linked) {
				h.t.Errorf("%s: a deleted row was never there", p.Name)
			}
		}
	})
}

// Somebody who can write rows, and has no key of the program, gains nothing.
func TestWhoWritesTheDatabaseGainsNothing(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		boss, eve := h.join("ada", operator.Admin), h.join("eve", operator.Viewer)
		key := h.setPassword(eve)
		token, err := h.Begin(ctx, eve, "", false)
		h.must(err)
		before, _, err := h.Open(ctx, "", token)
		h.must(err)
		h.exec(`CREATE TABLE earlier AS SELECT * FROM person_session`)
		for _, change := range []string{
			`UPDATE person_session SET person_id = '` + boss.ID + `'`, `UPDATE person_session SET role = 'admin'`,
			`UPDATE person_session SET proved_at = began_at + 1`, `UPDATE person_session SET began_at = began_at + 1000`,
		} {
			h.exec(change)
			if x, p, err := h.Open(ctx, "", token); err != nil || x.ID != "" {
				h.t.Errorf("%s: %+v, %+v, %v", change, x, p, err)
			}
			h.exec(`DELETE FROM person_session`)
			h.exec(`INSERT INTO person_session SELECT * FROM earlier`)
		}
		if x, _, err := h.Open(ctx, "", token); err != nil || x.ID != before.ID {
			h.t.Errorf("unchanged: %+v, %v", x, err)
		}
		h.machine.Advance(time.Minute)
		h.exec(`UPDATE person_credential SET person_id = $1`, boss.ID)
		_, err = h.SignIn(ctx, "", "ada", password, h.code(key))
		h.refuses("a moved password", err, fault.Unauthenticated)
		all, err := h.Credentials(ctx, boss)
		if err != nil || len(all) != 0 {
			h.t.Errorf("planted credentials: %+v, %v", all, err)
		}
		h.joinCompany("acme", "vera", person.Viewer)
		h.exec(`UPDATE person SET role = 'owner'`)
		if p, err := h.FindNamed(ctx, "acme", "vera"); err == nil {
			h.t.Errorf("a planted owner: %+v", p)
		}
	})
}

// The same holds for the rows of operators. An operator who was invited has no key that binds the row.
func TestWhoWritesTheDatabaseIsNoOperator(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		eve := h.join("eve", operator.Viewer)
		key := h.setPassword(eve)
		signsIn := func(when string, kind fault.Kind) {
			h.t.Helper()
			h.machine.Advance(time.Minute)
			if p, err := h.SignIn(ctx, "", "eve", password, h.code(key)); kind == "" && err != nil || kind != "" && !fault.Is(err, kind) {
				h.t.Errorf("%s: %+v, %v", when, p, err)
			}
		}
		signsIn("unchanged", "")
		h.exec(`UPDATE operator_key SET role = 'admin' WHERE name = 'eve'`)
		signsIn("a raised role", fault.Unauthenticated)
		h.exec(`UPDATE operator_key SET role = 'viewer' WHERE name = 'eve'`)
		signsIn("put back", "")
		h.must(h.Operators.RevokeKey(ctx, root, "eve"))
		h.exec(`UPDATE operator_key SET state = 'ACTIVE' WHERE name = 'eve'`)
		signsIn("revived", fault.Unauthenticated)
		if all, err := h.People(ctx, ""); err != nil || len(all) != 0 {
			h.t.Errorf("operators: %+v, %v", all, err)
		}
	})
}

func TestPeopleOfACompany(t *testing.T) {
	each(t, func(h *house) {
		ctx := h.t.Context()
		olu, vera := h.joinCompany("acme", "olu", person.Owner), h.joinCompany("acme", "vera", person.Viewer)
		stranger := h.joinCompany("other", "olu", person.Owner)
		_, digest := person.NewLink()
		_, err := h.InviteAs(ctx, vera, "femi", person.Finance, digest)
		h.refuses("a viewer invites", err, fault.Forbidden)
		_, err = h.InviteAs(ctx, olu, "femi", "admin", digest)
		h.refuses("a role of operators", err, fault.Invalid)
		_, err = h.InviteAs(ctx, olu, "femi", person.Finance, digest)
		h.must(err)
		_, err = h.SetRole(ctx, root, "other", vera.ID, person.Owner)
		h.refuses("a person of another company", err, fault.Missing)
		_, err = h.Find(ctx, "acme", stranger.ID)
		h.refuses("a person of another company", err, fault.Missing)
		_, err = h.End(ctx, root, "acme", olu.ID)
		h.refuses("the last owner leaves", err, fault.Refused)
		_, err = h.SetRole(ctx, root, "acme", olu.ID, person.Viewer)
		h.refuses("the last owner becomes a viewer", err, fault.Refused)
		token, err := h.Begin(ctx, vera, "", true)
		h.must(err)
		promoted, err := h.SetRole(ctx, root, "acme", vera.ID, person.Owner)
		if err != nil || promoted.Role != person.Owner {
			h.t.Fatalf("a second owner: %+v, %v", promoted, err)
		}
		if x, _, err := h.Open(ctx, "acme", token); err != nil || x.ID != "" {
			h.t.Errorf("a session with the earlier role: %+v, %v", x, err)
		}
		_, err = h.End(ctx, root, "acme", olu.ID)
		h.must(err)
		all, err := h.People(ctx, "acme")
		if err != nil || len(all) != 2 || all[0].Name != "vera" || all[1].Name != "femi" {
			h.t.Errorf("people: %+v, %v", all, err)
		}
		if again := h.joinCompany("acme", "olu", person.Viewer); again.ID == olu.ID {
			h.t.Error("a person whose access has ended came back")
		}
	})
}
