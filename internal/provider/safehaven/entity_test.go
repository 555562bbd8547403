package safehaven

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

func TestEntities(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		body    string
		outcome provider.Outcome
		entity  string
	}{
		"a smartcard": {
			200, `{"statusCode":200,"message":"Cable TV number verified successfully.","sessionId":"s","data":{"name":"ADA TESTER"}}`,
			provider.Confirmed, "{ADA TESTER    ₦0.00  ₦0.00 ₦0.00}",
		},
		"a meter": {
			200, `{"statusCode":200,"data":{"discoCode":"IKEJA","vendType":"prepaid","meterNo":"45012345688","minVendAmount":"500","maxVendAmount":100000.5,
				"outstanding":0,"name":"ADA TESTER","address":"1 Marina","orderId":"o"}}`,
			provider.Confirmed, "{ADA TESTER 1 Marina   ₦0.00 PREPAID ₦500.00 ₦100000.50}",
		},
		"a limit that is none": {
			200, `{"statusCode":200,"data":{"name":"ADA","vendType":"POSTPAID","minVendAmount":null,"maxVendAmount":"no limit"}}`,
			provider.Confirmed, "{ADA    ₦0.00 POSTPAID ₦0.00 ₦0.00}",
		},
		"a refusal":                 {400, `{"statusCode":400,"message":"Invalid smartcard number"}`, provider.Rejected, ""},
		"a refusal as HTTP 200":     {200, `{"statusCode":404,"message":"Meter not found"}`, provider.Rejected, ""},
		"no such account":           {200, `{"statusCode":200,"responseCode":"07","data":{}}`, provider.Rejected, ""},
		"a name beside a no":        {400, `{"statusCode":400,"data":{"name":"ADA"}}`, provider.Unknown, ""},
		"no name":                   {200, `{"statusCode":200,"data":{}}`, provider.Unknown, ""},
		"shut out":                  {401, `{"statusCode":401,"message":"no"}`, provider.Unknown, ""},
		"a router's 404":            {404, `{"statusCode":404,"message":"Cannot POST /vas/verify"}`, provider.Unknown, ""},
		"a gateway's 400":           {400, `<html>`, provider.Unknown, ""},
		"HTTP 500":                  {500, `{}`, provider.Unknown, ""},
		"the vendor is unreachable": {200, `{"statusCode":200,"responseCode":"91","data":{}}`, provider.Unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			s.says(c.status, []byte(c.body))
			a := s.plug(t, s.config(), clock.System{}).VerifyEntity(t.Context(), provider.EntityQuery{
				Kind: provider.Utility, Category: "c1", Number: "45012345688",
			})
			shown := ""
			if a.Outcome == provider.Confirmed {
				shown = fmt.Sprint(a.Entity)
			}
			if a.Outcome != c.outcome || a.Code == "" || shown != c.entity {
				t.Errorf("%+v\nwant %s %s", a, c.outcome, c.entity)
			}
		})
	}
}

func TestEntityRequest(t *testing.T) {
	s := serve(t)
	var asked string
	s.answer = func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.URL.Path
		_, _ = io.WriteString(w, `{"statusCode":200,"data":{"name":"ADA"}}`)
	}
	s.plug(t, s.config(), clock.System{}).VerifyEntity(t.Context(), provider.EntityQuery{Kind: provider.CableTV, Category: "c1", Number: "7012345688"})
	if _, sent := s.seen(); asked != "POST /vas/verify" || len(sent) != 1 || sent[0] != `{"serviceCategoryId":"c1","entityNumber":"7012345688"}` {
		t.Errorf("%s %q", asked, sent)
	}
}
