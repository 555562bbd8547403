package safehaven

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
)

func (o opened) assertion(t *testing.T, method jwt.SigningMethod, key any, change func(jwt.MapClaims)) string {
	t.Helper()
	now := o.Clock.Now()
	claims := jwt.MapClaims{"iss": issuer, "sub": clientID, "aud": audience, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	change(claims)
	signed, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func ask(assertion string) map[string]any {
	return map[string]any{
		"grant_type": "client_credentials", "client_id": clientID, "client_assertion": assertion,
		"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
	}
}

// signIn requests a token and adds it to the headers of all further requests.
func signIn(s opened, c *sandboxtest.Caller) {
	c.T.Helper()
	status, body := c.Do("POST", "/oauth2/token", ask(s.assertion(c.T, jwt.SigningMethodRS256, s.key, func(jwt.MapClaims) {})))
	access, ok := body["access_token"].(string)
	if status != 200 || !ok {
		c.T.Fatalf("HTTP %d: %v", status, body)
	}
	c.Header.Set("Authorization", "Bearer "+access)
	c.Header.Set("ClientID", body["ibs_client_id"].(string))
}

func TestToken(t *testing.T) {
	s := open(t, sandbox.Config{})
	c := byHand(t, s)
	rs, key := jwt.SigningMethodRS256, any(s.key)
	same := func(jwt.MapClaims) {}
	set := func(name string, v any) func(jwt.MapClaims) { return func(m jwt.MapClaims) { m[name] = v } }
	drop := func(name string) func(jwt.MapClaims) { return func(m jwt.MapClaims) { delete(m, name) } }
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, assertion := range map[string]string{
		"no assertion":      "",
		"not a JWT":         "abc",
		"alg HS256":         s.assertion(t, jwt.SigningMethodHS256, []byte("x"), same),
		"alg none":          s.assertion(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, same),
		"alg RS512":         s.assertion(t, jwt.SigningMethodRS512, key, same),
		"another's key":     s.assertion(t, rs, other, same),
		"another audience":  s.assertion(t, rs, key, set("aud", "https://api.example.test")),
		"another subject":   s.assertion(t, rs, key, set("sub", "somebody")),
		"another issuer":    s.assertion(t, rs, key, set("iss", "https://else.example.test")),
		"no audience":       s.assertion(t, rs, key, drop("aud")),
		"no end":            s.assertion(t, rs, key, drop("exp")),
		"after its end":     s.assertion(t, rs, key, set("exp", s.Clock.Now().Add(-time.Second).Unix())),
		"before its time":   s.assertion(t, rs, key, set("nbf", s.Clock.Now().Add(time.Hour).Unix())),
		"a text as its end": s.assertion(t, rs, key, set("exp", "tomorrow")),
	} {
		if status, body := c.Do("POST", "/oauth2/token", ask(assertion)); status != 401 || body["error"] != "invalid_client" {
			t.Errorf("%s: HTTP %d %v", name, status, body)
		}
	}
	good := s.assertion(t, rs, key, same)
	for name, change := range map[string]map[string]any{
		"invalid_client":         {"client_id": "somebody"},
		"unsupported_grant_type": {"grant_type": "password"},
	} {
		req := ask(good)
		for k, v := range change {
			req[k] = v
		}
		if status, body := c.Do("POST", "/oauth2/token", req); status/100 != 4 || body["error"] != name {
			t.Errorf("%v: HTTP %d %v", change, status, body)
		}
	}
	if status, body := c.Do("POST", "/oauth2/token", "{"); status != 400 || body["error"] != "invalid_request" {
		t.Errorf("half a request: HTTP %d %v", status, body)
	}

	form := url.Values{}
	for k, v := range ask(good) {
		form.Set(k, v.(string))
	}
	c.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if status, body := c.Do("POST", "/oauth2/token", form.Encode()); status != 200 || body["expires_in"] != json.Number("3600") {
		t.Errorf("as a form: HTTP %d %v", status, body)
	}
}

func TestAuthentication(t *testing.T) {
	s := open(t, sandbox.Config{})
	c := byHand(t, s)
	expect := func(what string, want int) {
		t.Helper()
		status, body := c.Do("GET", "/vas/services", nil)
		if status != want || body["message"] == nil {
			t.Errorf("%s: HTTP %d %v", what, status, body)
		}
	}
	expect("without a token", 401)
	signIn(s, c)
	expect("with a token", 200)
	bearer := c.Header.Get("Authorization")
	for _, wrong := range []string{bearer + "x", strings.TrimPrefix(bearer, "Bearer "), "Bearer " + s.assertion(t, jwt.SigningMethodRS256, s.key, func(jwt.MapClaims) {})} {
		c.Header.Set("Authorization", wrong)
		expect("with a wrong token", 401)
	}
	c.Header.Set("Authorization", bearer)
	c.Header.Set("ClientID", clientID) // sending the OAuth client id is a common mistake
	expect("with the OAuth client id", 403)
	c.Header.Set("ClientID", ibsClientID)
	s.Clock.MoveTo(time.Hour + time.Second)
	expect("an hour later", 401)
}

func payment(reference, phone string) map[string]any {
	return map[string]any{
		"serviceCategoryId": catalogue[1].categories[0].id, "bundleCode": "mtn-1gb-7d", "amount": 800, "channel": "WEB",
		"debitAccountNumber": debitAccount, "phoneNumber": phone, "externalReference": reference,
	}
}

// A wrong payment is refused and leaves no entry in the books. Every second refusal has HTTP 200
// and reports the failure in the body.
func TestRefusals(t *testing.T) {
	s := open(t, sandbox.Config{})
	c := byHand(t, s)
	signIn(s, c)
	manners := map[int]int{}
	for field, values := range map[string][]any{
		"serviceCategoryId":  {"", "61e000000000000000000999", catalogue[0].categories[0].id},
		"bundleCode":         {"", "MTN-1GB-7D", "glo-50mb-1d"},
		"amount":             {0, -800, 801, "800", nil, 800.001, 80000},
		"channel":            {"", "web"},
		"debitAccountNumber": {"", "0100000002"},
		"phoneNumber":        {"", "0803123458", "+2348031234588"},
		"externalReference":  {"", "abc", strings.Repeat("x", 101)},
	} {
		for _, v := range values {
			body := payment("ref-bad", "08031234588")
			body[field] = v
			status, got := c.Do("POST", "/vas/pay/data", body)
			manners[status]++
			if got["statusCode"] != json.Number("400") || got["message"] == "" {
				t.Errorf("%s = %v: HTTP %d %v", field, v, status, got)
			}
		}
	}
	if manners[200] == 0 || manners[400] == 0 || manners[200]-manners[400] > 1 || len(manners) != 2 {
		t.Errorf("refused as %v", manners)
	}
	if status, got := c.Do("POST", "/vas/pay/lottery", payment("ref-bad", "08031234588")); got["statusCode"] != json.Number("400") {
		t.Errorf("no such kind: HTTP %d %v", status, got)
	}
	if status, got := c.Do("GET", "/vas/transaction/ref-bad", nil); got["statusCode"] != json.Number("404") {
		t.Errorf("in the books all the same: HTTP %d %v", status, got)
	}
	if status, got := c.Do("GET", "/vas/nothing", nil); status != 404 || got["message"] != "Cannot GET /vas/nothing" {
		t.Errorf("no such path: HTTP %d %v", status, got)
	}
	if b, err := s.Balance(t.Context(), debitAccount); err != nil || b != books.OpeningFloat {
		t.Errorf("balance %v %v", b, err)
	}
}

func TestARepeatedReference(t *testing.T) {
	s := open(t, sandbox.Config{})
	c := byHand(t, s)
	signIn(s, c)
	for i, phone := range []string{"08031234588", "08031234588", "08031234501"} {
		status, body := c.Do("POST", "/vas/pay/data", payment("ref-1", phone))
		if want := 409; i > 0 && (status != want || body["statusCode"] != json.Number("409")) || i == 0 && status != 200 {
			t.Errorf("%d: HTTP %d %v", i, status, body)
		}
	}
	rows, err := s.requests(t.Context(), "")
	if err != nil || len(rows) != 1 || rows[0].Requests != 3 || rows[0].Executions != 1 {
		t.Errorf("%+v %v", rows, err)
	}
}

// A purchase of power yields a meter token, which is the same in all responses. The purchase can be
// looked up by the bank's id and by our reference.
func TestPower(t *testing.T) {
	s := open(t, sandbox.Config{})
	c := byHand(t, s)
	signIn(s, c)
	body := payment("ref-power", "")
	body["serviceCategoryId"], body["meterNumber"], body["vendType"] = catalogue[2].categories[0].id, "45012345688", "PREPAID"
	body["amount"] = json.Number("2000.50")
	_, got := c.Do("POST", "/vas/pay/utility", body)
	data, _ := got["data"].(map[string]any)
	token, _ := data["utilityToken"].(string)
	if !regexp.MustCompile(`^\d{20}$`).MatchString(token) || data["amount"] != json.Number("2000.5") {
		t.Fatalf("%v", got)
	}
	for _, by := range []string{"ref-power", data["id"].(string)} {
		_, got = c.Do("GET", "/vas/transaction/"+by, nil)
		rec, _ := got["data"].(map[string]any)
		if rec["utilityToken"] != token || rec["transactionStatus"] != "successful" || rec["reversalPaymentReference"] != nil ||
			rec["externalReference"] != "ref-power" {
			t.Errorf("by %s: %v", by, got)
		}
	}
	body["externalReference"], body["vendType"] = "ref-odd", "LATER"
	if _, got = c.Do("POST", "/vas/pay/utility", body); got["statusCode"] != json.Number("400") {
		t.Errorf("vendType LATER: %v", got)
	}
}

// The bank debits the client's account for executed and for pending purchases. If a pending
// purchase is rejected, the bank returns the money.
func TestTheFloat(t *testing.T) {
	s := open(t, sandbox.Config{Hold: time.Millisecond})
	p, _ := connect(t, s, s.Clock)
	for _, c := range []struct {
		ending  string
		asked   int
		charged bool
	}{
		{"88", 0, true},
		{"01", 0, false},
		{"02", 0, true},
		{"03", 0, false},
		{"04", 0, true},
		{"05", 0, false},
		{"06", 0, true},
		{"06", 2, true},
		{"07", 1, true},
		{"07", 3, false},
	} {
		before, err := s.Balance(t.Context(), debitAccount)
		if err != nil {
			t.Fatal(err)
		}
		buy := mtn(c.ending)
		buy.Reference = strings.Repeat("r", 10) + c.ending + string(rune('a'+c.asked))
		p.Pay(context.Background(), buy)
		for range c.asked {
			p.Requery(context.Background(), provider.Sale{Reference: buy.Reference, Kind: buy.Kind})
		}
		after, err := s.Balance(t.Context(), debitAccount)
		if err != nil || (before-after == buy.Amount) != c.charged || before-after != 0 && !c.charged {
			t.Errorf("%s, asked %d times: from %v to %v (%v)", c.ending, c.asked, before, after, err)
		}
	}
}

func TestCatalogue(t *testing.T) {
	hex := regexp.MustCompile(`^[0-9a-f]{24}$`)
	seen := map[string]bool{}
	nameless, piped, open := 0, 0, 0
	for _, s := range catalogue {
		ids := []string{s.id}
		for _, c := range s.categories {
			ids = append(ids, c.id)
			codes := map[string]bool{}
			for _, p := range c.products {
				if codes[p.bundle] || p.name == "" && p.validity == "" {
					t.Errorf("%s: %+v", c.identifier, p)
				}
				codes[p.bundle] = true
				nameless += map[bool]int{true: 1}[p.name == ""]
				piped += strings.Count(p.bundle, "|")
				open += map[bool]int{true: 1}[p.price == 0]
			}
		}
		for _, id := range ids {
			if !hex.MatchString(id) || seen[id] {
				t.Errorf("bad or repeated id %s", id)
			}
			seen[id] = true
		}
	}
	if nameless == 0 || piped == 0 || open == 0 {
		t.Error("the odd products are gone")
	}
	if len(categoryByID) != 22 || catalogue[1].categories[0].id != "61e000000000000000000201" {
		t.Error("ids are not stable: new lines go to the end")
	}
}
