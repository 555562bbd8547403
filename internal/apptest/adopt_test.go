package apptest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/report"
)

// examined verifies a company and the audit lines of no company.
func examined(t *testing.T, p *apptest.Program) (v report.Verification) {
	t.Helper()
	v, err := p.App.Reports.Verify(t.Context(), p.Reference)
	if err != nil {
		t.Fatal(err)
	}
	log, err := p.App.Reports.VerifyLog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.Findings, v.Unsigned = append(v.Findings, log.Findings...), v.Unsigned+log.Unsigned
	return v
}

// The rows of an earlier program get numbers and MACs beside a serving program, also after an
// interruption. Until then verify counts them. Afterwards each row without a MAC is a finding, and
// nobody can get it signed.
func TestOldRowsAreAdoptedOnce(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Filled(t, dialect, apptest.FilledSchemas(t, dialect)[0]).Start(t, apptest.Routes("UTILITY=vtpass"))
		before := examined(t, p)
		if lines := before.Lines(); before.Unsigned == 0 || len(lines) > 0 {
			t.Fatalf("%d rows are unsigned, and verify says %q", before.Unsigned, lines)
		}
		adopt := func(ctx context.Context, company string, signed func(int)) int {
			n, err := p.App.Operators.Adopt(ctx, p.App.Book, tester, company, signed)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			return n
		}
		bundle, sold := p.Bundle(), make(chan bool)
		go func() {
			defer close(sold)
			for _, key := range []string{"one", "two", "three"} {
				p.Bought(p.Buy(p.Order(bundle, "beside the adoption "+key, "10")))
			}
		}()
		ctx, interrupt := context.WithCancel(t.Context())
		n := adopt(ctx, p.Reference, func(int) { interrupt() })
		n += adopt(t.Context(), p.Reference, func(int) {}) + adopt(t.Context(), "", func(int) {})
		<-sold
		after := examined(t, p)
		if lines := after.Lines(); int64(n) != before.Unsigned || after.Unsigned != 0 || len(lines) > 0 {
			t.Errorf("%d of %d rows were signed, %d are unsigned, and verify says %q", n, before.Unsigned, after.Unsigned, lines)
		}
		for _, company := range []string{p.Reference, ""} {
			if n, err := p.App.DB.Exec(t.Context(), `INSERT INTO operator_audit (company_id, id, operator, action, subject, details, created_at)
				VALUES ($1, '00', 'local:eve', 'company.kyb', '', '{}', 1)`, company); err != nil || n != 1 {
				t.Fatal(err)
			}
			if n := adopt(t.Context(), company, func(int) {}); n != 0 {
				t.Errorf("%d rows were signed later", n)
			}
			if said := strings.Join(examined(t, p).Lines(), "\n"); !strings.Contains(said, company+": evidence: operator_audit 00: expected a row with a number and a MAC") {
				t.Errorf("the added line is not found: %s", said)
			}
			if _, err := p.App.DB.Exec(t.Context(), `DELETE FROM operator_audit WHERE company_id = $1 AND id = '00'`, company); err != nil {
				t.Fatal(err)
			}
		}
		for table, company := range map[string]string{"company_api_key": p.Reference, "operator_key": ""} {
			if n, err := p.App.DB.Exec(t.Context(), `UPDATE `+table+` SET mac = '*' || mac`); err != nil || n == 0 {
				t.Fatal(n, err)
			}
			if n := adopt(t.Context(), company, func(int) {}); n != 0 {
				t.Errorf("%d rights were signed later", n)
			}
			if said := strings.Join(examined(t, p).Lines(), "\n"); !strings.Contains(said, company+": rights: "+table) {
				t.Errorf("the right with another MAC is not found: %s", said)
			}
			if _, err := p.App.DB.Exec(t.Context(), `UPDATE `+table+` SET mac = substr(mac, 2)`); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := p.App.DB.Exec(t.Context(), `DELETE FROM operator_audit WHERE company_id = '' AND leaf = 1`); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if said := strings.Join(examined(t, p).Lines(), "\n"); !strings.Contains(said, ": evidence: number 1 to 1: "+missing) {
			t.Errorf("the deleted line is not found: %s", said)
		}
	})
}
