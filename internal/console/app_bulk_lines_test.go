package console_test

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/console"
	who "github.com/kobo-waas/kobo/internal/person"
)

// A bank is named as people write it. A name that is not exactly one bank is a fault with the nearest names, never a guess.
func TestABankIsNamedByItsNameOrItsCode(t *testing.T) {
	banks := [][2]string{{"Access Bank", "000014"}, {"Zenith Bank Plc", "000015"}, {"Wema Bank", "000017"}, {"Alat", "100001"}, {"Alat Bank", "100002"}, {"Bank Plc", "000099"}}
	for text, code := range map[string]string{
		"000014": "000014", "Access Bank": "000014", "ACCESS  bank plc": "000014", "access": "000014", "Zenith": "000015", "zenithbank": "000015",
		"000077": "000077", "Bank Plc": "000099",
	} {
		got, err := console.LineOf(text+",0123456710,100", banks...)
		if err != nil || !strings.HasPrefix(got, code+"|") {
			t.Errorf("%q: %q, %v, want %s", text, got, err, code)
		}
	}
	for text, want := range map[string]string{
		"Acess Bank": "The nearest: Access Bank (000014)", "Alat": "may be Alat (100001) or Alat Bank (100002)", "14": "removed zeros: Access Bank (000014)",
		"": "bank: it is missing", "12": "4 to 10 digits", "Nobody & Sons": "no bank has the name",
	} {
		if got, err := console.LineOf(text+",0123456710,100", banks...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want a refusal with %q", text, got, err, want)
		}
	}
}

// The usual name of a bank offers this bank alone, and is never taken for it. A name that differs by words such as Plc or MFB alone is the
// bank, but a microfinance bank is no bank of the same name.
func TestTheUsualNameOfABankOffersTheRightOne(t *testing.T) {
	list, err := os.ReadFile("../provider/sandbox/safehaven/banks.csv")
	if err != nil {
		t.Fatal(err)
	}
	var banks [][2]string
	for line := range strings.Lines(string(list)) {
		code, name, _ := strings.Cut(strings.TrimSpace(line), ",")
		banks = append(banks, [2]string{name, code})
	}
	banks = banks[1:] // the heads
	for text, code := range map[string]string{
		"UBA": "000004", "uba plc": "000004", "GTB": "000013", "GTBank": "000013", "GTBank Plc": "000013", "Guaranty": "000013", "FCMB": "000003", "FBN": "000016", "Stanbic": "000012",
		"ALAT": "000017", "ALAT by Wema": "000017", "Titan": "000025", "Kuda": "090267", "Kuda Bank": "090267", "Moniepoint": "090405", "Teamapt Limited": "090405", "VFD": "090110",
		"V Bank": "090110", "Rubies": "090175", "Paycom": "100004", "OPay Digital Services Limited": "100004", "UBN": "000018",
	} {
		got, err := console.LineOf(text+",0123456710,100", banks...)
		if err == nil || !strings.Contains(err.Error(), "no bank has the name") || !strings.HasSuffix(err.Error(), "("+code+")") || strings.Count(err.Error(), "(") != 1 {
			t.Errorf("%q: %q, %v, want a refusal that offers %s alone", text, got, err, code)
		}
	}
	for text, code := range map[string]string{
		"Moniepoint MFB": "090405", "Kuda Microfinance Bank Limited": "090267", "First Bank": "000016", "First Bank of Nigeria Ltd": "000016", "Union Bank": "000018", "Zenith": "000015",
		"Access Bank Nigeria Plc": "000014", "Polaris": "000008", "Keystone": "000002", "Sterling": "000001", "Unity": "000011", "Wema": "000017", "Fidelity": "000007", "Ecobank": "000010",
		"Jaiz": "000006", "Providus": "000023", "SunTrust": "000022", "Globus": "000027", "Parallex": "000030", "OPay": "100004", "PalmPay Limited": "100033", "Carbon": "100026",
		"9PSB": "120001",
	} {
		if got, err := console.LineOf(text+",0123456710,100", banks...); err != nil || !strings.HasPrefix(got, code+"|") {
			t.Errorf("%q: %q, %v, want %s", text, got, err, code)
		}
	}
	if got, err := console.LineOf("Lotus MFB,0123456710,100", banks...); err == nil || !strings.HasSuffix(err.Error(), "Lotus Bank (000029)") {
		t.Errorf("a microfinance bank is taken for a bank: %q, %v", got, err)
	}
}

// All faults of a file come back at once. Each has the number of the line in the file, and the name of the field. The
// lines can be mended in place.
func TestAllFaultsOfAFileComeAtOnceWithItsOwnNumbers(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		const path = "/app/payouts/bulk/new"
		file := strings.Join([]string{
			"Bank,Account,Amount,Narration,Own reference", "", "zenith,0123456710,100", "Acess Bank,123456720,0,Rent,abc",
			"Access Bank,0123456710,200,,own-1", "000014,0123456711,-5,,own-1", "000014,0123456711,1.005," + strings.Repeat("x", 101),
		}, "\n")
		fields := map[string]string{"fromSettlementId": "1", "pin": w.company.PIN, "lines": file}
		g := bola.send(path, bola.form(path, fields))
		text := html.UnescapeString(g.text)
		for _, want := range []string{
			`line 4: bank: no bank has the name "Acess Bank"`, "Access Bank (000014)", `account number: "123456720" has 9 digits`, "amount: The amount must be more than",
			`own reference: "abc" has 3 characters`, `line 6: amount: "-5" is not an amount`, `own reference: line 5 has "own-1" too`, "line 7: amount: ", "narration: it has 101 characters",
			`id="line-4"`, `id="line-6"`, `id="line-7"`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %q", want)
			}
		}
		if g.status != http.StatusUnprocessableEntity || strings.Contains(text, "lines[") || strings.Contains(text, `id="line-3"`) || strings.Contains(text, `id="line-5"`) {
			w.t.Fatalf("%d: %s", g.status, text)
		}
		for n, line := range map[string]string{"4": "Access Bank,0123456720,50,Rent,own-2", "6": "", "7": ""} {
			fields["line-"+n], fields["was-line-"+n] = line, "other"
		}
		at := bola.submit(path, path, fields).location
		later(t, func() string {
			if text := bola.read(at); !strings.Contains(text, "Send the 3 good lines") || !strings.Contains(text, "Zenith") {
				return text
			}
			return ""
		})
	})
}

// The page of a bulk payout shows some of its lines alone. Every page of it repeats all lines that failed. Failed lines
// are no success of the whole.
func TestALargeBulkPayoutShowsItsFailedLines(t *testing.T) {
	each(t, func(w *world) {
		bola := w.seat(w.company.Reference, "bola", who.Finance)
		var lines []string
		for n := range 100 {
			lines = append(lines, fmt.Sprintf("Access Bank,0123456799,%d", n+1)) // there is no such account
		}
		lines = append(lines, "Access Bank,0123456710,100", "Access Bank,0123456710,100", "Access Bank,0123456701,77", "Access Bank,0123456701,78")
		at := bola.submit("/app/payouts/bulk/new", "/app/payouts/bulk/new", map[string]string{
			"fromSettlementId": "1", "pin": w.company.PIN, "lines": strings.Join(lines, "\n"),
		}).location
		later(t, func() string {
			if text := bola.read(at); !strings.Contains(text, "Waits for you") {
				return text
			}
			return ""
		})
		rows := func(address string) int { return strings.Count(bola.read(address), "data-row") }
		if all, rest, bad, doubles := rows(at), rows(at+"?after=100"), rows(at+"?show=bad"), rows(at+"?show=doubles"); all != 100 || rest != 4 || bad != 100 || doubles != 1 {
			t.Errorf("%d lines and %d, %d bad, %d doubles", all, rest, bad, doubles)
		}
		if g := bola.get(at + "?show=odd"); g.status != http.StatusBadRequest {
			t.Errorf("an unknown choice: %d", g.status)
		}
		bola.submit(at, at+"/send", map[string]string{"pin": w.company.PIN})
		later(t, func() string {
			text := html.UnescapeString(bola.read(at))
			repeat := regexp.MustCompile(`(?s)<textarea[^>]*>(.*?)</textarea>`).FindStringSubmatch(text)
			if !strings.Contains(text, "Completed, 2 failed and refunded") || repeat == nil || repeat[1] != "000014,0123456701,77.00\n000014,0123456701,78.00" {
				return text
			}
			return ""
		})
		if n := rows(at + "?show=failed"); n != 2 {
			t.Errorf("%d failed lines", n)
		}
		if text := bola.read("/app/payouts/bulk"); !strings.Contains(text, "Completed, 2 failed and refunded") {
			t.Error(text)
		}
	})
}
