package operator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

var root = operator.Local("root")

func each(t *testing.T, f func(t *testing.T, with func(keyring string) *operator.Service)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		clk := clock.At(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
		f(t, func(keyring string) *operator.Service {
			keys, err := secret.Parse(keyring)
			if err != nil {
				t.Fatal(err)
			}
			return operator.New(d, keys, clk)
		})
	})
}

func TestKeysArePersonal(t *testing.T) {
	each(t, func(t *testing.T, with func(string) *operator.Service) {
		ctx := t.Context()
		s := with(secret.Generate())
		keys := map[string]string{}
		for _, name := range []string{"ada", "bob"} {
			k, text, err := s.IssueKey(ctx, root, name)
			if err != nil || k.Name != name || !strings.HasPrefix(text.Reveal(), "kobo_admin_") {
				t.Fatalf("%+v, %v", k, err)
			}
			keys[name] = text.Reveal()
		}
		for name, key := range keys {
			if who, err := s.Authenticate(ctx, key); err != nil || who.Name != name {
				t.Errorf("%s is %q, %v", name, who.Name, err)
			}
		}
		if _, _, err := s.IssueKey(ctx, root, "ada"); !fault.Is(err, fault.Refused) {
			t.Errorf("two working keys for one person: %v", err)
		}
		for _, name := range []string{"", "a", "Ada", "local:root", "a b", strings.Repeat("a", 65)} {
			if _, _, err := s.IssueKey(ctx, root, name); !fault.Is(err, fault.Invalid) {
				t.Errorf("%q is a name: %v", name, err)
			}
		}
		if err := s.RevokeKey(ctx, root, "ada"); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{keys["ada"], "", "kobo_admin_", keys["bob"] + "x"} {
			if who, err := s.Authenticate(ctx, key); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%.14s… is %q, %v", key, who.Name, err)
			}
		}
		if err := s.RevokeKey(ctx, root, "ada"); !fault.Is(err, fault.Missing) {
			t.Errorf("revoked twice: %v", err)
		}
		for name, want := range map[string]bool{"ada": false, "bob": true, "nobody": false, root.Name: true, "local:ada": true, "company:bob": false} {
			if is, err := s.IsOperator(ctx, name, operator.Viewer, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)); err != nil || is != want {
				t.Errorf("%s is an operator: %v, %v", name, is, err)
			}
		}
		if _, text, err := s.IssueKey(ctx, root, "ada"); err != nil || text.Reveal() == keys["ada"] {
			t.Errorf("a new key after the old one: %v", err)
		}
		all, err := s.Keys(ctx)
		if err != nil || len(all) != 3 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestTheAuditLogHasOnlyCommittedActions(t *testing.T) {
	each(t, func(t *testing.T, with func(string) *operator.Service) {
		ctx := t.Context()
		s := with(secret.Generate())
		k, _, err := s.IssueKey(ctx, root, "ada")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.IssueKey(ctx, root, "ada"); err == nil {
			t.Fatal("a second key")
		}
		if err := s.RevokeKey(ctx, operator.Operator{Name: "bob"}, "ada"); err != nil {
			t.Fatal(err)
		}
		lines, total, err := s.Audit(ctx, "", 10, 0)
		if err != nil || total != 2 || len(lines) != 2 {
			t.Fatalf("%d lines, %v", total, err)
		}
		if l := lines[1]; l.Operator != "local:root" || l.Action != "operator.key.issue" || l.Subject != "ada" || l.Details["keyId"] != k.ID || l.Company != "" {
			t.Errorf("first %+v", l)
		}
		if l := lines[0]; l.Operator != "bob" || l.Action != "operator.key.revoke" {
			t.Errorf("second %+v", l)
		}
		if page, total, err := s.Audit(ctx, "", 1, 1); err != nil || total != 2 || len(page) != 1 || page[0].ID != lines[1].ID {
			t.Errorf("the second page: %+v, %v", page, err)
		}
		if _, total, err := s.Audit(ctx, "another company", 10, 0); err != nil || total != 0 {
			t.Errorf("%d lines of another company, %v", total, err)
		}
	})
}

func TestAnAdminKeyOutlivesItsMasterKey(t *testing.T) {
	each(t, func(t *testing.T, with func(string) *operator.Service) {
		ctx := t.Context()
		before, after := secret.Generate(), secret.Generate()
		_, text, err := with(before).IssueKey(ctx, root, "ada")
		if err != nil {
			t.Fatal(err)
		}
		for _, keyring := range []string{after + before, after} {
			if who, err := with(keyring).Authenticate(ctx, text.Reveal()); err != nil || who.Name != "ada" {
				t.Errorf("%q, %v", who.Name, err)
			}
		}
		if _, err := with(before).Authenticate(ctx, text.Reveal()); err == nil {
			t.Error("it was not hashed anew")
		}
	})
}

func TestAPIAccessIsClosedAndOpened(t *testing.T) {
	each(t, func(t *testing.T, with func(string) *operator.Service) {
		ctx := t.Context()
		s := with(secret.Generate())
		if d, err := s.Access(ctx); err != nil || d.Closed {
			t.Errorf("at first: %+v, %v", d, err)
		}
		if err := s.CloseAccess(ctx, root, ""); !fault.Is(err, fault.Invalid) {
			t.Errorf("closed without a reason: %v", err)
		}
		for _, reason := range []string{"restored", "still at it"} {
			if err := s.CloseAccess(ctx, root, reason); err != nil {
				t.Fatal(err)
			}
			if d, err := s.Access(ctx); err != nil || !d.Closed || d.Reason != reason || d.Since.Year() != 2030 {
				t.Errorf("closed: %+v, %v", d, err)
			}
		}
		if err := s.OpenAccess(ctx, root); err != nil {
			t.Fatal(err)
		}
		if d, err := s.Access(ctx); err != nil || d.Closed {
			t.Errorf("opened: %+v, %v", d, err)
		}
		if err := s.OpenAccess(ctx, root); !fault.Is(err, fault.Refused) {
			t.Errorf("opened twice: %v", err)
		}
		lines, _, err := s.Audit(ctx, "", 10, 0)
		if err != nil || len(lines) != 3 || lines[0].Action != "door.open" || lines[2].Details["reason"] != "restored" {
			t.Errorf("the log: %+v, %v", lines, err)
		}
	})
}

// A keyring is refused if the database knows none of its master keys, or knows a different key
// under the same id. After a rotation, the keyring is accepted with or without the line of the old
// master key.
func TestADatabaseKnowsItsKeyrings(t *testing.T) {
	each(t, func(t *testing.T, with func(string) *operator.Service) {
		first, second := "a:"+strings.Split(secret.Generate(), ":")[1], secret.Generate()
		other := "a:" + strings.Split(secret.Generate(), ":")[1]
		for _, c := range []struct{ ring, refusal string }{
			{first, ""},
			{first, ""},
			{second, "written with other master keys"},
			{other, "the key a of the master keyring"},
			{second + other, "the key a of the master keyring"},
			{second + first, ""},
			{second, ""},
			{first, ""},
			{secret.Generate(), "written with other master keys"},
		} {
			err := with(c.ring).Recognise(t.Context())
			if c.refusal == "" && err != nil || c.refusal != "" && (!fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), c.refusal)) {
				t.Errorf("not %q: %v", c.refusal, err)
			}
		}
	})
}

// A form that is sent twice makes one proposal, and gets it as it is by then.
func TestAFormMakesOneProposal(t *testing.T) {
	each(t, func(t *testing.T, with func(string) *operator.Service) {
		ctx, s, form := t.Context(), with(secret.Generate()), id.New()
		ada, bob := operator.Operator{Name: "ada"}, operator.Operator{Name: "bob"}
		propose := func(by operator.Operator, most string) (operator.Proposal, error) {
			return s.Propose(ctx, by, "c1", []operator.Act{{Operation: "setQuota", Body: []byte(`{"most":` + most + `}`), Was: "7"}})
		}
		first, err := propose(ada.Sending(form), "8")
		if err != nil {
			t.Fatal(err)
		}
		if again, err := propose(ada.Sending(form), "8"); err != nil || again.ID != first.ID || again.State != operator.Proposed || len(again.Acts) != 1 {
			t.Errorf("%+v, %v", again, err)
		}
		if err := s.Reject(ctx, bob, first, "no"); err != nil {
			t.Fatal(err)
		}
		if again, err := propose(ada.Sending(form), "8"); err != nil || again.ID != first.ID || again.State != operator.Rejected {
			t.Errorf("after the rejection: %+v, %v", again, err)
		}
		if _, err := propose(ada.Sending(form), "9"); !fault.Is(err, fault.Conflict) {
			t.Errorf("another act: %v", err)
		}
		ids := map[string]bool{first.ID: true}
		for _, by := range []operator.Operator{bob.Sending(form), ada.Sending(id.New()), ada, ada} {
			one, err := propose(by, "8")
			if err != nil || ids[one.ID] {
				t.Errorf("%+v, %v", one, err)
			}
			ids[one.ID] = true
		}
		if _, total, err := s.Proposals(ctx, "", 100, 0); err != nil || total != int64(len(ids)) {
			t.Errorf("%d proposals, %v", total, err)
		}
	})
}
