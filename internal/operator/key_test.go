package operator_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/secret"
)

// office is a service with its database, its keyring and its clock.
type office struct {
	*operator.Service
	t     *testing.T
	db    *db.DB
	keys  *secret.Keyring
	clock *clock.Manual
}

func eachOffice(t *testing.T, f func(t *testing.T, o *office)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		keys, err := secret.Parse(secret.Generate())
		if err != nil {
			t.Fatal(err)
		}
		clk := clock.At(time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC))
		f(t, &office{operator.New(d, keys, clk), t, d, keys, clk})
	})
}

func (o *office) add(name string, role operator.Role) (key string) {
	o.t.Helper()
	text, digest := operator.NewKey()
	if _, err := o.Add(o.t.Context(), root, name, role, digest); err != nil {
		o.t.Fatal(err)
	}
	return text.Reveal()
}

func (o *office) write(query string, args ...any) {
	o.t.Helper()
	if n, err := o.db.Exec(o.t.Context(), query, args...); err != nil || n == 0 {
		o.t.Fatalf("%s: %d rows, %v", query, n, err)
	}
}

// who returns the name of the operator of a key, or the message of the refusal.
func (o *office) who(key string) string {
	is, err := o.Authenticate(o.t.Context(), key)
	if err != nil {
		return fault.Of(err).Message
	}
	return is.Name
}

func (o *office) key(name string) operator.Key {
	o.t.Helper()
	all, err := o.Keys(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	for _, k := range all {
		if k.Name == name {
			return k
		}
	}
	return operator.Key{}
}

// A key works until it expires. Its last use is stored once an hour.
func TestKeysExpireAndShowTheirLastUse(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		old := o.add("old", operator.Viewer)
		o.KeyLife = 24 * time.Hour
		key, start := o.add("ada", operator.Finance), o.clock.Now()
		if k := o.key("ada"); !k.UsedAt.IsZero() || !k.ExpiresAt.Equal(start.Add(24*time.Hour)) || k.Role != operator.Finance {
			t.Errorf("new: %+v", k)
		}
		for _, step := range []struct {
			wait time.Duration
			used time.Duration
		}{{0, 0}, {59 * time.Minute, 0}, {time.Minute, time.Hour}, {30 * time.Minute, time.Hour}, {2 * time.Hour, 210 * time.Minute}} {
			o.clock.Advance(step.wait)
			if who := o.who(key); who != "ada" || !o.key("ada").UsedAt.Equal(start.Add(step.used)) {
				t.Errorf("%v later: %s, used at %v", step.wait, who, o.key("ada").UsedAt)
			}
		}
		o.clock.Advance(24 * time.Hour)
		if who := o.who(key); who != "Admin key expired" {
			t.Errorf("expired: %s", who)
		}
		if is, err := o.IsOperator(t.Context(), "ada", operator.Viewer, o.clock.Now()); err != nil || is {
			t.Errorf("an operator with an expired key: %v, %v", is, err)
		}
		if _, err := o.Find(t.Context(), "ada"); !fault.Is(err, fault.Missing) {
			t.Errorf("found: %v", err)
		}
		if who := o.who(old); who != "old" {
			t.Errorf("without an end: %s", who)
		}
	})
}

// A copied hash does not make one key two operators, and a changed state does not revive a key.
func TestAKeyIsBoundToItsRow(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		ada, bob := o.add("ada", operator.Viewer), o.add("bob", operator.Admin)
		o.write(`UPDATE operator_key SET hash = (SELECT hash FROM operator_key WHERE name = 'ada') WHERE name = 'bob'`)
		if who := o.who(ada); who != "ada" {
			t.Errorf("ada is %s", who)
		}
		if who := o.who(bob); who != "Invalid admin key" {
			t.Errorf("bob is %s", who)
		}
		o.write(`UPDATE operator_key SET name = 'eve' WHERE name = 'ada'`)
		if who := o.who(ada); who != "Invalid admin key" {
			t.Errorf("a renamed row: %s", who)
		}
		o.write(`UPDATE operator_key SET name = 'ada' WHERE name = 'eve'`)
		if err := o.RevokeKey(t.Context(), root, "ada"); err != nil {
			t.Fatal(err)
		}
		o.write(`UPDATE operator_key SET state = 'ACTIVE' WHERE name = 'ada'`)
		if who := o.who(ada); who != "Invalid admin key" {
			t.Errorf("a revived key: %s", who)
		}
	})
}

// A key from before roles works, and its hash is bound to its row at the first use. Two rows with one
// such hash make the key work for nobody.
func TestAKeyFromBeforeRolesIsBoundAtItsUse(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		o.add("ada", operator.Admin)
		o.add("bob", operator.Admin)
		const key = "kobo_admin_from_before"
		hash := o.keys.MAC("admin-key", key)
		o.write(`UPDATE operator_key SET hash = $1`, hash)
		if who := o.who(key); who != "Invalid admin key" {
			t.Errorf("one key of two people: %s", who)
		}
		o.write(`UPDATE operator_key SET hash = '' WHERE name = 'bob'`)
		if who := o.who(key); who != "ada" {
			t.Errorf("ada is %s", who)
		}
		o.write(`UPDATE operator_key SET hash = $1 WHERE name = 'bob'`, hash)
		if who := o.who(key); who != "ada" {
			t.Errorf("after a copy of the old hash, ada is %s", who)
		}
	})
}

// Whether Kobo has closed API access stays known until API access is open again.
func TestAnOperatorDoesNotHideThatKoboClosedAPIAccess(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		ctx := t.Context()
		automatic := func(want bool) {
			t.Helper()
			if d, err := o.Access(ctx); err != nil || d.Automatic != want {
				t.Errorf("%+v, %v", d, err)
			}
		}
		shut := func() error {
			return o.db.Tx(ctx, func(q db.Querier) error { return o.Shut(ctx, q, "an old copy") })
		}
		closed := func() error { return o.CloseAccess(ctx, root, "a look around") }
		for _, steps := range [][]func() error{{shut, closed}, {closed, shut}, {func() error { return o.CloseRestored(ctx, root, "restored") }}} {
			for _, step := range steps {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			automatic(true)
			if err := o.OpenAccess(ctx, root); err != nil {
				t.Fatal(err)
			}
			if err := closed(); err != nil {
				t.Fatal(err)
			}
			automatic(false)
		}
	})
}

func TestRolesCoverLesserRoles(t *testing.T) {
	roles := operator.Roles()
	for i, r := range roles {
		for j, least := range roles {
			if r.Covers(least) != (i >= j) {
				t.Errorf("%s covers %s: %v", r, least, r.Covers(least))
			}
		}
		if r.Covers("") || r.Covers("root") || operator.Role("").Covers(r) {
			t.Errorf("%s and no role", r)
		}
	}
	eachOffice(t, func(t *testing.T, o *office) {
		o.add("ada", operator.Admin)
		o.add("bob", operator.Finance)
		if n, err := o.Admins(t.Context()); err != nil || n != 1 {
			t.Errorf("%d admins, %v", n, err)
		}
		if _, err := o.SetRole(t.Context(), root, "bob", operator.Admin); err != nil {
			t.Error(err)
		}
		if n, err := o.Admins(t.Context()); err != nil || n != 2 {
			t.Errorf("%d admins, %v", n, err)
		}
		for _, wrong := range []operator.Role{"", "root", "Admin"} {
			_, digest := operator.NewKey()
			if _, err := o.Add(t.Context(), root, "eve", wrong, digest); !fault.Is(err, fault.Invalid) {
				t.Errorf("the role %q: %v", wrong, err)
			}
		}
		if _, err := o.Add(t.Context(), root, "eve", operator.Viewer, strings.Repeat("A", 64)); !fault.Is(err, fault.Invalid) {
			t.Errorf("no digest: %v", err)
		}
	})
}

// Admins who demote each other at the same time leave one of them.
func TestTheLastAdminKeepsTheRole(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		o.add("ada", operator.Admin)
		o.add("bob", operator.Admin)
		var both sync.WaitGroup
		var errs [2]error
		for i, name := range []string{"ada", "bob"} {
			both.Go(func() { _, errs[i] = o.SetRole(t.Context(), root, name, operator.Viewer) })
		}
		both.Wait()
		refused := errs[0]
		if refused == nil {
			refused = errs[1]
		}
		if (errs[0] == nil) == (errs[1] == nil) || fault.Of(refused).Message != "The last admin stays" {
			t.Errorf("both demoted at once: %v, %v", errs[0], errs[1])
		}
		if n, err := o.Admins(t.Context()); err != nil || n != 1 {
			t.Errorf("%d admins, %v", n, err)
		}
	})
}

// Somebody who writes the row of an operator gains nothing. Before the adoption, programs of an earlier schema write rows
// without a right MAC, and their operators go on.
func TestAnAlteredRowIsNoOperator(t *testing.T) {
	eachOffice(t, func(t *testing.T, o *office) {
		ctx := t.Context()
		ada, bob := o.add("ada", operator.Admin), o.add("bob", operator.Viewer)
		bobIs := func(when string, want operator.Role) {
			t.Helper()
			is, err := o.Authenticate(ctx, bob)
			if want == "" && !fault.Is(err, fault.Unauthenticated) || want != "" && (err != nil || is.Role != want) {
				t.Errorf("%s: the key is of %+v, %v", when, is, err)
			}
			if is, err = o.Find(ctx, "bob"); want == "" && !fault.Is(err, fault.Missing) || want != "" && (err != nil || is.Role != want) {
				t.Errorf("%s: found %+v, %v", when, is, err)
			}
			if is, err := o.IsOperator(ctx, "bob", operator.Viewer, o.clock.Now()); err != nil || is != (want != "") {
				t.Errorf("%s: is an operator: %t, %v", when, is, err)
			}
		}
		o.write(`UPDATE operator_key SET role = 'finance', mac = '' WHERE name = 'bob'`)
		bobIs("by an earlier program", operator.Finance)
		if _, err := o.Adopt(ctx, ledger.New(o.db, o.clock), root, "", func(int) {}); err != nil {
			t.Fatal(err)
		}
		bobIs("adopted", operator.Finance)
		o.write(`CREATE TABLE earlier AS SELECT * FROM operator_key`)
		// Citus joins no local table in an UPDATE, so the values are read first.
		latest, failed := db.One(ctx, o.db, db.Value[int64], `SELECT max(created_at) FROM earlier`)
		adas, err := db.One(ctx, o.db, db.Value[string], `SELECT mac FROM earlier WHERE name = 'ada'`)
		if err = errors.Join(failed, err); err != nil {
			t.Fatal(err)
		}
		for _, change := range []string{
			`role = 'admin'`, `role = 'admin', mac = ''`, `role = 'viewer'`, fmt.Sprintf(`expires_at = %d`, latest+1), `mac = '!'`,
			fmt.Sprintf(`role = 'admin', mac = '%s'`, adas),
		} {
			o.write(`UPDATE operator_key SET ` + change + ` WHERE name = 'bob'`)
			bobIs(change, "")
			if n, err := o.Admins(ctx); err != nil || n != 1 || o.who(ada) != "ada" {
				t.Errorf("%s: %d admins, %v, and ada is %s", change, n, err, o.who(ada))
			}
			o.write(`DELETE FROM operator_key WHERE name = 'bob'`)
			o.write(`INSERT INTO operator_key SELECT * FROM earlier WHERE name = 'bob'`)
			bobIs("put back", operator.Finance)
		}
		o.write(`UPDATE operator_key SET role = 'admin' WHERE name = 'bob'`)
		o.write(`DELETE FROM operator_audit WHERE action = 'rights.adopt'`)
		bobIs("without the line of the adoption", "")
		if err := o.CheckInvite(ctx, "bob", operator.Admin); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "remove bob first") {
			t.Errorf("an invitation: %v", err)
		}
		if err := o.RevokeKey(ctx, root, "bob"); err != nil {
			t.Fatal(err)
		}
		bob = o.add("bob", operator.Support)
		bobIs("added again", operator.Support)
	})
}
