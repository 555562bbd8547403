package safehaven

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/providertest"
	"github.com/kobo-waas/kobo/internal/provider/sandbox"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/sandboxtest"
)

// listener is a client's callback endpoint. It stores the notifications that it receives.
type listener struct {
	*httptest.Server
	told chan []byte
}

func listen(t *testing.T) *listener {
	l := &listener{told: make(chan []byte, 4096)}
	l.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		l.told <- b
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *listener) next(t *testing.T) []byte {
	t.Helper()
	select {
	case b := <-l.told:
		return b
	case <-time.After(10 * time.Second):
		t.Fatal("nothing was told")
		return nil
	}
}

func newBankWorld(t *testing.T) providertest.BankWorld {
	return worldOf(t, open(t, sandbox.Config{}))
}

// worldOf returns the test setup of one bank in the sandbox, together with its plug.
func worldOf(t *testing.T, s opened) providertest.BankWorld {
	l := listen(t)
	s.listen(t, l.URL)
	p, wire := connect(t, s, s.Clock)
	c := byHand(t, s)
	return providertest.BankWorld{
		Bank: p, Verifier: p, Wire: wire, OTP: rightOTP, BankCode: "000013", OwnCode: bankCode, Now: s.Clock.Now,
		Paths: providertest.BankPaths{
			Start: "/identity/v2", Confirm: "/identity/v2/validate", Open: "/accounts/v2/subaccount", List: "/accounts",
			OpenVirtual: "/virtual-accounts", Enquiry: "/transfers/name-enquiry", Transfer: "/transfers", Status: "/transfers/status",
			Inbound: "/transfers/status", VirtualInbound: "/virtual-accounts/status", Transfers: "/transfers",
			Statement: "/accounts/" + mainAccountID + "/statement",
		},
		Executed: func(t *testing.T, reference string) int {
			return executions(t, s, reference)
		},
		Credit: func(t *testing.T, account string, amount money.Kobo, silent bool) {
			t.Helper()
			status, body := c.Do("POST", "/sandbox"+s.path+"/credit", map[string]any{"accountNumber": account, "amount": amount, "silent": silent})
			if status != 200 || body["status"] != "success" {
				t.Fatalf("HTTP %d %v", status, body)
			}
		},
		Reverse: func(t *testing.T, reference string) {
			t.Helper()
			if status, body := c.Do("POST", "/sandbox"+s.path+"/reverse", map[string]any{"reference": reference}); status != 200 {
				t.Fatalf("HTTP %d %v", status, body)
			}
		},
		Notice: l.next,
	}
}

func TestSafeHavenBank(t *testing.T) {
	t.Parallel()
	providertest.RunBank(t, newBankWorld)
}

func TestSafeHavenVerifier(t *testing.T) {
	t.Parallel()
	providertest.RunVerifier(t, newBankWorld)
}

// Two banks run in one sandbox with separate books, and both pass all tests of a bank in parallel.
func TestTwoSafeHavenBanks(t *testing.T) {
	t.Parallel()
	both := func(t *testing.T) (first, second opened) {
		a, b := &Bank{}, &Bank{}
		server := sandboxtest.Open(t, sandbox.Config{}, a, sandbox.Further("second", b))
		return opened{a, server, ""}, opened{b, server, sandbox.BankPath("second")}
	}
	t.Run("the first", func(t *testing.T) {
		t.Parallel()
		providertest.RunBank(t, func(t *testing.T) providertest.BankWorld {
			first, _ := both(t)
			return worldOf(t, first)
		})
	})
	t.Run("the second", func(t *testing.T) {
		t.Parallel()
		providertest.RunBank(t, func(t *testing.T) providertest.BankWorld {
			_, second := both(t)
			return worldOf(t, second)
		})
	})
	first, second := both(t)
	providertest.RunTwoBanks(t, worldOf(t, first), worldOf(t, second))
}

// banker is a sandbox with a caller that has an access token, and with a client that receives
// notifications.
type banker struct {
	opened
	*sandboxtest.Caller
	told *listener
}

func (o opened) listen(t *testing.T, callback string) {
	t.Helper()
	if err := o.SetCallback(callback); err != nil {
		t.Fatal(err)
	}
}

func newBanker(t *testing.T, cfg sandbox.Config) banker {
	l := listen(t)
	s := open(t, cfg)
	s.listen(t, l.URL)
	b := banker{s, byHand(t, s), l}
	b.signIn()
	return b
}

func (b banker) signIn() { signIn(b.opened, b.Caller) }

// must sends a request that has to succeed, and returns the data of the response.
func (b banker) must(method, path string, body any) map[string]any {
	b.T.Helper()
	status, got := b.Do(method, path, body)
	if code := fmt.Sprint(got["statusCode"]); status != 200 || code != "<nil>" && code != "200" {
		b.T.Fatalf("%s %s: HTTP %d %v", method, path, status, got)
	}
	if data, ok := got["data"].(map[string]any); ok {
		return data
	}
	return got
}

type object = map[string]any

// notice returns the kind and the data of the next notification that the client receives.
func (b banker) notice() (kind string, data object) {
	b.T.Helper()
	var n struct {
		Type string
		Data object
	}
	if err := json.Unmarshal(b.told.next(b.T), &n); err != nil {
		b.T.Fatal(err)
	}
	return n.Type, n.Data
}

// silence fails the test if, after all due notices were sent, the client has an unread notice.
func (b banker) silence() {
	b.T.Helper()
	if err := b.notices.Deliver(b.T.Context()); err != nil {
		b.T.Fatal(err)
	}
	b.settle(b.T) // waits until the response to each notice is stored; otherwise the notice would be sent again later
	select {
	case n := <-b.told.told:
		b.T.Errorf("told of %s", n)
	default:
	}
}

func TestBanksAreRealOnes(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bankList {
		if len(b.code) != 6 || !books.IsDigits(b.code) || b.name != strings.TrimSpace(b.name) || seen[b.code] || seen[b.name] {
			t.Errorf("%+v", b)
		}
		seen[b.code], seen[b.name] = true, true
	}
	if len(bankList) < 60 || !isKnownBank("000013") || !isKnownBank(bankCode) || isKnownBank("123456") {
		t.Errorf("%d banks", len(bankList))
	}
}

// An account that was registered with Adopt accepts credits, as an account that the bank opened
// does. A credit may have several notifications or none, but the books always contain it exactly
// one time.
func TestAdoptedAccount(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	const number = "8000000011"
	credit := object{"accountNumber": number, "amount": 2500.5, "senderName": "BOLA SAMPLE", "narration": "gift", "duplicate": 2}
	if status, _ := b.Do("POST", "/sandbox/credit", credit); status != 400 {
		t.Errorf("an account of nobody was credited: HTTP %d", status)
	}
	for range 2 {
		if err := b.Adopt(t.Context(), number, "Demo Company", ""); err != nil {
			t.Fatal(err)
		}
	}
	data := b.must("POST", "/sandbox/credit", credit)
	for range 3 {
		kind, n := b.notice()
		if kind != "transfer" || n["type"] != "Inwards" || n["creditAccountNumber"] != number || n["creditAccountName"] != "Demo Company" ||
			n["sessionId"] != data["sessionId"] || n["amount"] != 2500.5 || n["debitAccountName"] != "BOLA SAMPLE" || n["narration"] != "gift" {
			t.Errorf("%s %v", kind, n)
		}
	}
	b.must("POST", "/sandbox/credit", object{"accountNumber": number, "amount": 1, "duplicate": true})
	for range 2 {
		if kind, n := b.notice(); kind != "transfer" || n["amount"] != 1.0 {
			t.Errorf("%s %v", kind, n)
		}
	}
	b.must("POST", "/sandbox/credit", object{"accountNumber": number, "amount": 10, "silent": true})
	b.silence()
	b.must("POST", "/sandbox/credit", object{"accountNumber": "8099999999", "amount": 7, "stray": true})
	if _, n := b.notice(); n["creditAccountNumber"] != "8099999999" {
		t.Errorf("%v", n)
	}
	if got, err := b.Balance(t.Context(), debitAccount); err != nil || got-books.OpeningFloat != 251_850 {
		t.Errorf("%v %v", got-books.OpeningFloat, err)
	}
	rows := b.must("GET", "/sandbox/provider-ledger", nil)["data"].([]any)
	if len(rows) != 4 || rows[0].(object)["kind"] != "credit" || rows[0].(object)["reference"] != data["sessionId"] {
		t.Errorf("%v", rows)
	}
	for _, bad := range []object{
		{"accountNumber": "800", "amount": 1},
		{"accountNumber": number, "amount": 0},
		{"accountNumber": number, "amount": -5},
		{"accountNumber": number, "amount": 1, "duplicate": -1},
		{"accountNumber": number, "amount": 1, "duplicate": "yes"},
		{"accountNumber": number, "amount": "1"},
		{"amount": 1},
		{"x": 1},
	} {
		if status, body := b.Do("POST", "/sandbox/credit", bad); status != 400 || body["status"] != "error" {
			t.Errorf("%v: HTTP %d %v", bad, status, body)
		}
	}
}

// A transfer to an account at the same bank credits that account.
func TestTransferWithinTheBank(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	if err := b.Adopt(t.Context(), "8000000011", "Demo Company", ""); err != nil {
		t.Fatal(err)
	}
	b.pay(t, bankCode, "8000000011", "own-1")
	var seen []string
	for range 2 {
		_, n := b.notice()
		seen = append(seen, fmt.Sprint(n["type"], n["creditAccountNumber"]))
	}
	slices.Sort(seen)
	if fmt.Sprint(seen) != "[Inwards8000000011 Outwards8000000011]" {
		t.Errorf("%v", seen)
	}
	if got, err := b.Balance(t.Context(), debitAccount); err != nil || got != books.OpeningFloat {
		t.Errorf("%v %v", got, err)
	}
}

func (b banker) pay(t *testing.T, bank, number, reference string) (int, object) {
	t.Helper()
	named := b.must("POST", "/transfers/name-enquiry", object{"bankCode": bank, "accountNumber": number})
	return b.Do("POST", "/transfers", object{
		"nameEnquiryReference": named["sessionId"], "debitAccountNumber": debitAccount, "beneficiaryBankCode": bank,
		"beneficiaryAccountNumber": number, "amount": 100, "paymentReference": reference, "saveBeneficiary": false,
	})
}

// A transfer must match the name enquiry whose session ID it contains. The session ID expires, and
// a later enquiry may return a different name.
func TestNameEnquiryBindsTheTransfer(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	ask := object{"bankCode": "000014", "accountNumber": "0123456788"}
	first := b.must("POST", "/transfers/name-enquiry", ask)
	order := object{
		"nameEnquiryReference": first["sessionId"], "debitAccountNumber": debitAccount, "beneficiaryBankCode": "000014",
		"beneficiaryAccountNumber": "0123456788", "amount": 100, "paymentReference": "bound-1",
	}
	refused := func(what string, change object) {
		t.Helper()
		bad := maps.Clone(order)
		maps.Copy(bad, change)
		status, body := b.Do("POST", "/transfers", bad)
		if status == 200 && fmt.Sprint(body["statusCode"]) == "200" {
			t.Errorf("%s: %v", what, body)
		}
	}
	refused("another account", object{"beneficiaryAccountNumber": "0123456787"})
	refused("no enquiry", object{"nameEnquiryReference": "1"})
	refused("another's money", object{"debitAccountNumber": "8000000011"})
	refused("nothing", object{"amount": 0})
	refused("more than there is", object{"amount": 10_000_000_001})
	refused("no reference", object{"paymentReference": ""})
	b.must("POST", "/sandbox/account-name", object{"bankCode": "000014", "accountNumber": "0123456788", "accountName": "SOMEBODY ELSE"})
	if again := b.must("POST", "/transfers/name-enquiry", ask); again["accountName"] != "SOMEBODY ELSE" || first["accountName"] == "SOMEBODY ELSE" {
		t.Errorf("%v, then %v", first, again)
	}
	if err := b.server.Advance(t.Context(), enquiryLife+time.Second); err != nil {
		t.Fatal(err)
	}
	b.Header.Del("Authorization")
	b.signIn()
	refused("too late", object{})
	if rows, err := b.requests(t.Context(), ""); err != nil || len(rows) != 0 {
		t.Errorf("%v %v", rows, err)
	}
}

// The client's account gets another opening balance only while no money has moved on it.
func TestTheOpeningBalanceIsSetBeforeMoneyMoves(t *testing.T) {
	b := newBanker(t, sandbox.Config{})
	begin := func(balance, want money.Kobo) {
		t.Helper()
		if err := b.BeginWith(t.Context(), balance); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Balance(t.Context(), debitAccount); err != nil || got != want {
			t.Errorf("the balance is %s: %v", got.Decimal(), err)
		}
	}
	begin(1_000_000*money.Naira, 1_000_000*money.Naira)
	begin(2_000_000*money.Naira, 1_000_000*money.Naira)
}
