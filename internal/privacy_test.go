package internal_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// namesPeople matches the names of columns that usually hold secrets or data about people.
var namesPeople = regexp.MustCompile(`(^|_)(email|email_address|phone|phone_number|first_name|middle_name|last_name|account_name|customer_name|` +
	`sender_name|holder|bvn|nin|date_of_birth|birth|line1|line2|account_number|sender_account|narration|pan|masked_pan|hash|secret|note|reason|detail|details|body|excerpt)$`)

// impersonal are columns whose names sound like data about people or like secrets, with what they
// hold.
var impersonal = map[string]string{
	"idempotency_key.reason":     "a word of a closed list",
	"request_log.reason":         "a word of a closed list",
	"crypto_transaction.tx_hash": "public on the chain", "crypto_transaction.block_hash": "public on the chain",
	"archive_month.hash": "the hash of a file", "operation_case.reason": "one of a few words",
	"settlement_finding.detail":   "names a row by its key",
	"vtu_product_pair.first_name": "the name of a product",
	"operator_door.reason":        "why API access is closed",
	"evidence_checkpoint.note":    "a signed note with hashes", "evidence_leaf.hash": "the hash of a checkpoint",
	"evidence_erased.hash": "the hash of a row with its MAC, which cannot be guessed",
}

// The page about personal data, the columns that a reading role does not see, and the schema agree.
func TestThePrivacyPageIsComplete(t *testing.T) {
	schema := readCatalog(t, dbtest.New(t, db.SQLite)).tables
	for _, table := range slices.Sorted(maps.Keys(schema)) {
		for _, c := range schema[table].columns {
			listed := slices.Contains(db.Confidential[table], c.name)
			if sounds := namesPeople.MatchString(c.name) && c.kind == "text"; sounds && !listed && impersonal[table+"."+c.name] == "" {
				t.Errorf("%s.%s may hold personal data: list it in db.Confidential and in docs/privacy.md, or above with its reason", table, c.name)
			}
		}
	}
	page := files(t)["docs/privacy.md"]
	for table, columns := range db.Confidential {
		for _, name := range columns {
			if !slices.ContainsFunc(schema[table].columns, func(c column) bool { return c.name == name }) {
				t.Errorf("db.Confidential has %s.%s, and the schema has not", table, name)
			}
		}
		if row := fmt.Sprintf("\n| `%s` | `%s` | ", table, strings.Join(columns, "`, `")); !strings.Contains(page, row) {
			t.Errorf("docs/privacy.md has no row %s", row)
		}
	}
	if rows := strings.Count(page[strings.Index(page, "## Columns"):strings.Index(page, "## Where")], "\n| `"); rows != len(db.Confidential) {
		t.Errorf("docs/privacy.md lists %d tables, and db.Confidential %d", rows, len(db.Confidential))
	}
}
