package api

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/contract"
	"github.com/kobo-waas/kobo/internal/fault"
)

// largeBodies are bodies of nearly 2 MiB for a bulk payout. Each breaks as many rules as it can.
func largeBodies() map[string]string {
	const size = 2<<20 - 100
	repeat := func(open, end string, one func(i int) string) string {
		var b strings.Builder
		b.WriteString(open)
		for i := 0; b.Len() < size; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(one(i))
		}
		return b.String() + end
	}
	key := func(i int) string { return fmt.Sprintf(`"%x":1`, i) }
	same := func(text string) func(int) string { return func(int) string { return text } }
	long := `{"` + strings.Repeat("k", size/2)
	return map[string]string{
		"unknown fields":                       repeat("{", "}", key),
		"unknown fields of a line":             repeat(`{"lines":[{`, "}]}", key),
		"metadata":                             repeat(`{"lines":[{"metadata":{`, "}}]}", key),
		"empty lines":                          repeat(`{"lines":[`, "]}", same("{}")),
		"wrong lines":                          repeat(`{"lines":[`, "]}", same("1")),
		"control characters":                   repeat(`{"lines":[`, "]}", same("\"\x7f\"")),
		"control characters in unknown fields": repeat(`{"x":[`, "]}", same("\"\x7f\"")),
		"control characters below a long name": repeat(long+`":[`, "]}", same("\"\x7f\"")),
	}
}

func bulkRules(t testing.TB) *contract.Operation {
	t.Helper()
	spec, err := readContract()
	if err != nil {
		t.Fatal(err)
	}
	return spec.Operations["POST /api/v1/settlement/bulk-payout"]
}

// An answer lists at most 100 broken rules, and the costs of a body grow no faster than its size. With a comparison of each key with
// each other key, this test would not end.
func TestLargeBodiesAreReadOnce(t *testing.T) {
	op := bulkRules(t)
	for name, text := range largeBodies() {
		b, err := contract.Decode(httptest.NewRecorder(), jsonRequest(text), op.MaxBody, isControl)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		why := fault.Of(op.Check(b))
		fields, _ := why.Extra["fields"].([]string)
		if n := len(why.Details); n == 0 || n > contract.MostLines || len(fields) != n {
			t.Errorf("%s: %d lines, %d fields", name, n, len(fields))
		}
	}
}

// The first broken rules are listed, and in the order of the body.
func TestTheFirstBrokenRulesAreListed(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `,"z%d":1`, i)
	}
	_, got := read(t, purchaseRules(t), "application/json", strings.Replace(with("productId", ""), "}", b.String()+"}", 1))
	if len(got) != contract.MostLines || got[0] != `"productId" is required` || got[1] != `"z0" is not allowed` || got[99] != `"z98" is not allowed` {
		t.Errorf("%d lines: %q", len(got), got)
	}
}

// A query of 32 KiB with 10,000 unknown names lists the first ones, each once.
func TestTheFirstUnknownParametersAreListed(t *testing.T) {
	var b strings.Builder
	for i := 0; b.Len() < MaxHeader; i++ {
		fmt.Fprintf(&b, "%x&", i)
	}
	got := bulkRules(t).Unknown("zebra&zebra&" + b.String())
	if len(got) != contract.MostLines || got[0] != "zebra" || got[1] != "0" || got[99] != "62" {
		t.Errorf("%d names: %q", len(got), got)
	}
}

func BenchmarkLargeBodies(b *testing.B) {
	op := bulkRules(b)
	for name, text := range largeBodies() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body, err := contract.Decode(httptest.NewRecorder(), jsonRequest(text), op.MaxBody, isControl)
				if err != nil || op.Check(body) == nil {
					b.Fatal(err)
				}
			}
		})
	}
}
