package vtpass

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/provider"
)

const (
	reference = "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e"
	ourID     = "2025100804510199c1f27b1e7c0a9d3e2f6a1b0c4d5e"
)

// recorded is a server that gives every request the same response, and stores the last request.
type recorded struct {
	*httptest.Server
	status int
	body   string
	path   string
	header http.Header
	sent   string
}

func serve(t *testing.T, status int, body string) (*recorded, *Plug) {
	t.Helper()
	s := &recorded{status: status, body: body}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.path, s.header, s.sent = r.URL.RequestURI(), r.Header, string(b)
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.body)
	}))
	t.Cleanup(s.Close)
	p, err := New(s.config())
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func (s *recorded) config() Config {
	return Config{
		ClientConfig: provider.ClientConfig{BaseURL: s.URL + "/api", PayDeadline: 5 * time.Second, ReadDeadline: 2 * time.Second},
		APIKey:       "api-1", PublicKey: "PK_1", SecretKey: "SK_1", Phone: "08099999999",
	}
}

// done returns a response body with this code and this transaction status.
func done(code, status string) string {
	return fmt.Sprintf(`{"code":%q,"content":{"transactions":{"status":%q,"transactionId":"17"}},"response_description":"WORDS","requestId":%q,
		"purchased_code":""}`, code, status, ourID)
}

// bare returns a response body with a code and without a transaction.
func bare(code string) string { return fmt.Sprintf(`{"code":%q,"response_description":"WORDS"}`, code) }

var answers = map[string]struct {
	status     int
	body       string
	pay, asked provider.Outcome
	missing    bool // the expected Missing of the requery
	code       string
}{
	"delivered":                          {200, done("000", "delivered"), provider.Confirmed, provider.Confirmed, false, "delivered"},
	"delivered, a number for a code":     {200, strings.Replace(done("000", "delivered"), `"17"`, `17`, 1), provider.Confirmed, provider.Confirmed, false, "delivered"},
	"initiated":                          {200, done("000", "initiated"), provider.Unknown, provider.Unknown, false, "initiated"},
	"pending":                            {200, done("000", "pending"), provider.Unknown, provider.Unknown, false, "pending"},
	"a word we do not know":              {200, done("000", "resolved"), provider.Unknown, provider.Unknown, false, "resolved"},
	"no transaction":                     {200, bare("000"), provider.Unknown, provider.Unknown, false, "000"},
	"processed and failed":               {200, done("000", "failed"), provider.Rejected, provider.Rejected, false, "failed"},
	"is processing":                      {200, done("099", ""), provider.Unknown, provider.Unknown, false, "099"},
	"is processing, yet delivered":       {200, done("099", "delivered"), provider.Unknown, provider.Unknown, false, "099"},
	"failed":                             {200, done("016", "failed"), provider.Rejected, provider.Rejected, false, "016"},
	"failed, without a transaction":      {200, bare("016"), provider.Rejected, provider.Rejected, false, "016"},
	"failed, yet pending":                {200, done("016", "pending"), provider.Unknown, provider.Unknown, false, "016"},
	"failed, yet delivered":              {200, done("016", "delivered"), provider.Unknown, provider.Unknown, false, "016"},
	"given back":                         {200, done("040", "reversed"), provider.Rejected, provider.Rejected, false, "040"},
	"not processed":                      {200, bare("091"), provider.Rejected, provider.Rejected, false, "091"},
	"this id was used":                   {200, bare("014"), provider.Unknown, provider.Unknown, false, "duplicate"},
	"this id was used, in a bad request": {400, bare("014"), provider.Unknown, provider.Unknown, false, "duplicate"},
	"likely a duplicate":                 {200, bare("019"), provider.Unknown, provider.Unknown, false, "019"},
	"no such id":                         {200, bare("015"), provider.Unknown, provider.Unknown, true, "015"},
	"our wallet is empty":                {200, bare("018"), provider.Rejected, provider.Unknown, false, "018"},
	"a wrong variation":                  {200, bare("010"), provider.Rejected, provider.Unknown, false, "010"},
	"biller confirmed is no delivery":    {200, bare("020"), provider.Rejected, provider.Unknown, false, "020"},
	"wrong arguments":                    {200, bare("011"), provider.Rejected, provider.Unknown, false, "011"},
	"no such product":                    {200, bare("012"), provider.Rejected, provider.Unknown, false, "012"},
	"delivered, 000 as a number":         {200, strings.Replace(done("000", "delivered"), `"000"`, "0", 1), provider.Confirmed, provider.Confirmed, false, "delivered"},
	"failed, 016 as a number":            {200, strings.Replace(done("016", "failed"), `"016"`, "16", 1), provider.Rejected, provider.Rejected, false, "016"},
	"a bare 0":                           {200, `{"code":0,"response_description":"WORDS"}`, provider.Unknown, provider.Unknown, false, "000"},
	"the vendor is out of reach":         {200, bare("030"), provider.Rejected, provider.Unknown, false, "030"},
	"an improper id":                     {200, bare("085"), provider.Rejected, provider.Unknown, false, "085"},
	"wrong keys":                         {401, bare("087"), provider.Rejected, provider.Unknown, false, "087"},
	"wrong keys, yet delivered":          {401, strings.Replace(done("000", "delivered"), `"code":"000",`, "", 1), provider.Unknown, provider.Unknown, false, "delivered"},
	"wrong keys, yet a token":            {403, `{"purchased_code":"Token : 1234"}`, provider.Unknown, provider.Unknown, false, "unreadable"},
	"a system error":                     {200, bare("083"), provider.Unknown, provider.Unknown, false, "083"},
	"resolved by hand":                   {200, bare("044"), provider.Unknown, provider.Unknown, false, "044"},
	"a code we do not know":              {200, bare("777"), provider.Unknown, provider.Unknown, false, "777"},
	"nothing":                            {200, `{}`, provider.Unknown, provider.Unknown, false, "unreadable"},
}

func TestWhatAnAnswerMeans(t *testing.T) {
	for name, c := range answers {
		t.Run(name, func(t *testing.T) {
			_, p := serve(t, c.status, c.body)
			a := p.Pay(t.Context(), provider.Purchase{Reference: reference, Kind: provider.Airtime, Category: "mtn", Amount: 10000, Phone: "08031234588"})
			if a.Outcome != c.pay || a.Code != c.code || a.Missing {
				t.Errorf("pay: %+v, want %s %s", a, c.pay, c.code)
			}
			a = p.Requery(t.Context(), provider.Sale{Reference: reference})
			if a.Outcome != c.asked || a.Code != c.code || a.Missing != c.missing {
				t.Errorf("requery: %+v, want %s %s, missing %v", a, c.asked, c.code, c.missing)
			}
		})
	}
}

// A reply to our payment that names another request_id decides nothing, and a later "no such id" refunds nothing. Its id is
// kept. The reply to a requery leaves no id.
func TestAReplyWithAnotherRequestID(t *testing.T) {
	for body, theirs := range map[string]string{
		strings.Replace(done("000", "delivered"), ourID, strings.ToUpper(ourID), 1): "17",
		strings.Replace(done("000", "delivered"), ourID, "202510080734x", 1):        "17",
		`{"code":"000","requestId":"202510080734x"}`:                                "",
		`{"code":"015","requestId":"202510080734x"}`:                                "",
	} {
		_, p := serve(t, 200, body)
		a := p.Pay(t.Context(), provider.Purchase{Reference: reference, Kind: provider.Airtime, Category: "mtn", Amount: 10000, Phone: "08031234588"})
		if a.Outcome != provider.Unknown || a.Code != provider.CodeOther || a.Reference != theirs || a.Missing || a.Token != "" || a.Sold != 0 {
			t.Errorf("pay: %s: %+v", body, a)
		}
		a = p.Requery(t.Context(), provider.Sale{Reference: reference})
		if a.Outcome != provider.Unknown || a.Reference != "" || a.Found || a.Missing || a.Code != provider.CodeUnreadable {
			t.Errorf("requery: %s: %+v", body, a)
		}
	}
}

func TestTokens(t *testing.T) {
	for fields, want := range map[string]string{
		`"token":"26362054405982757802"`:                  "26362054405982757802",
		`"mainToken":"1234-5678"`:                         "1234-5678",
		`"Token":"11","purchased_code":"Token : 11"`:      "11",
		`"purchased_code":"Token : 26362054405982757802"`: "26362054405982757802",
		`"purchased_code":"token: 4141"`:                  "4141",
		`"purchased_code":""`:                             "",
		`"token":"N/A","mainToken":"1111","purchased_code":"Token: 1111 Bonus Token: 2222"`: "1111",
		`"purchased_code":"N/A"`: "",
		`"token":null,"mainToken":12345678901234567890,"units":"79.9 k"`: "12345678901234567890",
	} {
		_, p := serve(t, 200, strings.Replace(done("000", "delivered"), `"purchased_code":""`, fields, 1))
		if a := p.Requery(t.Context(), provider.Sale{Reference: reference}); a.Token != want || a.Outcome != provider.Confirmed {
			t.Errorf("%s: %+v", fields, a)
		}
	}
}

// The same reference always gives the same request_id. If the reference is a time-ordered UUID, the
// request_id begins with the UUID's time in the time zone of Lagos.
func TestRequestID(t *testing.T) {
	if got, ok := requestID(reference, time.Time{}); !ok || got != ourID {
		t.Errorf("%s %v", got, ok)
	}
	// A reference that is derived from an Idempotency-Key contains no time, so the request_id takes
	// the time of the purchase.
	begun := time.Date(2030, 1, 2, 23, 59, 59, 999999999, time.UTC)
	if got, ok := requestID("otldfyuxgdwdx3tgjejn", begun); !ok || got != "203001030059otldfyuxgdwdx3tgjejn" {
		t.Errorf("%s %v", got, ok)
	}
	if got, ok := requestID(reference, begun); !ok || got != ourID {
		t.Errorf("a UUID has its own minute: %s %v", got, ok)
	}
	if got, ok := requestID("otldfyuxgdwdx3tgjejn", time.Time{}); ok {
		t.Errorf("no minute gave %s", got)
	}
	before := time.Now().Add(-time.Minute).In(clock.Lagos).Format("200601021504")
	seen := map[string]bool{}
	for range 1000 {
		got, ok := requestID(id.New(), time.Time{})
		stamp := got[:12]
		if !ok || seen[got] || len(got) != 44 || stamp < before || stamp > time.Now().In(clock.Lagos).Format("200601021504") {
			t.Fatalf("%s %v", got, ok)
		}
		seen[got] = true
	}
	for _, r := range []string{"", "order-1", "f47ac10b-58cc-4372-a567-0e02b2c3d479"} {
		if got, ok := requestID(r, time.Time{}); ok {
			t.Errorf("%q gave %s", r, got)
		}
		s, p := serve(t, 200, done("000", "delivered"))
		if a := p.Pay(t.Context(), provider.Purchase{Reference: r, Kind: provider.Airtime}); a.Outcome != provider.Rejected || s.path != "" {
			t.Errorf("%q: %+v %s", r, a, s.path)
		}
		if a := p.Requery(t.Context(), provider.Sale{Reference: r}); a.Outcome != provider.Unknown || a.Missing || s.path != "" {
			t.Errorf("%q: %+v %s", r, a, s.path)
		}
	}
}

func TestPaymentBodies(t *testing.T) {
	for _, c := range []struct {
		buy  provider.Purchase
		want string
	}{
		{
			provider.Purchase{Kind: provider.Airtime, Category: "mtn", Amount: 10050, Phone: "08031234588"},
			`"serviceID":"mtn","amount":100.5,"phone":"08031234588"}`,
		},
		{
			provider.Purchase{Kind: provider.Data, Category: "mtn-data", Product: "mtn-1", Amount: 10000, Phone: "08031234588"},
			`"serviceID":"mtn-data","billersCode":"08031234588","variation_code":"mtn-1","amount":100,"phone":"08031234588"}`,
		},
		{
			provider.Purchase{Kind: provider.CableTV, Category: "dstv", Product: "dstv79", Amount: 1900000, Card: "7012345688"},
			`"serviceID":"dstv","billersCode":"7012345688","variation_code":"dstv79","amount":19000,"phone":"08099999999","subscription_type":"change"}`,
		},
		{
			provider.Purchase{Kind: provider.CableTV, Category: "startimes", Product: "nova", Amount: 210000, Card: "7012345688"},
			`"serviceID":"startimes","billersCode":"7012345688","variation_code":"nova","amount":2100,"phone":"08099999999"}`,
		},
		{
			provider.Purchase{Kind: provider.Utility, Category: "eko-electric", Amount: 200000, Meter: "45012345688", VendType: provider.Postpaid},
			`"serviceID":"eko-electric","billersCode":"45012345688","variation_code":"postpaid","amount":2000,"phone":"08099999999"}`,
		},
	} {
		s, p := serve(t, 200, done("000", "delivered"))
		c.buy.Reference = reference
		a := p.Pay(t.Context(), c.buy)
		if a.Outcome != provider.Confirmed || s.sent != `{"request_id":"`+ourID+`",`+c.want || s.path != "/api/pay" {
			t.Errorf("%s: %+v\n got %s\nwant …%s", c.buy.Kind, a, s.sent, c.want)
		}
		if s.header.Get("api-key") != "api-1" || s.header.Get("secret-key") != "SK_1" || s.header.Get("public-key") != "" {
			t.Errorf("headers %v", s.header)
		}
	}
	s, p := serve(t, 200, done("000", "delivered"))
	if a := p.Pay(t.Context(), provider.Purchase{Reference: reference, Kind: "BETTING"}); a.Outcome != provider.Rejected || s.path != "" {
		t.Errorf("what is not sold: %+v", a)
	}
}

func TestCatalogue(t *testing.T) {
	s, p := serve(t, 200, `{"response_description":"000","content":{"variations":[
		{"variation_code":"a","name":"A","variation_amount":"100.00","fixedPrice":"Yes"},
		{"variation_code":"b","name":"B","variation_amount":50.5,"fixedPrice":"No"},
		{"variation_code":"prepaid","name":"Prepaid","variation_amount":"0.00","fixedPrice":"No"},
		{"variation_code":"c","name":"C","variation_amount":"1,000"},{"variation_code":"","name":"D","variation_amount":"1"}]}}`)
	products, err := p.Products(t.Context(), provider.Data, "mtn-data")
	if fmt.Sprint(products) != "[{a A  ₦100.00 true} {b B  ₦50.50 false}]" || err != nil || s.path != "/api/service-variations?serviceID=mtn-data" {
		t.Errorf("%v %v %s", products, err, s.path)
	}
	if s.header.Get("public-key") != "PK_1" || s.header.Get("secret-key") != "" {
		t.Errorf("headers %v", s.header)
	}
	s.body = `{"response_description":"000","content":[{"serviceID":"ikeja-electric","name":"Ikeja"},{"serviceID":"foreign-airtime","name":"Abroad"},{"name":"Half"}]}`
	categories, err := p.Categories(t.Context(), "electricity-bill")
	if fmt.Sprint(categories) != "[{ikeja-electric Ikeja IKEJA}]" || err != nil {
		t.Errorf("%v %v", categories, err)
	}
	for _, body := range []string{`{"code":"087","response_description":"INVALID CREDENTIALS"}`, `{"response_description":"000","content":"none"}`, `<html>`} {
		s.body = body
		if _, err := p.Services(t.Context()); err == nil || strings.Contains(err.Error(), "html") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestConfiguration(t *testing.T) {
	good := Config{
		ClientConfig: provider.ClientConfig{BaseURL: "https://vtpass.example.test/api"},
		APIKey:       "hide-1", PublicKey: "hide-2", SecretKey: "hide-3", Phone: "0809",
	}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"no API key":    func(c *Config) { c.APIKey = "" },
		"no public key": func(c *Config) { c.PublicKey = "" },
		"no secret key": func(c *Config) { c.SecretKey = "" },
		"no phone":      func(c *Config) { c.Phone = "" },
		"plain http":    func(c *Config) { c.BaseURL = "http://vtpass.example.test" },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Error(name)
		}
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "cfg", good)
	if shown := fmt.Sprintf("%v %+v %#v", good, good, good) + log.String(); strings.Contains(shown, "hide-") {
		t.Errorf("a key was shown: %s", shown)
	}
}
