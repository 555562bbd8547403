package api

import (
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

func purchaseRules(t testing.TB) *contract.Operation {
	t.Helper()
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	return spec.Operations["POST /api/v1/vtu/purchase-data"]
}

const goodPurchase = `{"idempotencyKey":"order-1","serviceCategoryId":"category","productId":"product","phoneNumber":"08012345678","settlementId":1}`

// with returns a valid purchase in which one field is replaced. An empty value removes the field.
func with(field, value string) string {
	var out []string
	for part := range strings.SplitSeq(strings.Trim(goodPurchase, "{}"), ",") {
		name, _, _ := strings.Cut(part, ":")
		switch {
		case name != `"`+field+`"`:
			out = append(out, part)
		case value != "":
			out = append(out, name+":"+value)
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

func jsonRequest(text string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// read checks a body against the rules. It returns the messages of the broken rules, or one
// message for a body that is not valid JSON.
func read(t testing.TB, rules *contract.Operation, contentType, text string) (string, []string) {
	t.Helper()
	r := jsonRequest(text)
	r.Header.Set("Content-Type", contentType)
	b, err := contract.Decode(httptest.NewRecorder(), r, contract.MaxBody, isControl)
	if err == nil {
		err = rules.Check(b)
	}
	if err == nil {
		return "", nil
	}
	f := fault.Of(err)
	return f.Message, f.Details
}

func TestMessagesOfBrokenRules(t *testing.T) {
	rules := purchaseRules(t)
	long := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"good", goodPurchase, nil},
		{
			"all at once, in the order of the schema, unknown fields last as sent",
			`{"zebra":1,"settlementId":"1","productId":7,"amount":500,"idempotencyKey":"abc"}`,
			[]string{
				`"idempotencyKey" length must be at least 4 characters long`,
				`"serviceCategoryId" is required`,
				`"productId" must be a string`,
				`"phoneNumber" is required`,
				`"settlementId" must be a number`,
				`"zebra" is not allowed`,
				`"amount" is not allowed`,
			},
		},
		{"nothing", `{}`, []string{
			`"idempotencyKey" is required`, `"serviceCategoryId" is required`, `"productId" is required`,
			`"phoneNumber" is required`, `"settlementId" is required`,
		}},
		{"empty", with("idempotencyKey", `""`), []string{`"idempotencyKey" is not allowed to be empty`}},
		{"empty with a pattern", with("phoneNumber", `""`), []string{`"phoneNumber" is not allowed to be empty`}},
		{"null", with("productId", `null`), []string{`"productId" must be a string`}},
		{"characters, not bytes", with("idempotencyKey", long(250)), nil},
		{"too long", with("idempotencyKey", long(251)), []string{`"idempotencyKey" length must be less than or equal to 250 characters long`}},
		{"too short", with("productId", `"éé"`), []string{`"productId" length must be at least 4 characters long`}},
		{"pattern", with("phoneNumber", `"+2348012345"`), []string{
			`"phoneNumber" with value "+2348012345" fails to match the required pattern: /^\d{11}$/`,
		}},
		{"twelve digits", with("phoneNumber", `"080123456789"`), []string{
			`"phoneNumber" with value "080123456789" fails to match the required pattern: /^\d{11}$/`,
		}},
		{"arabic digits", with("phoneNumber", `"٠٨٠١٢٣٤٥٦٧٨"`), []string{
			`"phoneNumber" with value "٠٨٠١٢٣٤٥٦٧٨" fails to match the required pattern: /^\d{11}$/`,
		}},
		{"number as text", with("settlementId", `"1"`), []string{`"settlementId" must be a number`}},
		{"true", with("settlementId", `true`), []string{`"settlementId" must be a number`}},
		{"fraction", with("settlementId", `1.5`), []string{`"settlementId" must be an integer`}},
		{"whole fraction", with("settlementId", `1.0`), []string{`"settlementId" must be an integer`}},
		{"exponent", with("settlementId", `1e0`), []string{`"settlementId" must be an integer`}},
		{"largest safe", with("settlementId", `9007199254740991`), nil},
		{"unsafe", with("settlementId", `9007199254740992`), []string{`"settlementId" must be a safe number`}},
		{"huge", with("settlementId", `99999999999999999999999`), []string{`"settlementId" must be a safe number`}},
		{"NUL", with("idempotencyKey", `"abcd\u0000"`), []string{`"idempotencyKey" must not contain control characters`}},
		{"control characters count before length", with("idempotencyKey", `"\n"`), []string{`"idempotencyKey" must not contain control characters`}},
		{"case counts", strings.Replace(goodPurchase, "settlementId", "SettlementId", 1), []string{
			`"settlementId" is required`, `"SettlementId" is not allowed`,
		}},
		{"not an object", `[]`, []string{`"value" must be of type object`}},
		{"null alone", `null`, []string{`"value" must be of type object`}},
		{"no body", ``, []string{
			`"idempotencyKey" is required`, `"serviceCategoryId" is required`, `"productId" is required`,
			`"phoneNumber" is required`, `"settlementId" is required`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := read(t, rules, "application/json", c.body)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%s", c.body, diff)
			}
		})
	}
}

// A list does not hide the texts in it from the rule about control characters.
func TestControlCharactersInAList(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	const refusal = `must not contain control characters`
	for _, c := range []struct{ path, body, want string }{
		{"POST /api/v1/settlement/bulk-payout", `{"fromSettlementId":1,"pin":"1234","lines":[LINE,{"bank_code":"0000\u0000","account_number":"0123456\t89",
			"amount":1,"narration":"Rent\u0000","externalReference":"march\u007f","metadata":{"branch":"Ikeja\n"}}]}`, `"lines[1].bank_code" ` + refusal +
			`; "lines[1].account_number" ` + refusal + `; "lines[1].narration" ` + refusal + `; "lines[1].externalReference" ` + refusal + `; "lines[1].metadata" ` + refusal},
		{"POST /api/v1/settlement/bulk-payout", `{"fromSettlementId":1,"pin":"1234","lines":[LINE]}`, ""},
		{"POST /api/v1/webhooks", `{"url":"https://example.com/","events":["payout.success","payout.failed\u0000"]}`, `"events[1]" ` + refusal},
	} {
		body := strings.ReplaceAll(c.body, "LINE", `{"bank_code":"000014","account_number":"0123456789","amount":1,"narration":"Rent"}`)
		if _, got := read(t, spec.Operations[c.path], "application/json", body); strings.Join(got, "; ") != c.want {
			t.Errorf("%s\n got %q\nwant %q", body, strings.Join(got, "; "), c.want)
		}
	}
}

func TestMalformedJSONIsRefused(t *testing.T) {
	rules := purchaseRules(t)
	const malformed = "Request body is not valid JSON"
	for _, c := range []struct{ contentType, body, want string }{
		{"application/json; charset=utf-8", goodPurchase, ""},
		{"Application/JSON;charset=UTF-8", goodPurchase, ""},
		{"application/json", " \r\n" + goodPurchase + "\n", ""},
		{"", goodPurchase, "Content-Type must be application/json"},
		{"text/plain", goodPurchase, "Content-Type must be application/json"},
		{"application/json; charset=latin1", goodPurchase, "Content-Type must be application/json"},
		{"application/x-www-form-urlencoded", "a=b", "Content-Type must be application/json"},
		{"application/json", goodPurchase[:40], malformed},
		{"application/json", `{"a":1,}`, malformed},
		{"application/json", `{'a':1}`, malformed},
		{"application/json", `{"a":01}`, malformed},
		{"application/json", `{"a":NaN}`, malformed},
		{"application/json", "{\"a\":\"\xff\"}", malformed},
		{"application/json", "\ufeff" + goodPurchase, malformed},
		{"application/json", goodPurchase + goodPurchase, "Request body has data after its end"},
		{"application/json", goodPurchase + "x", "Request body has data after its end"},
		{"application/json", `{"settlementId":1,"settlementId":2}`, `Request body repeats the field "settlementId"`},
		{"application/json", `{"a":1,"\u0061":2}`, `Request body repeats the field "a"`},
		{"application/json", `{"x":[{"y":{"a":1,"a":1}}]}`, `Request body repeats the field "a"`},
		{"application/json", strings.Repeat("[", 40) + strings.Repeat("]", 40), "Request body is nested too deeply"},
		{"application/json", strings.Repeat("[", 30000), malformed},
		{"application/json", with("settlementId", "1e999999999"), "Request body holds a number that is out of range"},
		{"application/json", with("settlementId", strings.Repeat("9", 50)), "Request body holds a number that is out of range"},
		{"application/json", `"` + strings.Repeat("a", contract.MaxBody) + `"`, "Request body is larger than 64 KiB"},
	} {
		if got, _ := read(t, rules, c.contentType, c.body); got != c.want {
			t.Errorf("%s %.60q: %q, want %q", c.contentType, c.body, got, c.want)
		}
	}
}

// A body that has exactly the maximum size is accepted.
func TestTheLargestBody(t *testing.T) {
	body := goodPurchase + strings.Repeat(" ", contract.MaxBody-len(goodPurchase))
	if message, _ := read(t, purchaseRules(t), "application/json", body); message != "" {
		t.Error(message)
	}
}

func TestTheSameRequestHasTheSameFingerprint(t *testing.T) {
	print := func(path, text string) string {
		b, err := contract.Decode(httptest.NewRecorder(), jsonRequest(text), contract.MaxBody, isControl)
		if err != nil {
			t.Fatal(err)
		}
		return fingerprint(httptest.NewRequest("POST", path, nil), b)
	}
	first := print("/p", `{"a":1,"b":{"c":"d","e":[1,2]}}`)
	for _, same := range []string{print("/p/", `{"a":1,"b":{"c":"d","e":[1,2]}}`), print("/p", "{ \"b\": {\"e\":[1, 2],\"c\":\"\\u0064\"},\n\"a\":1 }")} {
		if same != first {
			t.Error("the same request looks different")
		}
	}
	for _, other := range []string{print("/q", `{"a":1,"b":{"c":"d","e":[1,2]}}`), print("/p", `{"a":1,"b":{"c":"d","e":[2,1]}}`), print("/p", `{"a":"1","b":{"c":"d","e":[1,2]}}`)} {
		if other == first {
			t.Error("another request looks the same")
		}
	}
}

// Stored fingerprints stay valid: a fingerprint is the hash of the body as json.Marshal writes it,
// except for numbers.
func FuzzFingerprints(f *testing.F) {
	f.Add(goodPurchase)
	f.Add(`{"b":[1,true,null,{}],"a":"<\u00e9&\\\"\u2028>","":[]}`)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := contract.Decode(httptest.NewRecorder(), jsonRequest(text), contract.MaxBody, isControl)
		if err != nil || text == "" {
			return
		}
		var want any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&want); err != nil || !cmp.Equal(b.Value, want) {
			t.Fatalf("%q is read as %v instead of %v, %v", text, b.Value, want, err)
		}
		if plain, err := json.Marshal(spelled(want)); err != nil || string(appendPlain(nil, b.Value)) != string(plain) {
			t.Errorf("%s instead of %s, %v", appendPlain(nil, b.Value), plain, err)
		}
	})
}

// spelled returns a decoded value in which equal numbers have the same spelling.
func spelled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			v[name] = spelled(field)
		}
	case []any:
		for i, one := range v {
			v[i] = spelled(one)
		}
	case json.Number:
		if exact, ok := new(big.Rat).SetString(v.String()); ok && exact.IsInt() {
			return json.Number(exact.Num().String())
		} else if ok {
			return map[string]string{"number": exact.RatString()}
		}
	}
	return value
}

func FuzzBodiesAreReadOrRefused(f *testing.F) {
	for _, seed := range []string{goodPurchase, `{}`, `[1,{"a":null}]`, with("settlementId", "1e5"), `{"a":"\ud800"}`} {
		f.Add(seed)
	}
	rules := purchaseRules(f)
	f.Fuzz(func(t *testing.T, text string) {
		message, details := read(t, rules, "application/json", text)
		if message == "" && details != nil || message == "Validation error" && len(details) == 0 {
			t.Errorf("%q: %q %q", text, message, details)
		}
		if why := notAPurchase(text); message == "" && why != "" {
			t.Errorf("%q is accepted: %s", text, why)
		}
	})
}

// notAPurchase returns why a body is no purchase of data, or "". It reads the body with encoding/json, and not with the rules of the
// contract. It does not look at the values of the optional fields.
func notAPurchase(text string) string {
	var body map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&body); err != nil {
		return err.Error()
	}
	for _, name := range []string{"idempotencyKey", "serviceCategoryId", "productId"} {
		if value, _ := body[name].(string); utf8.RuneCountInString(value) < 4 || utf8.RuneCountInString(value) > 250 {
			return name
		}
	}
	phone, _ := body["phoneNumber"].(string)
	account, _ := body["settlementId"].(json.Number)
	id, isNumber := new(big.Rat).SetString(account.String())
	switch {
	case len(phone) != 11 || strings.Trim(phone, "0123456789") != "":
		return "phoneNumber"
	case !isNumber || !id.IsInt() || !id.Num().IsInt64():
		return "settlementId"
	}
	for name := range body {
		if !slices.Contains([]string{"idempotencyKey", "serviceCategoryId", "productId", "phoneNumber", "settlementId", "externalReference", "metadata"}, name) {
			return name
		}
	}
	return ""
}

func BenchmarkReadBody(b *testing.B) {
	rules := purchaseRules(b)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		body, err := contract.Decode(w, jsonRequest(goodPurchase), contract.MaxBody, isControl)
		if err == nil {
			err = rules.Check(body)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func TestRulesForPeople(t *testing.T) {
	// 23:30 UTC on 2 January is 3 January in Lagos.
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	spec = spec.With(clock.At(time.Date(2030, 1, 2, 23, 30, 0, 0, time.UTC)))
	rules := spec.Operations["POST /api/v1/customer/create"]
	customer := func(change map[string]any) string {
		body := map[string]any{
			"firstName": "Ada", "lastName": "Tester", "email": "ada@example.com", "phoneNumber": "08012345678", "bvn": "22222222222",
		}
		maps.Copy(body, change)
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct {
		name   string
		change map[string]any
		want   []string
	}{
		{"born today in Lagos", map[string]any{"dateOfBirth": "2030-01-03"}, nil},
		{"born tomorrow", map[string]any{"dateOfBirth": "2030-01-04"}, []string{`"dateOfBirth" must not be in the future`}},
		{"born on no day", map[string]any{"dateOfBirth": "2030-02-30"}, []string{`"dateOfBirth" must be in YYYY-MM-DD format`}},
		{"names of spaces", map[string]any{"firstName": "   ", "lastName": "\u00a0\u2003", "middleName": " "}, []string{
			`"firstName" is not allowed to be empty`, `"lastName" is not allowed to be empty`, `"middleName" is not allowed to be empty`,
		}},
		{"no middle name", map[string]any{"middleName": ""}, nil},
		{"an address of spaces", map[string]any{"address": map[string]any{"line1": " ", "city": "Lagos", "state": "\u2003"}}, []string{
			`"address.line1" is not allowed to be empty`, `"address.state" is not allowed to be empty`,
		}},
		{"a domain without a dot", map[string]any{"email": "a@b"}, []string{`"email" must be a valid email`}},
		{"with a name", map[string]any{"email": "Ada <ada@example.com>"}, []string{`"email" must be a valid email`}},
		{"two dots", map[string]any{"email": "ada@example..com"}, []string{`"email" must be a valid email`}},
		{"a hyphen at the end of a label", map[string]any{"email": "ada@example-.com"}, []string{`"email" must be a valid email`}},
		{"quoted", map[string]any{"email": `"ada lovelace"@example.com`}, []string{`"email" must be a valid email`}},
		{"a domain that ends with a number", map[string]any{"email": "a@b.123"}, []string{`"email" must be a valid email`}},
		{"spaces around a name", map[string]any{"firstName": " Ada "}, nil},
		{"one letter and a space", map[string]any{"firstName": " A", "lastName": "B "}, []string{
			`"firstName" length must be at least 2 characters long`, `"lastName" length must be at least 2 characters long`,
		}},
		{"characters that nobody sees", map[string]any{"firstName": "\u200b\u200b", "lastName": "\u3164\u3164", "middleName": "\ufeff"}, []string{
			`"firstName" is not allowed to be empty`, `"lastName" is not allowed to be empty`, `"middleName" is not allowed to be empty`,
		}},
		{"fillers", map[string]any{"firstName": "\u2800\u2800", "lastName": "\u115f\u115f", "middleName": "\u00ad\u00ad"}, []string{
			`"firstName" is not allowed to be empty`, `"lastName" is not allowed to be empty`, `"middleName" is not allowed to be empty`,
		}},
		{"neither letter nor digit", map[string]any{"firstName": "--"}, []string{
			`"firstName" must have a letter or a digit`,
		}},
		{"a tag and a subdomain", map[string]any{"email": "ada+kobo@mail.example.co.uk"}, nil},
	} {
		if _, got := read(t, rules, "application/json", customer(c.change)); !cmp.Equal(got, c.want) {
			t.Errorf("%s: %s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// Invisible characters at the ends of a name are removed.
func TestNamesAreTrimmed(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	b, err := contract.Decode(httptest.NewRecorder(), jsonRequest(`{"name":" Pay\u00a0roll\u200b "}`), contract.MaxBody, isControl)
	if err == nil {
		err = spec.Operations["POST /api/v1/settlement/accounts"].Check(b)
	}
	if err != nil || !cmp.Equal(b.Value, map[string]any{"name": "Pay\u00a0roll"}) {
		t.Errorf("%v %v", b, err)
	}
}

func TestRulesForCompanies(t *testing.T) {
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	rules := spec.Operations["POST /api/v1/coop/generate-account"]
	_, got := read(t, rules, "application/json", `{"phoneNumber":"       ","emailAddress":"ada@example.com","rn_number":"   ","kyc_id":"k"}`)
	want := []string{`"phoneNumber" is not allowed to be empty`, `"rn_number" is not allowed to be empty`}
	if !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	// Both numbers are in an index, whose rows have at most 2,704 bytes on PostgreSQL.
	long := func(n int) string { return strings.Repeat("ñ", n) }
	_, got = read(t, rules, "application/json", `{"phoneNumber":"`+long(101)+`","emailAddress":"ada@example.com","rn_number":"`+long(101)+`","kyc_id":"`+long(251)+`"}`)
	const refusal = `length must be less than or equal to `
	want = []string{`"phoneNumber" ` + refusal + `100 characters long`, `"rn_number" ` + refusal + `100 characters long`, `"kyc_id" ` + refusal + `250 characters long`}
	if !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestLoneSurrogatesAreRefused(t *testing.T) {
	rules := purchaseRules(t)
	for name, text := range map[string]string{
		"the first half":      `"order-\ud83d"`,
		"the second half":     `"order-\ude00"`,
		"halves turned round": `"order-\ude00\ud83d"`,
		"half and a letter":   `"order-\ud83dabcdef"`,
		"half and an escape":  `"order-\ud83d\n"`,
	} {
		message, _ := read(t, rules, "application/json", with("idempotencyKey", text))
		if message != "Request body holds half of a surrogate pair" {
			t.Errorf("%s: %q", name, message)
		}
	}
	for name, text := range map[string]string{
		"a pair": `"order-\ud83d\ude00"`, "an escaped backslash": `"order-\\ud83d"`, "the character itself": `"order-😀"`,
	} {
		if message, details := read(t, rules, "application/json", with("idempotencyKey", text)); message != "" {
			t.Errorf("%s: %s %v", name, message, details)
		}
	}
}
