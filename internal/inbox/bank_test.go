package inbox_test

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/provider"
)

// A bank account must keep its name. Under a new name, the credits of the account would be recorded
// again.
func TestABankAccountKeepsItsName(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newShared(t, d)
		begin := func(marks map[string][]string) error {
			h := w.open(t)
			h.Banks, h.Marks = map[string]provider.Receiver{}, marks
			for name := range marks {
				h.Banks[name] = w.bank
			}
			return h.Begin(t.Context())
		}
		for _, c := range []struct {
			marks map[string][]string
			why   string
		}{
			{map[string][]string{"old": nil}, ""}, // an earlier release stored no marks
			{map[string][]string{"new": {"client-1"}}, `the bank "new" is new, and "old" is not configured`},
			{map[string][]string{"old": {"client-1", "account-1"}}, ""},
			{map[string][]string{"old": {"client-1", "account-1"}}, ""},
			{map[string][]string{"new": {"client-1", "account-2"}}, `the account of the bank "new" is known as "old"`},
			{map[string][]string{"new": {"client-2", "account-1"}}, `the account of the bank "new" is known as "old"`},
			{map[string][]string{"old": {"client-3", "account-1"}, "new": {"client-2", "account-2"}}, ""},
			{map[string][]string{"new": {"client-2", "account-2"}}, ""},
			{map[string][]string{"old": {"client-2"}, "new": {"client-4"}}, `the account of the bank "old" is known as "new"`},
		} {
			err := begin(c.marks)
			if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
				t.Errorf("%v: %v, want %q", c.marks, err, c.why)
			}
		}
	})
}
