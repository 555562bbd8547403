package report_test

import (
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/db/dbtest"
	"github.com/kobo-waas/kobo/internal/report"
)

func TestMoneyThatStaysInClearingIsListed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, company, reference := audited(t, d)
		began := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		if list, err := report.New(d, clock.At(began.Add(72*time.Hour))).Overdue(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("after 72 hours: %+v, %v", list, err)
		}
		list, err := report.New(d, clock.At(began.Add(73*time.Hour))).Overdue(t.Context())
		if err != nil || len(list) != 1 || len(list[0].Operations) != 1 {
			t.Fatalf("after 73 hours: %+v, %v", list, err)
		}
		if c := list[0]; c.Company != company || c.Account != "clearing/test" || c.Amount != 3000 || c.Operations[0].ID != reference {
			t.Errorf("%+v", c)
		}
	})
}
