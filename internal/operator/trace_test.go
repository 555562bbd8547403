package operator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/ledger"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/peer"
)

// from returns the context of a request from an address.
func (o *office) from(address string) context.Context { return peer.With(o.t.Context(), address) }

func (o *office) fail(address, subject string) {
	o.t.Helper()
	if err := o.FailedLogin(o.from(address), "login.failed", subject); err != nil {
		o.t.Fatal(err)
	}
}

// lines returns the lines that pass a filter as texts, the oldest first.
func (o *office) lines(f operator.AuditFilter) (out []string) {
	o.t.Helper()
	err := o.EachLine(o.t.Context(), f, func(l operator.Line) error {
		out = append(out, strings.TrimSpace(fmt.Sprint(l.Operator, " ", l.Action, " ", l.Company, "/", l.Subject, " ", l.Details["clientAddress"], " ", l.Details["failuresThisHour"])))
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return out
}

func (o *office) has(f operator.AuditFilter, want ...string) {
	o.t.Helper()
	if got := o.lines(f); !slices.Equal(got, want) {
		o.t.Errorf("the lines:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The first, the tenth and the hundredth of equal failed logins in an hour are written.
func TestFailedLoginsAreSampled(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		for range 150 {
			d.fail("192.0.2.1", "acme")
		}
		d.fail("192.0.2.1", "other")
		d.fail("2001:db8::1", "acme")
		d.fail("2001:db8::2", "acme") // the network is the same
		d.clock.Advance(time.Hour)
		d.fail("192.0.2.1", "acme")
		d.has(
			operator.AuditFilter{},
			"caller:unknown login.failed /acme 192.0.2.1 1", "caller:unknown login.failed /acme 192.0.2.1 10", "caller:unknown login.failed /acme 192.0.2.1 100",
			"caller:unknown login.failed /other 192.0.2.1 1", "caller:unknown login.failed /acme 2001:db8::1 1", "caller:unknown login.failed /acme 192.0.2.1 1",
		)
		d.has(operator.AuditFilter{Company: "other"}, "caller:unknown login.failed /other 192.0.2.1 1")
	})
}

// An attacker with 5,000 addresses writes no more than the bound of an hour. The operator still sees
// that there are more.
func TestFailedLoginsAreBounded(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		for i := range 5000 {
			d.fail(fmt.Sprintf("10.0.%d.%d", i/250, i%250), "")
		}
		lines := d.lines(operator.AuditFilter{})
		if len(lines) != 1000+4 || !strings.HasSuffix(lines[len(lines)-1], "several 1000") {
			t.Errorf("%d lines, the last is %s", len(lines), lines[len(lines)-1])
		}
	})
}

// Failed logins write no row of a company. So they never wait for a company's lock.
func TestAFailedLoginWaitsForNoCompany(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		book := ledger.New(d.db, d.clock)
		t.Cleanup(book.Drain)
		u := ledger.Found("acme")
		if err := book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if d.db.Dialect() == db.SQLite {
			return // SQLite has one lock for all writes
		}
		err := d.db.Tx(t.Context(), func(q db.Querier) error {
			if _, err := q.Exec(t.Context(), `UPDATE ledger_head SET event_sequence = event_sequence WHERE company_id = 'acme'`); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(d.from("192.0.2.1"), 5*time.Second)
			defer cancel()
			return d.FailedLogin(ctx, "login.failed", "acme")
		})
		if err != nil {
			t.Fatal(err)
		}
		d.has(operator.AuditFilter{Company: "acme"}, "caller:unknown login.failed /acme 192.0.2.1 1")
	})
}

// Each operator's read of an object is one line of an hour. No read is left out when there are many.
func TestReadsAreRecorded(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		ada := operator.Operator{Name: "ada"}.From(d.from("192.0.2.1"))
		read := func(by operator.Operator, subject string) {
			t.Helper()
			if err := d.Read(t.Context(), by, "read.findCase", subject); err != nil {
				t.Fatal(err)
			}
		}
		read(ada, "1")
		read(ada, "1")
		read(ada, "2")
		read(operator.Operator{Name: "bob"}, "1")
		d.clock.Advance(time.Hour)
		read(ada, "1")
		d.has(
			operator.AuditFilter{},
			"ada read.findCase /1 192.0.2.1", "ada read.findCase /2 192.0.2.1", "bob read.findCase /1", "ada read.findCase /1 192.0.2.1",
		)
		for i := range 1500 {
			read(ada, fmt.Sprint("many-", i))
		}
		if n := len(d.lines(operator.AuditFilter{Operator: "ada"})); n != 3+1500 {
			t.Errorf("%d lines", n)
		}
	})
}

// The filters of the audit log can be combined. A page and the walk choose the same lines.
func TestTheAuditLogIsFiltered(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		book := ledger.New(d.db, d.clock)
		t.Cleanup(book.Drain)
		start := d.clock.Now()
		for i, company := range []string{"acme", "bolt"} {
			u := ledger.Found(company)
			for j, name := range []string{"ada", "bob"} {
				operator.Operator{Name: name}.Audit(&u, fmt.Sprint("act.", (i+j)%2), "thing", nil, start.Add(time.Duration(2*i+j)*time.Hour))
			}
			if err := book.Commit(t.Context(), u); err != nil {
				t.Fatal(err)
			}
		}
		d.fail("192.0.2.1", "acme")
		aa, ba, ab, bb := "ada act.0 acme/thing", "bob act.1 acme/thing", "ada act.1 bolt/thing", "bob act.0 bolt/thing"
		failed := "caller:unknown login.failed /acme 192.0.2.1 1"
		type filter = operator.AuditFilter
		for _, c := range []struct {
			filter filter
			want   []string
		}{
			{filter{}, []string{aa, failed, ba, ab, bb}},
			{filter{Company: "acme"}, []string{aa, failed, ba}},
			{filter{Operator: "bob"}, []string{ba, bb}},
			{filter{Action: "act.1"}, []string{ba, ab}},
			{filter{Action: "act.1", Operator: "ada"}, []string{ab}},
			{filter{Company: "bolt", Operator: "bob", Action: "act.0"}, []string{bb}},
			{filter{Company: "bolt", Action: "act.9"}, nil},
			{filter{From: start.Add(time.Hour)}, []string{ba, ab, bb}},
			{filter{From: start.Add(time.Hour), To: start.Add(3 * time.Hour)}, []string{ba, ab}},
			{filter{Operator: "ada", To: start.Add(2 * time.Hour)}, []string{aa}},
			{filter{Company: "acme", From: start.Add(time.Microsecond)}, []string{ba}},
			{filter{Action: "act.0", From: start.Add(time.Microsecond)}, []string{bb}},
		} {
			got := d.lines(c.filter)
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("%+v: %q; want %q", c.filter, got, c.want)
			}
			page, total, err := d.SearchAudit(t.Context(), c.filter, 2, 1)
			if err != nil || total != int64(len(c.want)) || len(page) != max(0, min(2, len(c.want)-1)) {
				t.Errorf("%+v: a page of %d of %d, %v", c.filter, len(page), total, err)
			}
			d.pagesLikeTheWalk(c.filter, 2)
		}
	})
}

// A walk reads more lines than one page, each once and in order.
func TestAWalkReadsEachLineOnce(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		book := ledger.New(d.db, d.clock)
		t.Cleanup(book.Drain)
		u := ledger.Found("acme")
		for i := range 1200 {
			operator.Operator{Name: "ada"}.Audit(&u, "act", fmt.Sprint(i), nil, d.clock.Now().Add(time.Duration(i/7)*time.Second))
		}
		if err := book.Commit(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		next := 0
		err := d.EachLine(t.Context(), operator.AuditFilter{Action: "act"}, func(l operator.Line) error {
			if l.Subject != fmt.Sprint(next) {
				return fmt.Errorf("line %d is %s", next, l.Subject)
			}
			next++
			return nil
		})
		if err != nil || next != 1200 {
			t.Errorf("%d lines, %v", next, err)
		}
	})
}

// An operator who calls what the role does not allow writes the first, the tenth and the hundredth line of
// an hour for each operation. Failed logins do not use up the number of these lines.
func TestRefusalsByRoleAreSampled(t *testing.T) {
	eachOffice(t, func(t *testing.T, d *office) {
		for i := range 1100 {
			d.fail(fmt.Sprintf("10.0.%d.%d", i/250, i%250), "")
		}
		ctx := d.from("192.0.2.1")
		vic := operator.Operator{Name: "vic", Role: operator.Viewer}.From(ctx)
		refuse := func(n int, operation string) {
			t.Helper()
			for range n {
				if err := d.Forbidden(ctx, vic, operation); err != nil {
					t.Fatal(err)
				}
			}
		}
		refuse(120, "issueKey")
		refuse(1, "setLive")
		d.has(operator.AuditFilter{Operator: "vic"}, "vic operator.forbidden /issueKey 192.0.2.1", "vic operator.forbidden /issueKey 192.0.2.1",
			"vic operator.forbidden /issueKey 192.0.2.1", "vic operator.forbidden /setLive 192.0.2.1")
		for i := range 3000 {
			refuse(1, fmt.Sprint("operation-", i))
		}
		if n := len(d.lines(operator.AuditFilter{Operator: "vic"})); n != 4+998+4 {
			t.Errorf("%d lines", n)
		}
	})
}
