package vtpass

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// Further codes of a meter are read. "N/A" is not a code.
func TestMeterCodes(t *testing.T) {
	for fields, want := range map[string]provider.MeterCodes{
		`"mainToken":"1","bonusToken":"2","kct1":"3","kct2":"4","units":"79.9 kWh"`: {BonusToken: "2", KCT1: "3", KCT2: "4", Units: "79.9 kWh"},
		`"bonusToken":"N/A","kct1":"n/a","kct2":null,"mainTokenUnits":12.5`:         {Units: "12.5"},
		`"resetToken":"5","configureToken":"6"`:                                     {ResetToken: "5", ConfigureToken: "6"},
		`"purchased_code":""`:                                                       {},
	} {
		_, p := serve(t, 200, strings.Replace(done("000", "delivered"), `"purchased_code":""`, fields, 1))
		a := p.Requery(t.Context(), provider.Sale{Reference: reference})
		if a.Meter != want || provider.ReadMeterCodes(a.Meter.Text()) != want {
			t.Errorf("%s: %+v", fields, a.Meter)
		}
	}
}

// The amount that a reply reports reaches the caller, who compares it with the order.
func TestTheSoldAmount(t *testing.T) {
	for fields, want := range map[string]money.Kobo{
		`"status":"delivered","amount":100`:       10000,
		`"status":"delivered","amount":"100.50"`:  10050,
		`"status":"delivered"`:                    7000,
		`"status":"delivered","amount":"unknown"`: 0,
	} {
		body := strings.Replace(done("000", "delivered"), `"status":"delivered"`, fields, 1)
		_, p := serve(t, 200, strings.Replace(body, `"purchased_code":""`, `"amount":"70.00"`, 1))
		paid := p.Pay(t.Context(), provider.Purchase{Reference: reference, Kind: provider.Airtime, Category: "mtn", Amount: 10000, Phone: "08031234588"})
		if asked := p.Requery(t.Context(), provider.Sale{Reference: reference}); paid.Sold != want || asked.Sold != want || !asked.Found {
			t.Errorf("%s: paid %s, asked %s", fields, paid.Sold, asked.Sold)
		}
	}
}

// The codes of a verification: 020 confirms, 011 refuses the number, and 012 and 030 prove nothing
// about the number. A power company may refuse to sell to a meter.
func TestVerificationCodes(t *testing.T) {
	const meter = `"Customer_Name":"ADA","Address":"LAGOS","Meter_Type":"PREPAID"`
	for body, want := range map[string]provider.Outcome{
		`{"code":"020","content":{` + meter + `}}`:                                  provider.Confirmed,
		`{"code":0,"content":{` + meter + `}}`:                                      provider.Confirmed,
		`{"code":"000","content":{` + meter + `,"Can_Vend":"yes"}}`:                 provider.Confirmed,
		`{"code":"000","content":{` + meter + `,"Can_Vend":"no"}}`:                  provider.Rejected,
		`{"code":"011","response_description":"INVALID ARGUMENTS","content":{}}`:    provider.Rejected,
		`{"code":"012","response_description":"PRODUCT DOES NOT EXIST"}`:            provider.Unknown,
		`{"code":"030","response_description":"BILLER NOT REACHABLE","content":{}}`: provider.Unknown,
	} {
		s, p := serve(t, 200, body)
		a := p.VerifyEntity(t.Context(), provider.EntityQuery{Kind: provider.Utility, Category: "eko-electric", Number: "45012345688"})
		if a.Outcome != want {
			t.Errorf("%s: %+v", body, a)
		}
		if strings.Contains(body, `"no"`) && (!strings.Contains(a.Message, "does not sell") || strings.Contains(s.sent, "postpaid")) {
			t.Errorf("a meter that may not buy: %+v, sent %s", a, s.sent)
		}
	}
}

// A purchase names only the code of a variation. So a code with two prices is not on sale.
func TestTwinsAreOffSale(t *testing.T) {
	_, p := serve(t, 200, `{"response_description":"000","content":{"variations":[
		{"variation_code":"a","name":"A","variation_amount":"100.00"},{"variation_code":"b","name":"B","variation_amount":"50.00"},
		{"variation_code":"a","name":"A2","variation_amount":"200.00"}]}}`)
	products, err := p.Products(t.Context(), provider.Data, "mtn-data")
	if err != nil || fmt.Sprint(products) != "[{b B  ₦50.00 true}]" {
		t.Errorf("%v %v", products, err)
	}
}

func TestBalance(t *testing.T) {
	for body, want := range map[string]money.Kobo{
		`{"code":1,"contents":{"balance":1234.5678}}`: 123456, `{"code":1,"contents":{"balance":"70"}}`: 7000,
		`{"code":"087","response_description":"INVALID CREDENTIALS"}`: -1, `{"code":1,"contents":{}}`: -1, `none`: -1,
	} {
		s, p := serve(t, 200, body)
		got, err := p.Balance(t.Context())
		if (err != nil) != (want < 0) || err == nil && got != want || s.path != "/api/balance" || s.header.Get("public-key") != "PK_1" {
			t.Errorf("%s: %s %v %s", body, got, err, s.path)
		}
	}
}

// The reference in a callback is ours: it follows the date and time of the request_id.
func TestSaleNotices(t *testing.T) {
	_, p := serve(t, 200, "")
	for body, want := range map[string]string{
		`{"type":"transaction-update","data":{"requestId":"` + ourID + `"}}`:                               reference,
		`{"type":"transaction-update","data":{"requestId":"203001030059otldfyuxgdwdx3tgjejn","code":"0"}}`: "otldfyuxgdwdx3tgjejn",
		`{"type":"variation-update","data":{"requestId":"203001030059otldfyuxgdwdx3tgjejn"}}`:              "",
		`{"type":"transaction-update","data":{}}`:                                                          "",
	} {
		if got, err := p.ParseSaleNotice([]byte(body)); err != nil || got != want {
			t.Errorf("%s: %q %v", body, got, err)
		}
	}
	if _, err := p.ParseSaleNotice([]byte("[]")); err == nil {
		t.Error("a list was read")
	}
}
