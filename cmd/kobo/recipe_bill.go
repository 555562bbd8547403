package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/id"
)

// buyAndBack buys power that VTpass sells and returns later. Two operators give the company its
// money back.
func buyAndBack(s *script) {
	var services []struct{ ServiceID, ServiceName string }
	s.get("vtu/services", &services)
	for _, service := range services {
		if service.ServiceName != "Utility" {
			continue
		}
		var categories []struct{ ServiceCategoryID, ServiceCategoryName string }
		s.get("vtu/service/"+service.ServiceID+"/categories", &categories)
		for _, c := range categories {
			if strings.Contains(c.ServiceCategoryName, "Aba") { // only VTpass sells power in Aba
				s.powerAndBack(c.ServiceCategoryID)
				return
			}
		}
	}
	s.fail("no power of Aba is on sale")
}

func (s *script) powerAndBack(category string) {
	var meter struct{ MeterVerificationID string }
	s.post("vtu/verify-entity", map[string]string{"serviceCategoryId": category, "entityNumber": "45" + digits()[:7] + "10"}, &meter)
	var bought struct{ TransactionID string }
	s.post("vtu/purchase-utility", map[string]any{
		"idempotencyKey": "trigger-" + id.New(), "meterVerificationId": meter.MeterVerificationID, "amount": 2000, "settlementId": s.SettlementID,
	}, &bought)
	s.simulate("vtpass-reverse", map[string]string{"reference": bought.TransactionID}, nil)
	s.giveBack(bought.TransactionID)
}

// giveBack waits for the case about a purchase. Two operators then find that the provider has
// returned the money.
func (s *script) giveBack(subject string) {
	var cases struct{ Data []struct{ ID string } }
	ctx, cancel := context.WithTimeout(s.ctx, 30*time.Second)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for s.err == nil && len(cases.Data) == 0 {
		s.admin(http.MethodGet, "cases?subject="+subject, nil, &cases)
		select {
		case <-ctx.Done():
			s.fail("no case was opened")
		case <-look.C:
		}
	}
	if s.err != nil {
		return
	}
	finding := map[string]string{"outcome": "rejected", "note": "kobo trigger"}
	for _, key := range slices.Compact([]string{s.AdminKey, s.SecondAdminKey}) {
		s.step(func() error {
			return s.ask(s.ctx, http.MethodPost, "/admin/v1/cases/"+cases.Data[0].ID+"/resolve", finding, nil, "Authorization", "Bearer "+key)
		})
	}
}

// bulk makes a bulk payout of two lines, and returns its ID once each line has its verdict.
func (s *script) bulk() string {
	var banks []struct{ Code string }
	s.get("settlement/banks", &banks)
	if len(banks) == 0 {
		s.fail("no banks are known")
		return ""
	}
	var lines []map[string]any
	for _, ending := range []string{"10", "11"} {
		lines = append(lines, map[string]any{
			"bank_code": banks[0].Code, "account_number": s.beneficiary(banks[0].Code, ending), "amount": 1500, "narration": "kobo trigger",
		})
	}
	var after int64
	s.step(func() (err error) { after, err = s.last(s.ctx); return err })
	var made struct{ BulkID string }
	s.post("settlement/bulk-payout", map[string]any{"fromSettlementId": s.SettlementID, "pin": s.PIN, "lines": lines}, &made)
	s.step(func() error { _, err := s.await(s.ctx, "bulk_payout.checked", after); return err })
	return made.BulkID
}

func checkBulk(s *script) { s.bulk() }

func payBulk(s *script) {
	s.post("settlement/bulk-payout/"+s.bulk()+"/confirm", map[string]any{"pin": s.PIN}, nil)
}
