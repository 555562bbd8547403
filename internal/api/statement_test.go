package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/company"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// longStatement returns a company whose statement has 20,001 entries. Every entry after the first
// is a credit of one naira.
func longStatement(t *testing.T) (*world, api.Config, *lines) {
	t.Helper()
	w := newWorld(t)
	id, err := strconv.ParseInt(w.given["settlement_id"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	const numbers = `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20001) `
	for _, text := range []string{
		numbers + `INSERT INTO ledger_transfer (company_id, reference, step, debit_account, credit_account, amount_kobo, kind, narration, debit_entry, credit_entry, stamp, created_at)
			SELECT $1, 'r' || i, '', 'a', $2, 100, 'credit', 'A transfer', i, i, 0, CAST($3 AS BIGINT) + i FROM n`,
		numbers + `INSERT INTO ledger_entry (company_id, account_id, sequence, reference, step, amount_kobo, previous_kobo, current_kobo, created_at)
			SELECT $1, $2, i, 'r' || i, '', 100, 99999800 + 100 * i, 99999900 + 100 * i, CAST($3 AS BIGINT) + i FROM n`,
		`UPDATE ledger_account SET entry_sequence = 20001 WHERE company_id = $1 AND id = $2 AND CAST($3 AS BIGINT) > 0`,
	} {
		if _, err := w.db.Exec(t.Context(), text, w.reference, settlement.LedgerAccount(id), w.clock.Now().UnixMicro()); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.MoveTo(time.Hour)
	config, log := w.Config, &lines{}
	config.Authenticate = func(context.Context, string) (company.Identity, error) {
		return company.Identity{Reference: w.reference}, nil
	}
	config.Log = slog.New(slog.NewJSONHandler(log, nil))
	return w, config, log
}

const statementPath = "/api/v1/settlement/statement?settlementId=1&format="

func TestAStatementInJSONAddsUp(t *testing.T) {
	_, config, _ := longStatement(t)
	_, text := send(t, "GET", serve(t, config)+statementPath+"json", "", "Authorization", "Bearer let-me-in")
	var got struct {
		Data struct {
			OpeningBalance, TotalCredits, TotalDebits, ClosingBalance money.Kobo
			TotalItems                                                int
			Data                                                      []struct {
				Amount, Fee       money.Kobo
				Type              string
				Previous, Current money.Kobo
			}
		}
	}
	text = strings.NewReplacer(`"previous_balance"`, `"previous"`, `"current_balance"`, `"current"`).Replace(text)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Data
	running, credits := s.OpeningBalance, money.Kobo(0)
	for i, e := range s.Data {
		if e.Previous != running || e.Type != "credit" {
			t.Fatalf("entry %d begins at %s after %s", i, e.Previous, running)
		}
		running, credits = running+e.Amount, credits+e.Amount
		if e.Current != running {
			t.Fatalf("entry %d ends at %s, not at %s", i, e.Current, running)
		}
	}
	if running != s.ClosingBalance || credits != s.TotalCredits || s.TotalDebits != 0 || len(s.Data) != s.TotalItems || s.TotalItems != 20001 {
		t.Errorf("%d entries come to %s and %s: %+v", len(s.Data), running, credits, s.ClosingBalance)
	}
}

// impatient records a response. After the first bytes, it cancels the request.
type impatient struct {
	*httptest.ResponseRecorder
	gone context.CancelFunc
}

func (i impatient) Write(b []byte) (int, error) {
	n, err := i.ResponseRecorder.Write(b)
	if i.Body.Len() > 2_000 {
		i.gone()
	}
	return n, err
}

// If the caller disconnects, the statement is cut off, and its log line is not an error.
func TestAStatementEndsWhenTheCallerHangsUp(t *testing.T) {
	_, config, log := longStatement(t)
	h, err := api.New(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"json", "csv", "xlsx", "pdf"} {
		ctx, gone := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "GET", statementPath+format, nil)
		r.Header.Set("Authorization", "Bearer let-me-in")
		func() {
			defer func() {
				if p := recover(); p != http.ErrAbortHandler {
					t.Errorf("%s: went on to its end: %v", format, p)
				}
			}()
			h.ServeHTTP(impatient{httptest.NewRecorder(), gone}, r)
		}()
	}
	if n := strings.Count(log.String(), `"route":"/api/v1/settlement/statement"`); n != 4 || strings.Contains(log.String(), "ERROR") {
		t.Errorf("%d lines of the log:\n%s", n, log)
	}
}

func TestAStatementThatDoesNotAddUpIsCutOff(t *testing.T) {
	w, config, log := longStatement(t)
	if _, err := w.db.Exec(t.Context(), `UPDATE ledger_entry SET previous_kobo = previous_kobo + 1, current_kobo = current_kobo + 1 WHERE company_id = $1 AND sequence = 19000`, w.reference); err != nil {
		t.Fatal(err)
	}
	url := serve(t, config)
	for _, format := range []string{"json", "csv", "xlsx", "pdf"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", url+statementPath+format, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer let-me-in")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: a whole answer of a broken book: %v", format, err)
		}
	}
	if n := strings.Count(log.String(), "begins at"); n != 4 {
		t.Errorf("the log has %d of 4 lines about it:\n%s", n, log)
	}
}
