package safehaven

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
)

// The charge of a transfer is the sum of three fields. An unreadable field counts as zero.
func TestWhatATransferCosts(t *testing.T) {
	s := serve(t)
	p := s.plug(t, s.config(), clock.System{})
	for fields, want := range map[string]money.Kobo{
		``:                                       0,
		`"fees":10,"vat":0.75,"stampDuty":0,`:    1075,
		`"fees":"10","vat":"0.75",`:              1075,
		`"fees":10,"vat":null,"stampDuty":50,`:   6000,
		`"fees":-10,"vat":0.7512,"stampDuty":5,`: 500,
	} {
		s.says(200, fmt.Appendf(nil, `{"statusCode":200,"responseCode":"00","data":{%s"status":"Completed","responseCode":"00"}}`, fields))
		if a := p.RequeryTransfer(t.Context(), "ours"); a.Charge != want {
			t.Errorf("%s: %s, not %s", fields, a.Charge, want)
		}
	}
}

// Statement returns an error if the page cannot be fetched, or if one of its lines is unreadable.
func TestStatementPages(t *testing.T) {
	from := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	line := func(id, kind, amount, balance, at string) string {
		return fmt.Sprintf(`{"_id":%q,"type":%q,"amount":%s,"runningBalance":%s,"transactionDate":%q}`, id, kind, amount, balance, at)
	}
	const noon, midnight = "2030-01-02T12:00:00.000Z", "2030-01-02T00:00:00.000Z"
	good := line("1", "Debit", "10", "90", noon)
	for name, c := range map[string]struct {
		page       string // the statement lines as JSON
		pagination string
		lines      int
		more       bool
		fails      bool
	}{
		"empty":                         {"", "", 0, false, false},
		"a short page that says no end": {good, "", 1, true, false},
		"the last of one":               {good, `,"pagination":{"pages":1}`, 1, false, false},
		"the first of two":              {good, `,"pagination":{"pages":"2"}`, 1, true, false},
		"a balance below zero":          {line("1", "Debit", "10", "-3.5", noon), "", 1, true, false},
		"a balance that is none":        {line("1", "Debit", "10", "null", noon), "", 1, true, false},
		"no amount":                     {line("1", "Debit", "0", "1", noon), "", 0, true, false},
		"the first instant":             {line("1", "Credit", "10", "1", midnight), "", 1, true, false},
		"a day before, to spare":        {line("1", "Credit", "10", "1", "2030-01-01T23:59:59.999Z"), "", 0, true, false},
		"the end does not belong to it": {line("1", "Credit", "10", "1", "2030-01-03T00:00:00.000Z"), "", 0, true, false},
		"half a kobo":                   {line("1", "Debit", "10.005", "1", noon), "", 0, false, true},
		"an unknown direction":          {line("1", "Sideways", "10", "1", noon), "", 0, false, true},
		"a negative amount":             {line("1", "Debit", "-10", "1", noon), "", 0, false, true},
		"no time":                       {good + "," + line("1", "Debit", "10", "1", "yesterday"), "", 0, false, true},
	} {
		s := serve(t)
		s.answer = func(w http.ResponseWriter, r *http.Request) {
			body := `{"statusCode":200,"data":[` + c.page + `]` + c.pagination + `}`
			if !strings.Contains(r.URL.Path, "statement") {
				body = fmt.Sprintf(`{"statusCode":200,"data":[{"_id":"9","accountNumber":%q}],"pagination":{"pages":1}}`, s.config().DebitAccount)
			}
			_, _ = io.WriteString(w, body)
		}
		p := s.plug(t, s.config(), clock.System{})
		lines, more, err := p.Statement(t.Context(), from, from.Add(24*time.Hour), 0)
		if len(lines) != c.lines || more != c.more || (err != nil) != c.fails {
			t.Errorf("%s: %d lines, more %v, %v", name, len(lines), more, err)
		}
	}
}
