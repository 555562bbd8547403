package sudo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	reference = "0199c1f2-7b1e-7c0a-9d3e-2f6a1b0c4d5e"
	debit     = "66a0000000000000000000d0"
	pan       = "5061230000000000001"
)

// recorded is a server that sends its prepared responses (answers) one after the other, and then
// repeats the last of them. It stores the last request.
type recorded struct {
	*httptest.Server
	answers []string // each answer is a status, a space and a body
	path    string
	header  http.Header
	sent    string
}

func serve(t *testing.T, change func(*Config), answers ...string) (*recorded, *Plug) {
	t.Helper()
	s := &recorded{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.path, s.header, s.sent = r.Method+" "+r.URL.RequestURI(), r.Header, string(b)
		var status int
		answer := s.answers[0]
		if len(s.answers) > 1 {
			s.answers = s.answers[1:]
		}
		code, body, _ := strings.Cut(answer, " ")
		if _, err := fmt.Sscan(code, &status); err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	cfg := Config{
		ClientConfig: provider.ClientConfig{BaseURL: s.URL, PayDeadline: 2 * time.Second, ReadDeadline: 2 * time.Second},
		APIKey:       "key-1", DebitAccount: debit, WebhookAuthorization: "hook-1",
	}
	if change != nil {
		change(&cfg)
	}
	p, err := New(cfg, clock.At(time.Date(2030, 1, 3, 1, 0, 0, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

func funding() provider.CardFunding {
	return provider.CardFunding{
		Reference: reference, Account: "66a0000000000000000000d1", Amount: 5000 * money.Naira, Since: time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC),
	}
}

func TestWhatAnAnswerToAFundingMeans(t *testing.T) {
	for answer, want := range map[string]string{
		`200 {}`: "confirmed 200",
		`200 {"statusCode":200,"responseCode":"00","data":{"status":"Completed","_id":"t1"}}`:                 "confirmed 00",
		`200 {"statusCode":200,"responseCode":"09","data":{"status":"Pending","_id":"t1"}}`:                   "unknown 09",
		`200 {"statusCode":200,"data":{"status":"Processing"}}`:                                               "unknown 200",
		`200 {"statusCode":200,"responseCode":"57","data":{}}`:                                                "rejected 57",
		`200 {"statusCode":200,"responseCode":"57","data":{"status":"Completed"}}`:                            "unknown 57",
		`200 {"statusCode":200,"responseCode":"68","data":{}}`:                                                "unknown 68",
		`200 {"statusCode":400,"message":"Insufficient funds"}`:                                               "rejected 400",
		`400 {"statusCode":400,"responseCode":"68","message":"Response received too late"}`:                   "unknown 68",
		`200 {"statusCode":400,"data":{"status":"Pending","_id":"t1"}}`:                                       "unknown 400",
		`400 {"statusCode":400,"data":[{"property":"amount"}]}`:                                               "rejected 400",
		`200 {"statusCode":500,"message":"oops"}`:                                                             "unknown 500",
		`400 {"statusCode":400,"message":[{"property":"amount","constraints":{"a":"x"}}]}`:                    "rejected 400",
		`400 {"statusCode":400,"responseCode":"00","message":"odd"}`:                                          "unknown 00",
		`400 {"statusCode":400,"responseCode":"94","message":"Duplicate"}`:                                    "unknown duplicate",
		`409 {"statusCode":409,"message":"Duplicate"}`:                                                        "unknown duplicate",
		`400 {"statusCode":400,"message":"Duplicate paymentReference"}`:                                       "unknown duplicate",
		`200 {"statusCode":400,"message":[{"constraints":{"x":"duplicate reference"}}]}`:                      "unknown duplicate",
		`200 {"responseCode":"00","data":{"responseCode":"09","status":"Completed"}}`:                         "unknown 09",
		`200 {"responseCode":"00","data":{"responseCode":"51"}}`:                                              "unknown 51",
		`200 {"responseCode":"57","data":{"responseCode":"00"}}`:                                              "unknown 57",
		`200 {"responseCode":"09","data":{"status":"Failed"}}`:                                                "unknown 09",
		`200 {"responseCode":"57","data":{"status":"Pending"}}`:                                               "unknown 57",
		`400 {"responseCode":"57","data":{"responseCode":"00"}}`:                                              "unknown 57",
		`200 {"data":{"responseCode":"94","status":"Completed"}}`:                                             "unknown duplicate",
		`200 {"data":{"_id":"t1","status":"Completed","paymentReference":"` + reference + `","amount":5000}}`: "confirmed 200 t1",
		`200 {"data":{"_id":"t1","status":"Completed","paymentReference":"another"}}`:                         "unknown other_reference t1",
		`200 {"data":{"status":"Completed","paymentReference":"another"}}`:                                    "unknown other_reference",
		`200 {"responseCode":"00","data":{"status":"Completed","paymentReference":"another"}}`:                "unknown other_reference",
		`409 {"data":{"paymentReference":"another"}}`:                                                         "unknown duplicate",
		`200 {"data":{"_id":"t1","status":"Completed","amount":50}}`:                                          "unknown other_reference t1",
		`200 {"data":{"_id":"t1","status":"Completed","amount":"much"}}`:                                      "unknown other_reference t1",
		`200 {"data":{"_id":"t1","status":"Failed","paymentReference":"another"}}`:                            "unknown other_reference t1",
		`200 {"responseCode":"57","data":{"_id":"t1","paymentReference":"another","amount":5000}}`:            "unknown other_reference t1",
		`400 {"statusCode":400,"data":{"_id":"t1","status":"Failed","paymentReference":"another"}}`:           "unknown other_reference t1",
		`401 nothing`:                 "rejected 401",
		`404 {"message":"Not found"}`: "rejected 404",
		`429 {"statusCode":429}`:      "unknown server_error",
		`500 {"statusCode":500}`:      "unknown server_error",
		`200 <html>`:                  "unknown unreadable",
		`200 [1]`:                     "unknown unreadable",
	} {
		_, p := serve(t, nil, answer)
		a := p.FundCard(t.Context(), funding())
		if got := a.Outcome.String() + " " + a.Code; got != want && got+" "+a.Reference != want {
			t.Errorf("%s: %s %s, want %s", answer, got, a.Reference, want)
		}
	}
}

func TestTheAmountIsInTheUnitOfTheAccount(t *testing.T) {
	for unit, want := range map[Unit]string{"": "5000", Major: "5000", Minor: "500000"} {
		s, p := serve(t, func(c *Config) { c.Unit = unit }, `200 {}`)
		p.FundCard(t.Context(), funding())
		var sent map[string]any
		d := json.NewDecoder(strings.NewReader(s.sent))
		d.UseNumber()
		if err := d.Decode(&sent); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(sent["amount"]) != want || sent["paymentReference"] != reference || !strings.Contains(fmt.Sprint(sent["narration"]), reference) {
			t.Errorf("%q: sent %s", unit, s.sent)
		}
		if k, ok := p.amount(text("-" + want)); !ok || k != -5000*money.Naira {
			t.Errorf("%q: read back %s", unit, k)
		}
	}
}

func listed(lines ...string) string {
	return `200 {"statusCode":200,"data":[` + strings.Join(lines, ",") + `],"pagination":{"total":9,"pages":1,"page":"0","limit":"100"}}`
}

func line(kind, field, value, amount, status string) string {
	return fmt.Sprintf(`{"_id":"t1","type":%q,%q:%q,"amount":%s,"status":%q,"createdAt":"2030-01-02T00:00:01.000Z"}`, kind, field, value, amount, status)
}

func TestOnlyADefiniteMatchResolvesAFunding(t *testing.T) {
	other := line("Debit", "paymentReference", "somebody else's", "5000", "Completed")
	narrated := line("Debit", "narration", "Card funding "+reference+".", "5000", "")
	// step is a later line of the same funding.
	step := func(second int, kind, status string) string {
		l := line(kind, "paymentReference", reference, "5000", status)
		return strings.NewReplacer(`"t1"`, fmt.Sprintf(`"t%d"`, second), ":01.000Z", fmt.Sprintf(":%02d.000Z", second)).Replace(l)
	}
	again := []string{step(4, "Credit", "Completed"), step(3, "Debit", "Completed"), step(2, "Credit", "Completed"), step(1, "Debit", "Completed")}
	for name, c := range map[string]struct {
		answer, want string
		vouched      bool
	}{
		"by its field":                      {listed(other, line("Debit", "paymentReference", reference, "5000", "Completed")), "confirmed completed", false},
		"by a word of the narration":        {listed(narrated), "confirmed listed", false},
		"a longer reference is another":     {listed(line("Debit", "narration", reference+"1", "5000", "")), "unknown not_listed", false},
		"listed and failed":                 {listed(line("Debit", "paymentReference", reference, "5000", "Failed")), "rejected failed", false},
		"listed and pending":                {listed(line("Debit", "paymentReference", reference, "5000", "Pending")), "unknown pending", true},
		"another amount":                    {listed(line("Debit", "paymentReference", reference, "50", "Completed")), "unknown contradiction", true},
		"the money came back":               {listed(line("Credit", "paymentReference", reference, "5000", ""), narrated), "rejected reversed", false},
		"came back and went again":          {listed(again[1:]...), "confirmed completed", false},
		"came back, and goes again":         {listed(step(3, "Debit", "Pending"), again[2], again[3]), "unknown pending", true},
		"came back, and failed to go again": {listed(step(3, "Debit", "Failed"), again[2], again[3]), "rejected reversed", false},
		"came back twice":                   {listed(again...), "rejected reversed", false},
		"the same, oldest first":            {listed(again[3], again[2], again[1]), "confirmed completed", false},
		"a return that failed":              {listed(step(2, "Credit", "Failed"), again[3]), "confirmed completed", false},
		"a return on its way":               {listed(step(2, "Credit", "Pending"), again[3]), "unknown pending", true},
		"an older attempt failed":           {listed(step(2, "Debit", "Completed"), step(1, "Debit", "Failed")), "confirmed completed", false},
		"a newer attempt failed":            {listed(step(2, "Debit", "Failed"), again[3]), "confirmed completed", false},
		"the return of a failed debit":      {listed(step(2, "Credit", "Completed"), step(1, "Debit", "Failed")), "rejected failed", false},
		"a failed one came back first":      {listed(again[1], again[2], step(1, "Debit", "Failed")), "confirmed completed", true},
		"that, oldest first":                {listed(step(1, "Debit", "Reversed"), again[2], again[1]), "confirmed completed", true},
		"that, and the return is open":      {listed(again[1], step(2, "Credit", "Queued"), step(1, "Debit", "Failed")), "confirmed completed", true},
		"that, and the last one came back":  {listed(again[0], again[1], again[2], step(1, "Debit", "Failed")), "rejected reversed", true},
		"the return of either":              {listed(step(3, "Credit", "Completed"), step(2, "Debit", "Completed"), step(1, "Debit", "Failed")), "unknown contradiction", true},
		"an open return of either":          {listed(step(3, "Credit", "Pending"), step(2, "Debit", "Completed"), step(1, "Debit", "Failed")), "unknown pending", true},
		"a return of either without times":  {strings.ReplaceAll(listed(again[1], again[2], step(1, "Debit", "Failed")), `"createdAt"`, `"at"`), "unknown contradiction", true},
		"a return older than its debit":     {listed(again[1], again[2]), "unknown contradiction", true},
		"a return without its debit":        {listed(step(2, "Credit", "Completed")), "unknown not_listed", true},
		"an empty page before the last one": {`200 {"data":[],"pagination":{"pages":"3"}}`, "unknown not_listed", true},
		"absence is no answer":              {listed(other), "unknown not_listed", false},
		"absence from a list vouched for":   {listed(other), "missing not_listed", true},
		"absence from an empty list":        {listed(), "missing not_listed", true},
		"absence from a list not read":      {`400 {"message":"no"}`, "unknown 400", true},
		"absence from something else":       {`200 {"data":{}}`, "unknown unreadable", true},
		"the provider is in trouble":        {`503 {}`, "unknown server_error", true},
		"refused credentials say nothing":   {`401 {"message":"Invalid token"}`, "unknown 401", true},
		"the amount is in another notation": {listed(line("Debit", "paymentReference", reference, "5000.00", "Completed")), "confirmed completed", false},
	} {
		_, p := serve(t, func(cfg *Config) { cfg.CompleteList = c.vouched }, c.answer)
		a := p.RequeryFunding(t.Context(), funding())
		got := a.Outcome.String()
		if a.Missing {
			got = "missing"
		}
		if got += " " + a.Code; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestAListIsReadBackToBeforeTheFunding(t *testing.T) {
	page := func(at string) string {
		rows := strings.Repeat(`{"_id":"x","createdAt":"`+at+`"},`, pageSize)
		return `200 {"data":[` + rows[:len(rows)-1] + `],"pagination":{"pages":"9"}}`
	}
	s, p := serve(t, func(c *Config) { c.CompleteList = true },
		page("2030-01-03T00:00:00.000Z"), page("2030-01-02T00:00:00.000Z"), page("2030-01-01T00:00:00.000Z"), `500 {}`)
	if a := p.RequeryFunding(t.Context(), funding()); !a.Missing || !strings.Contains(s.path, "page=2&") {
		t.Errorf("%+v after %s", a, s.path)
	}
	// The clock was three hours ahead when the funding was recorded.
	f := funding()
	f.Since = time.Date(2030, 1, 3, 3, 0, 0, 0, time.UTC)
	paid := strings.Replace(page("2030-01-03T00:00:00.000Z"), `"_id":"x"`, `"_id":"f0","type":"Debit","amount":5000,"paymentReference":"`+f.Reference+`"`, 1)
	_, p = serve(t, func(c *Config) { c.CompleteList = true }, page("2030-01-03T01:40:00.000Z"), paid, page("2030-01-02T00:00:00.000Z"), page("2030-01-01T00:00:00.000Z"), `500 {}`)
	p.clock = clock.At(f.Since.Add(20 * time.Minute))
	if a := p.RequeryFunding(t.Context(), f); a.Outcome != provider.Confirmed || a.Reference != "f0" {
		t.Errorf("a funding of a clock that was ahead: %+v", a)
	}
	// The clock is ten days ahead, at the funding and at the requery.
	f.Since = time.Date(2030, 1, 13, 0, 0, 0, 0, time.UTC)
	_, p = serve(t, func(c *Config) { c.CompleteList = true }, page("2030-01-03T01:40:00.000Z"), paid, page("2030-01-02T00:00:00.000Z"), page("2030-01-01T00:00:00.000Z"), `500 {}`)
	p.clock = clock.At(f.Since.Add(3 * time.Hour))
	if a := p.RequeryFunding(t.Context(), f); a.Outcome != provider.Confirmed || a.Reference != "f0" {
		t.Errorf("a funding of a clock that is ten days ahead: %+v", a)
	}
	// If the list never ends, the plug stops reading. The list is then incomplete, so the plug does
	// not report the funding as missing.
	_, p = serve(t, func(c *Config) { c.CompleteList = true }, page("2030-01-03T00:00:00.000Z"))
	if a := p.RequeryFunding(t.Context(), funding()); a.Missing {
		t.Error("an endless list was taken for a complete one")
	}
	// A request that may be older is looked for on the whole list, but not without end. Behind its debit the list is not read.
	f = funding()
	f.Earlier = true
	older := []string{page("2030-01-03T00:00:00.000Z"), page("2030-01-01T00:00:00.000Z")}
	s, p = serve(t, func(c *Config) { c.CompleteList = true }, older...)
	if a := p.RequeryFunding(t.Context(), f); a.Missing || !strings.Contains(s.path, "page=499&") {
		t.Errorf("%+v after %s", a, s.path)
	}
	paid = strings.Replace(page("2029-12-01T00:00:00.000Z"), `"_id":"x"`, `"_id":"f1","type":"Debit","amount":5000,"paymentReference":"`+f.Reference+`"`, 1)
	s, p = serve(t, func(c *Config) { c.CompleteList = true }, append(older, older[0], older[1], paid, page("2029-11-30T00:00:00.000Z"), `500 {}`)...)
	if a := p.RequeryFunding(t.Context(), f); a.Outcome != provider.Confirmed || a.Reference != "f1" {
		t.Errorf("an older request: %+v after %s", a, s.path)
	}
}

// After a restore a request may be older than its operation. A failed repetition of it does not say what became of it.
func TestAFailedRepetitionDoesNotHideAnEarlierSuccess(t *testing.T) {
	entry := func(id, at, status string) string {
		return fmt.Sprintf(`{"_id":%q,"type":"Debit","paymentReference":%q,"amount":5000,"status":%q,"createdAt":%q}`, id, reference, status, at)
	}
	refused, paid := entry("t2", "2030-01-02T00:00:01.000Z", "Failed"), entry("t1", "2029-12-01T00:00:00.000Z", "Completed")
	again, lost := entry("t4", "2030-01-02T00:00:01.000Z", "Completed"), entry("t1", "2029-12-01T00:00:00.000Z", "Failed")
	back := strings.Replace(entry("t3", "2030-01-02T00:00:00.000Z", "Completed"), "Debit", "Credit", 1)
	transfer := `200 {"data":` + refused + `}`
	page := func(last, at string) string {
		return `200 {"data":[` + strings.Repeat(`{"_id":"","createdAt":"`+at+`"},`, pageSize-1) + last + `],"pagination":{"pages":"3"}}`
	}
	first, second := page(refused, "2030-01-03T00:00:00.000Z"), page(entry("t0", "2029-12-31T00:00:00.000Z", "x"), "2030-01-01T00:00:00.000Z")
	second = strings.Replace(second, reference, "another", 1)
	for name, c := range map[string]struct {
		earlier bool
		issued  string
		answers []string
		want    string
	}{
		"on the list":            {true, "", []string{listed(refused, paid)}, "confirmed t1"},
		"pages behind it":        {true, "", []string{first, second, first, second, page(paid, "2029-12-02T00:00:00.000Z"), listed()}, "confirmed t1"},
		"by its id":              {true, "t2", []string{transfer, listed(refused, paid)}, "confirmed t1"},
		"behind its return":      {true, "", []string{listed(again, back), listed(again, back), listed(again, back, lost)}, "confirmed t4"},
		"the only one":           {true, "t2", []string{transfer, listed(refused)}, "rejected t2"},
		"on no list":             {true, "t2", []string{transfer, listed()}, "rejected t2"},
		"the list is not read":   {true, "t2", []string{transfer, `503 {}`}, "unknown "},
		"it can be no older one": {false, "t2", []string{transfer, `503 {}`}, "rejected t2"},
	} {
		_, p := serve(t, func(c *Config) { c.CompleteList = true }, c.answers...)
		f := funding()
		f.Earlier, f.Issued = c.earlier, c.issued
		a := p.RequeryFunding(t.Context(), f)
		if got := a.Outcome.String() + " " + a.Reference; got != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, a)
		}
	}
}

// A new line moves the pages of the list while they are read, so the last line of a page is on the next page too.
func TestALineOnTwoPagesCountsOnce(t *testing.T) {
	rows := strings.Repeat(`{"_id":"","createdAt":"2030-01-03T00:00:00.000Z"},`, pageSize-1)
	back := strings.Replace(line("Credit", "narration", "Refund of c1", "1200.50", "Completed"), "2030-01-02", "2030-01-03", 1)
	_, p := serve(t, nil, `200 {"data":[`+rows+back+`],"pagination":{"pages":"2"}}`, `200 {"data":[`+back+`],"pagination":{"pages":"2"}}`)
	got, is, err := p.ReturnedBalance(t.Context(), "c1", time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil || !is || got.Decimal() != "1200.50" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestACardIsReadWithIDsAndWithObjects(t *testing.T) {
	for _, account := range []string{`"66d1"`, `{"_id":"66d1","currentBalance":0}`} {
		_, p := serve(t, nil, `200 {"data":{"_id":"c1","account":`+account+`,"customer":{"_id":"u"},"maskedPan":"`+pan+`","status":"Active",
			"expiryMonth":"08","expiryYear":"2033","metadata":{"reference":"r"},"createdAt":"2030-01-02T00:00:00.000Z"}}`)
		c, err := p.Card(t.Context(), "c1")
		if err != nil || c.Account != "66d1" || c.Status != "active" || c.Reference != "r" || c.ExpiryYear != "2033" {
			t.Errorf("%+v, %v", c, err)
		}
		if strings.Contains(c.MaskedPAN, pan[6:15]) || c.MaskedPAN != "506123*********0001" {
			t.Errorf("a card number came through: %s", c.MaskedPAN)
		}
	}
}

func TestAPhysicalCardGoesToTheVaultAlone(t *testing.T) {
	order := provider.CardOrder{Reference: "r", Cardholder: "u", Type: "physical", Currency: "NGN", Number: secret.NewText(pan)}
	api, p := serve(t, nil, `200 {"data":{"_id":"c1"}}`)
	if a := p.CreateCard(t.Context(), order); a.Outcome != provider.Rejected || api.path != "" {
		t.Errorf("without a vault: %+v after %q", a, api.path)
	}
	vault, _ := serve(t, nil, `200 {"data":{"_id":"c1","account":"a1"}}`)
	api, p = serve(t, func(c *Config) { c.VaultURL = vault.URL }, `200 {}`)
	if a := p.CreateCard(t.Context(), order); a.Outcome != provider.Confirmed || api.path != "" || !strings.Contains(vault.sent, pan) {
		t.Errorf("with a vault: %+v after %q and %q", a, api.path, vault.path)
	}
}

func TestWordsOfTheProviderAreOneLine(t *testing.T) {
	_, p := serve(t, nil, `400 {"message":[{"property":"a","constraints":{"b":"b is odd","a":"a is missing"}},"and more"]}`)
	_, err := p.Card(t.Context(), "c1")
	var e *provider.Error
	if !errors.As(err, &e) || e.Message != "a is missing; b is odd; and more" || e.Provider != "Sudo" {
		t.Errorf("%v", err)
	}
}

func TestATokenSaysHowLongItLives(t *testing.T) {
	_, p := serve(t, nil, `200 {"data":{"token":"h.eyJpYXQiOjEwMCwiZXhwIjoyMjB9.s"}}`)
	token, err := p.CardToken(t.Context(), "c1")
	if err != nil || token.ExpiresIn != 2*time.Minute || token.Value.Reveal() == "" || strings.Contains(fmt.Sprint(token), "eyJ") {
		t.Errorf("%v %v", token, err)
	}
}

func TestACardholderHasAnInternationalNumberAndACardAMetadataText(t *testing.T) {
	s, p := serve(t, nil, `200 {"data":{"_id":"u1"}}`)
	if _, err := p.OpenCardholder(t.Context(), provider.Cardholder{FirstName: "Ada", LastName: "Obi", Phone: "0801 234 5678"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.sent, `"phoneNumber":"+2348012345678"`) {
		t.Errorf("sent %s", s.sent)
	}
	s, p = serve(t, nil, `200 {"data":{"_id":"c1","account":"a1","metadata":"`+reference+`"}}`)
	a := p.CreateCard(t.Context(), provider.CardOrder{Reference: reference, Cardholder: "u1", Type: "virtual", Brand: "Verve", Currency: "NGN"})
	if !strings.Contains(s.sent, `"metadata":"`+reference+`"`) || a.Card.Reference != reference {
		t.Errorf("sent %s, read %+v", s.sent, a.Card)
	}
}

func TestWhatAnAnswerToAChangeOfACardMeans(t *testing.T) {
	for answer, want := range map[string]string{
		`200 {"statusCode":200,"data":{"_id":"c1","status":"canceled"}}`: "confirmed 200",
		`200 {"statusCode":200,"data":{"_id":"c1","status":"active"}}`:   "unknown 200",
		`200 {"statusCode":200,"data":{"_id":"c2","status":"canceled"}}`: "unknown 200",
		`200 {"statusCode":200}`:                "unknown 200",
		`400 {"statusCode":400,"message":"no"}`: "rejected 400",
		`500 {}`:                                "unknown server_error",
	} {
		s, p := serve(t, nil, answer)
		a := p.SetCardStatus(t.Context(), "c1", provider.CardCanceled, "stolen")
		if got := a.Outcome.String() + " " + a.Code; got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
		if s.path != "PUT /cards/c1" || s.sent != `{"status":"canceled","cancellationReason":"stolen","creditAccountId":"`+debit+`"}` {
			t.Errorf("%s %s", s.path, s.sent)
		}
	}
	s, p := serve(t, nil, `200 {"data":{"_id":"c1","status":"inactive"}}`)
	if a := p.SetCardStatus(t.Context(), "c1", provider.CardInactive, "a note"); a.Outcome != provider.Confirmed || s.sent != `{"status":"inactive"}` {
		t.Errorf("%+v %s", a, s.sent)
	}
}

func TestOnlyALineThatNamesTheCardProvesItsReturn(t *testing.T) {
	for name, c := range map[string]struct {
		answer, want string
	}{
		"by a word of the narration": {listed(line("Credit", "narration", "Refund of c1.", "1200.50", "Completed")), "₦1200.50 true <nil>"},
		"by the reference":           {listed(line("Credit", "paymentReference", "c1", "1200.50", "")), "₦1200.50 true <nil>"},
		"another card":               {listed(line("Credit", "narration", "Refund of c11", "1200.50", "")), "₦0.00 false <nil>"},
		"a debit":                    {listed(line("Debit", "narration", "Refund of c1", "1200.50", "")), "₦0.00 false <nil>"},
		"failed":                     {listed(line("Credit", "narration", "Refund of c1", "1200.50", "Failed")), "₦0.00 false <nil>"},
		"on its way":                 {listed(line("Credit", "narration", "Refund of c1", "1200.50", "Pending")), "₦0.00 true <nil>"},
		"one of two is on its way": {listed(line("Credit", "narration", "Refund of c1", "1200.50", "Completed"),
			line("Credit", "narration", "Rest of c1", "1", "Queued")), "₦0.00 true <nil>"},
		"no list": {`503 {}`, "₦0.00 false Sudo"},
	} {
		_, p := serve(t, nil, c.answer)
		back, is, err := p.ReturnedBalance(t.Context(), "c1", time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC))
		if got := fmt.Sprint(back, " ", is, " ", err); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNotificationsNeedTheHeader(t *testing.T) {
	_, p := serve(t, nil, `200 {}`)
	body := func(kind string) []byte {
		return []byte(`{"_id":"e1","type":"` + kind + `","createdAt":1893553200,"data":{"_id":"d1","object":{"_id":"o1","card":{"_id":"c1"},"amount":-250.5,"currency":"USD","merchant":{"name":"Corner Shop","city":"Lagos","country":"NG"}}}}`)
	}
	for _, wrong := range []string{"", "hook", "hook-2", "Bearer hook-1"} {
		if _, err := p.ParseCardNotice(http.Header{"Authorization": {wrong}}, []byte("{")); !errors.Is(err, provider.ErrForged) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	right := http.Header{"Authorization": {"hook-1"}}
	for kind, want := range map[string]string{
		"transaction.created":   "activity transaction.created:o1 00",
		"authorization.updated": "activity e1 00",
		"authorization.request": "authorization e1 05",
		"card.balance":          "balance e1 96",
		"something.new":         " e1 00",
	} {
		n, err := p.ParseCardNotice(right, body(kind))
		var reply struct{ ResponseCode string }
		if err == nil {
			err = json.Unmarshal(n.Reply, &reply)
		}
		if got := string(n.Kind) + " " + n.ID + " " + reply.ResponseCode; err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", kind, got, err, want)
		}
		if n.Card != "c1" || n.Amount != -25050 || n.Currency != "USD" || n.Merchant != "Corner Shop, Lagos, NG" || n.At.Unix() != 1893553200 {
			t.Errorf("%s: %+v", kind, n)
		}
	}
	n, err := p.ParseCardNotice(right, []byte(`{"_id":"e2","type":"card.terminated","data":{"_id":"c1","status":"canceled","balance":1200.5}}`))
	if err != nil || n.Kind != provider.CardEnded || n.Card != "c1" || n.Amount != 120050 {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestASettingThatCannotWorkIsRefused(t *testing.T) {
	good := Config{ClientConfig: provider.ClientConfig{BaseURL: "http://127.0.0.1:1"}, APIKey: "k-secret", DebitAccount: debit, WebhookAuthorization: "h"}
	for name, change := range map[string]func(*Config){
		"no key": func(c *Config) { c.APIKey = "" }, "a short account": func(c *Config) { c.DebitAccount = "1" },
		"a unit": func(c *Config) { c.Unit = "cent" }, "no header": func(c *Config) { c.WebhookAuthorization = "" },
		"plain http": func(c *Config) { c.BaseURL = "http://api.example.test" },
	} {
		cfg := good
		change(&cfg)
		if _, err := New(cfg, clock.System{}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v %s", good, good, good, slog.AnyValue(good).Resolve()); strings.Contains(text, "k-secret") {
		t.Error("a configuration shows its key")
	}
}
