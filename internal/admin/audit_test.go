package admin_test

import (
	"encoding/csv"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/operator"
)

// acts returns the acts of the lines that a query finds, the newest first.
func (d *door) acts(query string) (out []string) {
	d.t.Helper()
	for _, row := range d.ok(d.ada, "GET", "/admin/v1/audit?"+query, "")["data"].([]any) {
		line := row.(map[string]any)
		out = append(out, line["operator"].(string)+" "+line["action"].(string))
	}
	return out
}

// export returns the rows of the CSV that a query finds.
func (d *door) export(query string) [][]string {
	d.t.Helper()
	return d.file("audit-2030-01-02.csv", "/admin/v1/audit/export?"+query)
}

// file returns the rows of a CSV that has this name.
func (d *door) file(name, path string) [][]string {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), "GET", d.url+path, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.bob)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode != 200 || w.Header.Get("Content-Disposition") != "attachment; filename="+name {
		d.t.Fatal(w.Status, w.Header, err)
	}
	d.describes(r, "", w, text)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		d.t.Fatal(err)
	}
	return rows
}

func TestTheAuditLogIsSearchedAndExported(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		path, _ := d.company()
		reference := path[len("/admin/v1/companies/"):]
		d.clock.Advance(24 * time.Hour)
		d.ok(d.bob, "POST", path+"/kyb", `{"status":"IN_PROGRESS","reason":"=cmd|calc"}`)
		d.no("wrong", "GET", "/admin/v1/companies", "", 401, "Invalid admin key")
		if err := d.operators.FailedLogin(t.Context(), "company.token.failed", reference); err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(-24 * time.Hour)
		for query, want := range map[string][]string{
			"company=" + reference:                         {"caller:unknown company.token.failed", "bob company.kyb", "ada settlement.create", "ada company.create"},
			"operator=bob":                                 {"bob company.kyb"},
			"action=operator.login.failed":                 {"caller:unknown operator.login.failed"},
			"operator=ada&action=company.create":           {"ada company.create"},
			"operator=ada&action=company.kyb":              nil,
			"from=2030-01-03":                              {"caller:unknown company.token.failed", "caller:unknown operator.login.failed", "bob company.kyb"},
			"from=2030-01-03&operator=bob":                 {"bob company.kyb"},
			"to=2030-01-02&company=" + reference:           {"ada settlement.create", "ada company.create"},
			"to=2030-01-02T03:04:05Z&action=company.kyb":   nil,
			"from=2030-01-03T03:04:05Z&action=company.kyb": {"bob company.kyb"},
		} {
			if got := d.acts(query); !slices.Equal(got, want) {
				t.Errorf("%s: %q; want %q", query, got, want)
			}
		}
		d.no(d.ada, "GET", "/admin/v1/audit?from=yesterday", "", 400, `"from" must be in ISO 8601 date format`)
		d.no(d.ada, "GET", "/admin/v1/audit/export?to=soon", "", 400, `"to" must be in ISO 8601 date format`)
		d.no(d.as("sam", operator.Support), "GET", "/admin/v1/audit/export", "", 403, "This needs the role finance, and sam has the role support")
		d.no(d.ada, "GET", "/admin/v1/audit/export?page=1", "", 400, `"page" is not allowed`)

		d.clock.Advance(time.Second)
		rows := d.export("company=" + reference)
		if len(rows) != 3 || strings.Join(rows[0], ",") != "Time (Lagos),Time (UTC),Operator,Company,Action,Subject,Details,Id" {
			t.Fatalf("%q", rows)
		}
		if got := rows[1][:7]; !slices.Equal(got, []string{"2030-01-02 04:04:05", "2030-01-02T03:04:05.000Z", "ada", reference, "company.create", reference, rows[1][6]}) || !strings.Contains(rows[1][6], `"name":"Acme"`) {
			t.Errorf("%q", got)
		}
		if got := d.acts("action=read.exportAudit"); !slices.Equal(got, []string{"bob read.exportAudit"}) {
			t.Errorf("the export is not in the log: %q", got)
		}
	})
}

// A text of the audit log cannot act as a formula of a spreadsheet.
func TestTheExportHoldsNoFormula(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		if err := d.operators.Read(t.Context(), operator.Operator{Name: "+1"}, "=act", "@subject"); err != nil {
			t.Fatal(err)
		}
		d.clock.Advance(time.Second)
		rows := d.export("operator=%2B1")
		if len(rows) != 2 || !slices.Equal(rows[1][2:7], []string{"'+1", "", "'=act", "'@subject", "{}"}) {
			t.Errorf("%q", rows)
		}
	})
}

// An operator's read of a case is in the audit log, once in an hour.
func TestReadsOfPersonalDataAreRecorded(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		for range 3 {
			d.ok(d.ada, "GET", "/admin/v1/cases?company=cacme", "")
		}
		d.ok(d.bob, "GET", "/admin/v1/cases?company=cacme", "")
		d.ok(d.ada, "GET", "/admin/v1/companies", "")
		if got := d.acts("company=cacme"); !slices.Equal(got, []string{"bob read.listCases", "ada read.listCases"}) {
			t.Errorf("%q", got)
		}
	})
}
