package admin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/operator"
)

// contacts are what no line of a log, and no line of the audit log, may hold.
var contacts = []string{"08012345678", "2348012345678", "ada@example.com", "22212345678", "4111111111111111"}

// kept returns all lines of the audit log as text.
func (d *door) kept() string {
	d.t.Helper()
	lines, _, err := d.operators.SearchAudit(d.t.Context(), operator.AuditFilter{}, 1000, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	return fmt.Sprintf("%+v", lines)
}

func TestASearchIsRecordedWithoutThePhoneNumber(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		d.customer(company, "c1")
		key := d.as("sue", operator.Support)
		search := func(text string) string {
			t.Helper()
			return fmt.Sprint(d.ok(key, "POST", "/admin/v1/search", `{"text":"`+text+`"}`))
		}
		for _, text := range []string{"0801 234 5678", "+2348012345678", "teste"} {
			if said := search(text); !strings.Contains(said, "kind:customer") || !strings.Contains(said, "id:c1") || strings.Contains(said, "08012345678") {
				t.Errorf("%q: %s", text, said)
			}
		}
		for text, want := range map[string]string{
			"22212345678": "does not search by BVN", "4111 1111 1111 1111": "looks like a card number", "kobo_live_x": "That is a secret", "12": "four characters",
			"nothing-like-it": "hits:[]",
		} {
			if said := search(text); !strings.Contains(said, want) || strings.Contains(said, "kind:") {
				t.Errorf("%q: %s", text, said)
			}
		}
		lines, _, err := d.operators.SearchAudit(t.Context(), operator.AuditFilter{Action: "read.search"}, 100, 0)
		if err != nil {
			t.Fatal(err)
		}
		hashes := map[string]bool{}
		for _, l := range lines {
			if strings.HasPrefix(l.Subject, "phone ") {
				hashes[l.Subject] = true
			}
		}
		if len(hashes) != 1 {
			t.Errorf("one phone number has the hashes %v", hashes)
		}
		for _, text := range contacts {
			if strings.Contains(d.kept(), text) || strings.Contains(d.log.String(), text) {
				t.Errorf("%s is kept", text)
			}
		}
	})
}

func TestAViewerLooksForNoPeople(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		d.customer(company, "c1")
		key := d.as("vera", operator.Viewer)
		for _, text := range []string{"08012345678", "ada@example.com"} {
			if status, said, _ := d.send(key, "POST", "/admin/v1/search", `{"text":"`+text+`"}`); status != 403 {
				t.Errorf("%q: %d %v", text, status, said)
			}
		}
		if said := fmt.Sprint(d.ok(key, "POST", "/admin/v1/search", `{"text":"tester"}`)); strings.Contains(said, "c1") || !strings.Contains(said, "needs the role support") {
			t.Error(said)
		}
		if status, said, _ := d.send(key, "POST", "/admin/v1/reveal", `{"company":"`+company[len("/admin/v1/companies/"):]+`","customerId":"c1","reason":"CALLER_VERIFIED"}`); status != 403 {
			t.Errorf("a viewer reveals: %d %v", status, said)
		}
		if said := fmt.Sprint(d.ok(key, "GET", company+"/customers", "")); !strings.Contains(said, "0801•••5678") || strings.Contains(said, "08012345678") {
			t.Error(said)
		}
	})
}

func TestARevealIsRecordedWithItsReasonAndWithoutTheData(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		d.customer(company, "c1")
		reference := company[len("/admin/v1/companies/"):]
		key := d.as("sue", operator.Support)
		ask := func(body string) string {
			return strings.NewReplacer("REF", reference).Replace(`{"company":"REF","customerId":"c1",` + body + `}`)
		}
		for body, want := range map[string]int{
			`"reason":"CURIOUS"`: 400, `"reason":"OTHER"`: 400, `"note":"why not"`: 400, `"reason":"OTHER","note":"no"`: 400,
			`"reason":"OTHER","note":"is it +234 801 234 5678?"`: 400,
		} {
			if status, said, _ := d.send(key, "POST", "/admin/v1/reveal", ask(body)); status != want {
				t.Errorf("%s: %d %v", body, status, said)
			}
		}
		d.no(key, "POST", "/admin/v1/reveal", `{"company":"`+reference+`","customerId":"c2","reason":"INVESTIGATION"}`, 404, "Customer not found")
		d.no(key, "POST", "/admin/v1/reveal", `{"company":"other","customerId":"c1","reason":"INVESTIGATION"}`, 404, "Customer not found")
		for range 2 {
			if said := fmt.Sprint(d.ok(key, "POST", "/admin/v1/reveal", ask(`"reason":"OTHER","note":"the bank asks by letter"`))); !strings.Contains(said, "08012345678") || !strings.Contains(said, "ada@example.com") {
				t.Error(said)
			}
		}
		lines, _, err := d.operators.SearchAudit(t.Context(), operator.AuditFilter{Action: operator.Revealed}, 100, 0)
		if err != nil || len(lines) != 2 || lines[0].Operator != "sue" || lines[0].Subject != "c1" || lines[0].Details["reason"] != "OTHER" || lines[0].Details["company"] != reference {
			t.Errorf("%+v %v", lines, err)
		}
		for _, text := range contacts {
			if strings.Contains(d.kept(), text) || strings.Contains(d.log.String(), text) {
				t.Errorf("%s is kept", text)
			}
		}
	})
}

// The account of a payout is shown for a reason, which is a line of the audit log without the number.
func TestAnOperatorRevealsTheAccountOfAPayout(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		reference := company[len("/admin/v1/companies/"):]
		d.write(`INSERT INTO payout_verification (company_id, id, settlement_id, provider, bank_code, bank_name, account_number, account_name, session, created_at)
			VALUES ($1, 'p1', 1, 'bank', '000014', 'Bank', '0123456789', 'ADA OBI', '', 1)`, reference)
		d.write(`INSERT INTO payout (company_id, id, narration, session, created_at, settlement_id) VALUES ($1, 'p1', '', '', 1, 1)`, reference)
		d.no(d.ada, "POST", "/admin/v1/timeline/p2/reveal", `{"reason":"INVESTIGATION"}`, 404, "Payout not found")
		d.no(d.ada, "POST", "/admin/v1/timeline/p1/reveal", `{"reason":"BANK_QUESTION","note":"is 0123 456 789 his?"}`, 400, `"note" must not have the number that it is about`)
		if said := d.ok(d.ada, "POST", "/admin/v1/timeline/p1/reveal", `{"reason":"BANK_QUESTION"}`); said["accountNumber"] != "0123456789" || said["company"] != reference {
			t.Error(said)
		}
		lines, _, err := d.operators.SearchAudit(t.Context(), operator.AuditFilter{Action: operator.RevealedBeneficiary}, 100, 0)
		if err != nil || len(lines) != 1 || lines[0].Subject != "p1" || lines[0].Details["reason"] != "BANK_QUESTION" {
			t.Errorf("%+v %v", lines, err)
		}
	})
}

func TestOperatorsListWhatACompanyHas(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		company, account := d.company()
		reference := company[len("/admin/v1/companies/"):]
		d.customer(company, "c1")
		d.write(`INSERT INTO customer_account (company_id, customer_id, state, turn, called_until, missing, reference, settlement_id, account_number, account_name, bank_name, bank_code,
			provider_id, message, created_at, updated_at) VALUES ($1, 'c1', 'OPEN', '', 0, 0, '', 1, '0123456789', 'ADA TESTER', 'Bank', '000', '', '', 1, 1)`, reference)
		d.write(`INSERT INTO collection (company_id, id, external_reference, request, state, provider, reference, settlement_id, amount_kobo, amount_control, account_number,
			account_name, bank_name, bank_code, credit_id, called_until, expires_at, created_at, updated_at)
			VALUES ($1, 'v1', 'invoice-1', '', 'PENDING', 'bank', '', 1, 250000, 'Fixed', '0123456780', 'ACME', 'Bank', '000', '', 0, 9, 1, 1)`, reference)
		d.write(`INSERT INTO card (company_id, id, customer_id, state, provider, provider_card_id, account, kind, brand, currency, masked_pan, expiry_month, expiry_year, status,
			message, load_kobo, called_until, missing, created_at, updated_at)
			VALUES ($1, 'k1', 'c1', 'ISSUED', 'sudo', 'p', '', 'virtual', 'Verve', 'NGN', '506099******1234', '05', '2031', 'active', '', 0, 0, 0, 1, 1)`, reference)
		d.write(`INSERT INTO webhook_endpoint (company_id, id, url, description, kinds, state, secret, old_secret, old_until, failures, failed_at, created_at, updated_at)
			VALUES ($1, 'h1', 'https://example.com', '', '[]', 'ACTIVE', '', '', 0, 0, 0, 0, 0)`, reference)
		d.write(`INSERT INTO webhook_delivery (company_id, id, endpoint_id, event_id, kind, sequence, state, attempts, status, latency_ms, excerpt, trouble, next_at, created_at, updated_at)
			VALUES ($1, 'd1', 'h1', 'e1', 'payout.success', 4, 'FAILED', 9, 500, 1, '', 'status 500', 0, 1, 1)`, reference)
		d.write(`INSERT INTO customer_transaction (company_id, number, id, customer_id, settlement_id, amount_kobo, kind, status, narration, session_id, created_at)
			VALUES ($1, 1, 't1', 'c1', 1, 70050, 'CREDIT', 'SUCCESS', '', '0902', 1)`, reference)
		for path, want := range map[string][]string{
			"/customers":                  {"id:c1", "firstName:Ada", "0801•••5678", "a•••@e•••.com", "accountNumber:0123456789", "next:<nil>"},
			"/customers/c1":               {"id:c1", "accountName:ADA TESTER", "status:OPEN"},
			"/customers/c1/credits":       {"reference:t1", "amount:700.5", "sessionId:0902", "senderName:<nil>", "settlementId:1", "next:<nil>"},
			"/virtual-accounts":           {"id:v1", "ownReference:invoice-1", "amount:2500"},
			"/cards":                      {"id:k1", "506099******1234", "expiry:05/2031"},
			"/cards?customer=c1":          {"id:k1"},
			"/cards?customer=c2":          {"cards:[]"},
			"/deliveries":                 {"id:d1", "responseStatus:500", "attempts:9"},
			"/deliveries?state=FAILED":    {"id:d1", "next:<nil>"},
			"/deliveries?state=DELIVERED": {"deliveries:[]", "next:<nil>"},
			"/events":                     {"event:settlement."},
			"/settlement-accounts/" + account + "/entries": {"entries:["},
		} {
			said := fmt.Sprint(d.ok(d.ada, "GET", company+path, ""))
			for _, part := range want {
				if !strings.Contains(said, part) {
					t.Errorf("%s: no %s in %s", path, part, said)
				}
			}
			other := strings.Replace(company, reference, "cnobody", 1)
			if status, said, _ := d.send(d.ada, "GET", other+path, ""); status != 404 {
				t.Errorf("%s of nobody: %d %v", path, status, said)
			}
		}
		for _, path := range []string{"/customers/c2", "/customers/c2/credits", "/settlement-accounts/99/entries", "/settlement-accounts/x/entries"} {
			if status, said, _ := d.send(d.ada, "GET", company+path, ""); status != 404 {
				t.Errorf("%s: %d %v", path, status, said)
			}
		}
		d.no(d.ada, "GET", company+"/deliveries?state=LOST", "", 400, `"state" must be`)
		if status, said, _ := d.send(d.ada, "GET", company+"/events?after=x", ""); status != 400 {
			t.Errorf("a wrong cursor: %d %v", status, said)
		}
	})
}
