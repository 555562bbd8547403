package money

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Kobo
		err  error
	}{
		{"0", 0, nil},
		{"5000", 500000, nil},
		{"1500.5", 150050, nil},
		{"1500.50", 150050, nil},
		{"1500.500", 150050, nil},
		{"0.01", 1, nil},
		{"100000000000", Max, nil},
		{"100000000000.01", 0, ErrRange},
		{"99999999999999999999", 0, ErrRange},
		{"0.001", 0, ErrPrecision},
		{"-1", 0, ErrNegative},
		{"1e3", 0, ErrSyntax},
		{"", 0, ErrSyntax},
		{".5", 0, ErrSyntax},
		{"5.", 0, ErrSyntax},
		{" 5", 0, ErrSyntax},
		{"+5", 0, ErrSyntax},
		{"NaN", 0, ErrSyntax},
		{"0x10", 0, ErrSyntax},
	} {
		got, err := Parse(c.in)
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("Parse(%q) = %d, %v; want %d, %v", c.in, got, err, c.want, c.err)
		}
	}
}

func TestAskedCountsTheDecimalsThatWereSent(t *testing.T) {
	for in, want := range map[string]error{
		"1500.50": nil, "1500.500": ErrPrecision, "5.000": ErrPrecision, "0.001": ErrPrecision, "1e3": ErrSyntax, "-1.000": ErrNegative,
	} {
		if k, err := Asked(in); !errors.Is(err, want) || (err != nil) != (k == 0) {
			t.Errorf("Asked(%q) = %d, %v; want %v", in, k, err, want)
		}
	}
}

func TestForms(t *testing.T) {
	for _, c := range []struct {
		k               Kobo
		number, decimal string
	}{
		{0, "0", "0.00"},
		{1, "0.01", "0.01"},
		{150050, "1500.5", "1500.50"},
		{500000, "5000", "5000.00"},
		{-5, "-0.05", "-0.05"},
		{math.MinInt64, "-92233720368547758.08", "-92233720368547758.08"},
	} {
		if c.k.Number() != c.number || c.k.Decimal() != c.decimal {
			t.Errorf("%d: %s %s", int64(c.k), c.k.Number(), c.k.Decimal())
		}
	}
}

func TestEveryAmountSurvivesTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sum := Kobo(rapid.Int64Range(-99_999_999_999_999_999, 99_999_999_999_999_999).Draw(t, "sum"))
		var read Kobo
		var text Text
		roundTrip(t, sum, &read)
		roundTrip(t, Text(sum), &text)
		if read != sum || Kobo(text) != sum {
			t.Fatalf("%d came back as %d and %d", sum, read, text)
		}
	})
}

func roundTrip(t *rapid.T, from, to any) {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzParse checks that every parsed amount is in range. It also checks that parsing the amount's
// text gives the same amount again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "5000", "1500.5", "0.001", "-1", "1e3", "100000000000.00", "00.10", "9999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(k.Decimal())
		if err != nil || again != k || k < 0 || k > Max {
			t.Fatalf("Parse(%q) = %d, and back %d, %v", s, k, again, err)
		}
	})
}
