package card_test

import (
	"strconv"
	"testing"

	"github.com/kobo-waas/kobo/internal/customer"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
)

// An address that is set after the clock was corrected is in force, each time, although the one before was set while the
// clock was ahead.
func TestAnAddressSetAfterTheClockWasCorrectedIsInForce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		set := func(number int) {
			t.Helper()
			a := customer.Address{Line1: strconv.Itoa(number) + " Broad Street", City: "Lagos", State: "Lagos"}
			must(t, w.SetAddress(t.Context(), me, w.company, a))
			if got, err := w.Address(t.Context(), w.company); err != nil || got.Line1 != a.Line1 {
				t.Errorf("the address is %+v, %v; want %s", got, err, a.Line1)
			}
		}
		set(1)
		_, err := d.Exec(t.Context(), `UPDATE card_address SET version = '7fffffff-ffff-7abc-8abc-abcdefabcdef' WHERE company_id = $1`, w.company)
		must(t, err)
		for number := 2; number < 5; number++ {
			set(number)
		}
	})
}
