package bench

import (
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/provider/safehaven"
)

// The real plug understands the instant provider.
func TestTheProviderSpeaksTheWireFormat(t *testing.T) {
	l, address, err := listen(nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	s := &instant{begun: "090286" + strings.Repeat("1", 12)}
	go func() { ended <- s.serve(t.Context(), l) }()
	plug, err := safehaven.New(safehaven.Config{
		ClientConfig: provider.ClientConfig{BaseURL: address}, ClientID: "bench", Assertion: "bench", DebitAccount: "0100000001",
	}, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	bought := plug.Pay(ctx, provider.Purchase{Reference: "r-1", Kind: provider.Data, Category: "c", Product: "p", Amount: 100, Phone: "08030000010"})
	name := plug.NameEnquiry(ctx, "000014", "0123456710")
	sent := plug.Transfer(ctx, provider.TransferOrder{Reference: "r-2", NameEnquirySession: name.Session, BankCode: "000014", Account: "0123456710", Amount: 150_050})
	for what, is := range map[string]provider.Answer{
		"pay": bought, "requery": plug.Requery(ctx, provider.Sale{Reference: "r-1"}), "name": name.Answer, "transfer": sent.Answer, "status": plug.RequeryTransfer(ctx, "r-2").Answer,
	} {
		if is.Outcome != provider.Confirmed {
			t.Errorf("%s: %+v", what, is)
		}
	}
	if bought.Reference != "r-1" || sent.Amount != 150_050 || len(sent.SessionID) != 30 || sent.SessionID == name.Session || name.Name == "" {
		t.Errorf("%+v, %+v, %+v", bought, name, sent)
	}
}

// A response is complete only with the last byte of its body.
func TestResponsesArriveInPieces(t *testing.T) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
	} {
		for n := range len(text) {
			if _, body, whole, err := parse([]byte(text[:n])); whole || err != nil {
				t.Fatalf("%q: %q, %v", text[:n], body, err)
			}
		}
		if status, body, whole, err := parse([]byte(text)); status != 200 || string(body) != "hello" || !whole || err != nil {
			t.Errorf("%q: %d %q %v %v", text, status, body, whole, err)
		}
	}
	for _, text := range []string{"SSH-2.0-x\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"} {
		if _, _, _, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is a response", text)
		}
	}
}

// Each request has a new key of the same length.
func TestEachRequestHasANewNumber(t *testing.T) {
	text := []byte("a=" + unique + "&b=" + unique)
	at, seen := positions(text), map[string]bool{}
	for range 1000 {
		next(text, at)
		a, b, _ := strings.Cut(strings.TrimPrefix(string(text), "a="), "&b=")
		if a != b || len(a) != len(unique) || seen[a] {
			t.Fatalf("%s after %d others", text, len(seen))
		}
		seen[a] = true
	}
}
