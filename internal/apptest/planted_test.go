package apptest_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
	"github.com/kobo-waas/kobo/internal/settlement"
)

// alteration is a change that someone with access to the database could make. Each SQL statement
// takes the company as its only parameter and must change at least one row. The output of `kobo
// verify` must have a line with the text found.
type alteration struct {
	name, found string
	statements  []string
}

// These SQL expressions choose the operation that the alterations change. The chosen purchase has
// an Idempotency-Key without special characters. Verify does not compare keys that JSON escapes.
const (
	sent     = `(SELECT min(id) FROM operation WHERE company_id = $1 AND kind = 'payout' AND state = 'SUCCESS' AND fee_kobo > 0)`
	failed   = `(SELECT min(id) FROM operation WHERE company_id = $1 AND kind = 'payout' AND state = 'FAILED')`
	returned = `(SELECT min(id) FROM operation WHERE company_id = $1 AND kind = 'payout' AND state = 'REVERSED')`
	bought   = `(SELECT min(id) FROM operation WHERE company_id = $1 AND kind = 'vtu' AND state = 'SUCCESS' AND strpos(idempotency_key, '<') = 0)`
	open     = `(SELECT max(id) FROM operation WHERE company_id = $1 AND kind = 'payout' AND state = 'PENDING')`
	waiting  = `(SELECT min(id) FROM operation WHERE company_id = $1 AND kind = 'payout' AND state = 'PENDING')`
	credited = `(SELECT min(id) FROM settlement_credit WHERE company_id = $1)`
	wallet   = `(SELECT min(id) FROM ledger_account WHERE company_id = $1 AND substr(id, 1, 11) = 'settlement/' AND entry_sequence > 0)`
	told     = `(SELECT min(sequence) FROM event WHERE company_id = $1 AND kind = 'payout.success')`
)

var alterations = []alteration{
	// These alterations change the ledger.
	{"account balance", "holds", []string{`UPDATE ledger_account SET balance_kobo = balance_kobo + 100 WHERE company_id = $1 AND id = ` + wallet}},
	{"account balance with its last entry", "does not have exactly its debit and its credit", []string{
		`UPDATE ledger_account SET balance_kobo = balance_kobo + 100 WHERE company_id = $1 AND id = ` + wallet,
		`UPDATE ledger_entry SET amount_kobo = amount_kobo + 100, current_kobo = current_kobo + 100 WHERE company_id = $1 AND account_id = ` + wallet + `
			AND sequence = (SELECT max(sequence) FROM ledger_entry WHERE company_id = $1 AND account_id = ` + wallet + `)`,
	}},
	{"entry amount", "begins at", []string{`UPDATE ledger_entry SET amount_kobo = amount_kobo + 5, current_kobo = current_kobo + 5 WHERE company_id = $1 AND account_id = ` + wallet + ` AND sequence = 3`}},
	{"entry deleted in the middle", "transfers have", []string{`DELETE FROM ledger_entry WHERE company_id = $1 AND account_id = ` + wallet + ` AND sequence = 3`}},
	{"last entry deleted", "transfers have", []string{`DELETE FROM ledger_entry WHERE company_id = $1 AND account_id = ` + wallet + `
		AND sequence = (SELECT max(sequence) FROM ledger_entry WHERE company_id = $1 AND account_id = ` + wallet + `)`}},
	{"entry doubled", "does not have exactly its debit and its credit", []string{`INSERT INTO ledger_entry
		SELECT company_id, account_id, sequence + 100000, reference, step, amount_kobo, previous_kobo, current_kobo, created_at
		FROM ledger_entry WHERE company_id = $1 AND account_id = ` + wallet + ` AND sequence = 3`}},
	{"transfer amount", "does not have exactly its debit and its credit", []string{`UPDATE ledger_transfer SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND reference = ` + sent + ` AND step = ''`}},
	{"transfer reference", "does not have exactly its debit and its credit", []string{`UPDATE ledger_transfer SET reference = 'another' WHERE company_id = $1 AND reference = ` + sent + ` AND step = ''`}},
	{"transfer reference with its entries", "operation money", []string{
		`UPDATE ledger_entry SET reference = 'another' WHERE company_id = $1 AND reference = ` + sent + ` AND step = ''`,
		`UPDATE ledger_transfer SET reference = 'another' WHERE company_id = $1 AND reference = ` + sent + ` AND step = ''`,
	}},
	{"transfer labelled as another kind", "operation money", []string{`UPDATE ledger_transfer SET kind = 'adjustment' WHERE company_id = $1 AND reference = ` + sent + ` AND step = 'settle'`}},
	{"transfer labelled as another step", "does not have exactly its debit and its credit", []string{`UPDATE ledger_transfer SET step = 'refund' WHERE company_id = $1 AND reference = ` + sent + ` AND step = 'settle'`}},
	{"transfer deleted with its entries, all put right", "operation money", forgetting},
	{"money forged from a provider to the wallet, all put right", "transfer owner", forging},
	{"floor lowered", "account floor", []string{`UPDATE ledger_account SET floor_kobo = -1000000 WHERE company_id = $1 AND id = ` + wallet}},
	{"account row deleted", "settlement account", []string{`DELETE FROM ledger_account WHERE company_id = $1 AND id = ` + wallet}},
	{"head row deleted", "has no company lock row", []string{`DELETE FROM ledger_head WHERE company_id = $1`}},
	{"head sequence up", "where the company lock row says", []string{`UPDATE ledger_head SET event_sequence = event_sequence + 1 WHERE company_id = $1`}},
	{"head sequence down", "where the company lock row says", []string{`UPDATE ledger_head SET event_sequence = event_sequence - 1 WHERE company_id = $1`}},

	// These alterations change events.
	{"event deleted in the middle", "event count", []string{`DELETE FROM event WHERE company_id = $1 AND sequence = ` + told}},
	{"last event deleted", "where the company lock row says", []string{`DELETE FROM event WHERE company_id = $1 AND sequence = (SELECT max(sequence) FROM event WHERE company_id = $1)`}},
	{"last event deleted, and the head put right", "event count", []string{
		`DELETE FROM event WHERE company_id = $1 AND sequence = (SELECT max(sequence) FROM event WHERE company_id = $1)`,
		`UPDATE ledger_head SET event_sequence = event_sequence - 1 WHERE company_id = $1`,
	}},
	{"event renumbered", "where the company lock row says", []string{`UPDATE event SET sequence = sequence + 100000 WHERE company_id = $1 AND sequence = ` + told}},
	{"two events of one operation swapped", "operation event", swapping(told, `(SELECT min(e.sequence) FROM event AS e WHERE e.company_id = $1 AND e.kind = 'payout.pending'
		AND substr(e.data, 2, 36) = (SELECT substr(f.data, 2, 36) FROM event AS f WHERE f.company_id = $1 AND f.sequence = `+told+`))`)},
	{"two events of two operations swapped", "operation event", swapping(told, `(SELECT max(sequence) FROM event WHERE company_id = $1 AND kind = 'payout.success')`)},
	{"two credits' events swapped", "credit event", swapping(`(SELECT min(sequence) FROM event WHERE company_id = $1 AND kind = 'settlement.credit')`,
		`(SELECT max(sequence) FROM event WHERE company_id = $1 AND kind = 'settlement.credit')`)},
	{"event amount", "operation event", []string{"UPDATE event SET data = replace(data, '\x17', '\x171') WHERE company_id = $1 AND sequence = " + told}}, // \x17 is the name of the amount (event.Pack)
	{"event stored as another text", "operation event", []string{`UPDATE event SET data = '{"reference":"' || substr(data, 2, 36) || '"}' WHERE company_id = $1 AND sequence = ` + told}},
	{"event amount of a credit", "credit event", []string{`UPDATE event SET data = replace(data, '"amount":', '"amount":1') WHERE company_id = $1 AND kind = 'settlement.credit'`}},
	{"event amount of a collection", "collection event", []string{`UPDATE event SET data = replace(data, '"paidAmount":', '"paidAmount":1') WHERE company_id = $1 AND kind = 'virtual_account.success'`}},
	{"event amount of a deposit", "crypto event", []string{`UPDATE event SET data = replace(data, '"amountUnits":"', '"amountUnits":"1') WHERE company_id = $1 AND kind = 'crypto.deposit_completed'`}},
	{"event reference", "operation event", []string{`UPDATE event SET data = '10' || substr(data, 2) WHERE company_id = $1 AND sequence = ` + told}},
	{"event kind", "operation event", []string{`UPDATE event SET kind = 'payout.failed' WHERE company_id = $1 AND sequence = ` + told}},
	{"event kind to another noun", "event count", []string{`UPDATE event SET kind = 'webhook.endpoint_failing' WHERE company_id = $1 AND sequence = ` + told}},

	// These alterations change operations.
	{"PENDING to SUCCESS", "operation money", flip(open, "SUCCESS")},
	{"PENDING to FAILED", "operation money", flip(open, "FAILED")},
	{"SUCCESS to FAILED", "operation money", flip(sent, "FAILED")},
	{"SUCCESS to REVERSED", "operation money", flip(sent, "REVERSED")},
	{"SUCCESS to PENDING", "pending operation", flip(sent, "PENDING")},
	{"FAILED to SUCCESS", "operation money", flip(failed, "SUCCESS")},
	{"FAILED to PENDING", "pending operation", flip(failed, "PENDING")},
	{"REVERSED to SUCCESS", "operation money", flip(returned, "SUCCESS")},
	{"operation amount", "operation money", []string{`UPDATE operation SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND id = ` + sent}},
	{"operation amount against its fee", "operation money", []string{`UPDATE operation SET amount_kobo = amount_kobo + 1, fee_kobo = fee_kobo - 1 WHERE company_id = $1 AND id = ` + sent}},
	{"operation key", "operation event", []string{`UPDATE operation SET idempotency_key = 'another' WHERE company_id = $1 AND id = ` + bought}},
	{"payout's key", "operation event", []string{`UPDATE operation SET idempotency_key = 'another' WHERE company_id = $1 AND id = ` + sent}},
	{"operation settlement account", "operation money", []string{`UPDATE operation SET settlement_id = settlement_id + 1 WHERE company_id = $1 AND id = ` + sent}},
	{"operation provider", "operation money", []string{`UPDATE operation SET provider = 'another' WHERE company_id = $1 AND id = ` + bought}},
	{"operation deleted", "transfer owner", []string{`DELETE FROM operation WHERE company_id = $1 AND id = ` + bought}},
	{"two PENDING swapped", "operation money", []string{
		`UPDATE operation SET amount_kobo = amount_kobo + CASE WHEN id = ` + open + ` THEN -100 ELSE 100 END WHERE company_id = $1 AND id IN (` + open + `, ` + waiting + `)`,
	}},
	{"payout's detail deleted", "operation detail", []string{`DELETE FROM payout WHERE company_id = $1 AND id = ` + sent}},
	{"verification's account", "operation event", []string{`UPDATE payout_verification SET account_number = '0000000000' WHERE company_id = $1 AND id = ` + sent}},
	{"purchase's phone number", "operation event", []string{`UPDATE vtu_purchase SET phone_number = '08000000000' WHERE company_id = $1 AND id = ` + bought}},
	{"meter's verification", "bill verification", []string{`UPDATE vtu_verification SET entity_number = '1' WHERE company_id = $1 AND state = 'USED' AND kind = 'UTILITY'`}},

	// These alterations change credits and adjustments.
	{"credit doubled", "is not in the ledger as it was received", []string{`INSERT INTO settlement_credit
		SELECT company_id, 'doubled', session_id || '2', provider, account_number, settlement_id, amount_kobo, sender_name, sender_account, sender_bank,
			narration, reference, told_at, created_at FROM settlement_credit WHERE company_id = $1 AND id = ` + credited}},
	{"credit amount", "is not in the ledger as it was received", []string{`UPDATE settlement_credit SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND id = ` + credited}},
	{"credit session", "credit session", []string{`UPDATE settlement_credit SET session_id = 'another' WHERE company_id = $1 AND id = ` + credited}},
	{"credit deleted", "transfer owner", []string{`DELETE FROM settlement_credit WHERE company_id = $1 AND id = ` + credited}},
	{"adjustment amount", "transfer owner", []string{`UPDATE settlement_adjustment SET amount_kobo = amount_kobo + 1 WHERE company_id = $1 AND state = 'APPROVED'`}},
	{"adjustment deleted", "transfer owner", []string{`DELETE FROM settlement_adjustment WHERE company_id = $1 AND state = 'APPROVED'`}},
	{"adjustment approved by hand", "adjustment money", []string{`UPDATE settlement_adjustment SET state = 'APPROVED', decided_by = 'local:eve' WHERE company_id = $1 AND state = 'PENDING'`}},

	// These alterations change cases, jobs, the audit log, stored responses and counters.
	{"open case of a pending operation deleted", "pending operation", []string{`DELETE FROM operation_case WHERE company_id = $1 AND state = 'OPEN' AND reason = 'UNRESOLVED'`}},
	{"case in suspense deleted", "suspense case", []string{`DELETE FROM operation_case WHERE company_id = 'house' AND $1 <> '' AND state = 'OPEN' AND reason = 'UNKNOWN_ACCOUNT'`}},
	{"resolved case deleted", "case audit", []string{`DELETE FROM operation_case WHERE company_id = $1 AND state = 'RESOLVED'`}},
	{"case opened again", "case audit", []string{`UPDATE operation_case SET state = 'OPEN', resolved_by = '' WHERE company_id = $1 AND state = 'RESOLVED'`}},
	{"open case of a contradiction deleted", noSuchSum, []string{`DELETE FROM operation_case WHERE company_id = $1 AND state = 'OPEN' AND reason = 'CONTRADICTION'`}},
	{"one job deleted", "pending operation", []string{`DELETE FROM job WHERE company_id = $1 AND kind = 'operation.resolve' AND subject = ` + open}},
	{"all jobs deleted", "pending operation", []string{`DELETE FROM job WHERE company_id = $1`}},
	{"a collection's job deleted", "pending collection", []string{`DELETE FROM job WHERE company_id = $1 AND kind = 'collection.expire'`}},
	{"audit lines deleted", "audit", []string{`DELETE FROM operator_audit WHERE company_id = $1`}},
	{"audit line of an approval deleted", "adjustment audit", []string{`DELETE FROM operator_audit WHERE company_id = $1 AND action = 'adjustment.approve'`}},
	{"audit line of a decision deleted", "case audit", []string{`DELETE FROM operator_audit WHERE company_id = $1 AND action = 'case.resolve'`}},
	{"audit line of an opening deleted", "transfer owner", []string{`DELETE FROM operator_audit WHERE company_id = $1 AND action = 'settlement.fund'`}},
	{"audit line of an alert deleted", missing, []string{`DELETE FROM operator_audit WHERE company_id = $1 AND action = 'settlement.alert'`}},
	{"kept answer", "kept answer", []string{`UPDATE idempotency_key SET body = replace(body, '"amount":', '"amount":1') WHERE company_id = $1 AND value = 'unknown'`}},
	{"kept answer of a success made a failure", "kept answer", []string{`UPDATE idempotency_key SET status = 400, body = '{"error":"no"}' WHERE company_id = $1 AND value = 'unknown'`}},
	{"kept refusal", "rights: idempotency_key refused", []string{`UPDATE idempotency_key SET body = '{"error":"no"}' WHERE company_id = $1 AND value = 'refused'`}},
	{"kept answer deleted", noSuchSum, []string{`DELETE FROM idempotency_key WHERE company_id = $1 AND value = 'unknown'`}},
	{"limit counters zeroed", "limit counter", []string{`UPDATE ledger_counter SET value = 0 WHERE company_id = $1 AND substr(name, 1, 7) = 'payout/'`}},
	{"limit counters deleted", "limit counter", []string{`DELETE FROM ledger_counter WHERE company_id = $1 AND substr(name, 1, 7) = 'payout/'`}},
	{"guard of a card zeroed", "counter", []string{`UPDATE ledger_counter SET value = 0 WHERE company_id = $1 AND substr(name, 1, 5) = 'card/' AND value > 0`}},
}

// flip returns an SQL statement that changes the state of an operation.
func flip(operation, state string) []string {
	return []string{`UPDATE operation SET state = '` + state + `' WHERE company_id = $1 AND id = ` + operation}
}

// swapping returns SQL statements that exchange the sequence numbers of two events.
func swapping(one, other string) []string {
	const away = ` + 1000000`
	return []string{
		`UPDATE event SET sequence = sequence` + away + ` WHERE company_id = $1 AND sequence IN (` + one + `, ` + other + `)`,
		`UPDATE event SET sequence = (SELECT min(e.sequence) + max(e.sequence) FROM event AS e WHERE e.company_id = $1 AND e.sequence > 1000000) - sequence` + away + `
			WHERE company_id = $1 AND sequence > 1000000 AND sequence < 2000000`,
		`UPDATE event SET sequence = sequence - 2000000 WHERE company_id = $1 AND sequence > 2000000`,
	}
}

// forgetting removes the last transfer that holds the money of an operation. It also removes the
// transfer's entries, and adjusts the balances of both accounts.
var forgetting = []string{
	`DELETE FROM ledger_entry WHERE company_id = $1 AND reference = ` + open,
	`UPDATE ledger_account SET entry_sequence = entry_sequence - 1, balance_kobo = (SELECT e.current_kobo FROM ledger_entry AS e
			WHERE e.company_id = $1 AND e.account_id = ledger_account.id AND e.sequence = ledger_account.entry_sequence - 1)
		WHERE company_id = $1 AND id IN (` + wallet + `, 'clearing/payout')`,
	`DELETE FROM ledger_transfer WHERE company_id = $1 AND reference = ` + open,
}

// forging adds a transfer that creates money from nothing, with all rows that a real transfer has.
var forging = []string{
	`INSERT INTO ledger_transfer SELECT $1, 'forged', '', 'provider/safehaven', w.id, 5000, 'credit', '', p.entry_sequence + 1, w.entry_sequence + 1, 0, p.created_at, 0, ''
		FROM ledger_account AS w, ledger_account AS p WHERE w.company_id = $1 AND p.company_id = $1 AND p.id = 'provider/safehaven' AND w.id = ` + wallet,
	`INSERT INTO ledger_entry SELECT company_id, id, entry_sequence + 1, 'forged', '', CASE id WHEN 'provider/safehaven' THEN -5000 ELSE 5000 END,
			balance_kobo, balance_kobo + CASE id WHEN 'provider/safehaven' THEN -5000 ELSE 5000 END, created_at
		FROM ledger_account WHERE company_id = $1 AND id IN ('provider/safehaven', ` + wallet + `)`,
	`UPDATE ledger_account SET entry_sequence = entry_sequence + 1, balance_kobo = balance_kobo + CASE id WHEN 'provider/safehaven' THEN -5000 ELSE 5000 END
		WHERE company_id = $1 AND id IN ('provider/safehaven', ` + wallet + `)`,
}

var errUndo = errors.New("undo")

// Verify finds each alteration of the lists, and finds nothing in an unaltered database.
func TestVerifyFindsWhatWasAltered(t *testing.T) {
	each(t, func(t *testing.T, dialect db.Dialect) {
		p := apptest.Start(t, dialect, apptest.Window(2*time.Second), apptest.Routes("UTILITY=vtpass"))
		fillBook(t, p)
		fillRights(t, p)
		p.Stop()
		d := dbtest.Open(t, p.Home.Database)
		d.SignWith(signer(t, p.Home))
		if lines, _ := compared(t, d, d.Signer(), p.Reference); len(lines) > 0 {
			t.Fatalf("before: %q", lines)
		}
		planted, added, all := 0, 0, slices.Concat(alterations, tampers, rightsTampers)
		for _, a := range all {
			lines, sums, err := a.plant(t, d, p.Reference)
			if err != nil && d.IsDivided() { // it has no temporary tables, and moves no row to another company
				t.Logf("NOT RUN on Citus: %s: %v", a.name, err)
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", a.name, err)
				continue
			}
			planted++
			if sums {
				added++
			}
			if !strings.Contains(strings.Join(lines, "\n"), a.found) {
				t.Errorf("%s: want %q in %q", a.name, a.found, lines)
			}
		}
		if planted < len(all)*9/10 {
			t.Errorf("only %d of %d alterations were planted", planted, len(all))
		}
		t.Logf("%d of %d alterations planted, %d of them found by re-adding", planted, len(all), added)
	})
}

// plant makes an alteration, runs verify, and rolls the alteration back. It returns verify's lines,
// and reports whether adding up the ledger reveals the alteration. An error means that the alteration could not be made.
func (a alteration) plant(t *testing.T, d *db.DB, company string) (lines []string, sums bool, err error) {
	t.Helper()
	err = d.Tx(t.Context(), func(q db.Querier) error {
		for _, statement := range a.statements {
			if n, err := q.Exec(t.Context(), statement, company); err != nil || n == 0 {
				return fmt.Errorf("%d rows, %w", n, err)
			}
		}
		lines, sums = compared(t, q, d.Signer(), company)
		return errUndo
	})
	if errors.Is(err, errUndo) {
		err = nil
	}
	return lines, sums, err
}

// compared returns the lines of verify for a company, for the company `house` and for no company.
func compared(t *testing.T, q db.Querier, signer db.Signer, company string) (lines []string, sums bool) {
	t.Helper()
	for _, c := range []string{company, settlement.House} {
		v, err := report.Verify(t.Context(), q, signer, c, clock.System{}.Now())
		if err != nil {
			t.Fatal(err)
		}
		lines, sums = append(lines, v.Lines()...), sums || !v.Intact()
	}
	log, err := report.VerifyLog(t.Context(), q, signer)
	if err != nil {
		t.Fatal(err)
	}
	return append(lines, log.Lines()...), sums
}

// Verify and backup also check a company that has lost its lock row.
func TestACompanyWithoutItsLockRowIsNotSkipped(t *testing.T) {
	t.Parallel()
	p := apptest.Start(t, db.SQLite)
	p.Stop()
	d := dbtest.Open(t, p.Home.Database)
	if n, err := d.Exec(t.Context(), `DELETE FROM ledger_head WHERE company_id = $1`, p.Reference); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	companies, err := report.New(d, clock.System{}).Companies(t.Context())
	if err != nil || !slices.Contains(companies, p.Reference) {
		t.Errorf("companies %q, %v", companies, err)
	}
	_, err = app.Backup(t.Context(), app.Copying{Database: p.Home.Database, File: filepath.Join(t.TempDir(), "backup")})
	if err == nil || !strings.Contains(err.Error(), p.Reference+": has no company lock row") {
		t.Errorf("backed up: %v", err)
	}
}
