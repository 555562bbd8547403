package event_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kobo-waas/kobo/internal/event"
)

const bought = `{"transactionId":"63mac6cmwf3k3nzj562b","status":"SUCCESS","type":"DATA","amount":"100.00",` +
	`"createdAt":"2026-11-25T22:51:23.895Z","fee":"0.00","idempotencyKey":"7c9e6679-7425-40de-944b-e07fc1f90ae7","settlementId":1,` +
	`"serviceCategoryId":"01a214e7-bd52-77fe-afae-52dd436c4236","productId":"01a214e7-bd52-7add-8134-0c345b32fd99",` +
	`"productName":"100MB Daily","phoneNumber":"08030000010","cardNumber":null,"providerReference":"63mac6cmwf3k3nzj562b",` +
	`"message":"Purchased successfully.","refunded":false,"updatedAt":"2026-11-25T22:51:23.917Z","meterNumber":null,"token":null}`

// The packed form is a third of the text, and begins with the ID of the operation.
func TestEventsAreStoredPacked(t *testing.T) {
	packed := event.Pack(event.VTUSuccess, bought)
	if len(packed) > len(bought)/3 || !strings.HasPrefix(packed, `163mac6cmwf3k3nzj562b"`) {
		t.Errorf("%d bytes of %d: %q", len(packed), len(bought), packed)
	}
	if got := event.Unpack(packed); got != bought {
		t.Errorf("unpacked:\n%s\nwant:\n%s", got, bought)
	}
}

// A form that was released never changes, because rows have it.
func TestTheFirstPackedFormStays(t *testing.T) {
	const stored = "163mac6cmwf3k3nzj562b\"t\x06\x09100.00\x0a\x01"
	packed := event.Pack(event.VTUSuccess, bought)
	if !strings.HasPrefix(packed, stored) {
		t.Errorf("%q does not begin with %q", packed, stored)
	}
	const all = "1x\"r" + "\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d" +
		"\x05!\x05\"\x05#\x05$\x05%\x05&\x05'\x05(\x05)\x05*\x05+\x05,\x05-\x05.\x05/\x050\x051\x052\x053\x054\x055\x056\x057\x058\x059" +
		"\x05:\x05;\x05<\x05=\x05>\x05?\x05@\x05A\x05B\x05C\x05D\x05E\x05F\x05G\x05H\x05I\x05J\x05K\x05L\x05M"
	hash := sha256.Sum256([]byte(event.Unpack(all)))
	if got := hex.EncodeToString(hash[:8]); got != "9cca0ffde4a20504" {
		t.Errorf("the phrases have another hash: %s of %q", got, event.Unpack(all))
	}
}

// Whatever an event contains, its data is read as it was written. Other kinds and other texts stay as they
// are, and a text that Pack does not make is no error.
func TestAnEventIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(bought)
		for range rapid.IntRange(0, 6).Draw(t, "changes") {
			from := rapid.IntRange(0, len(data)).Draw(t, "from")
			to := rapid.IntRange(from, min(len(data), from+30)).Draw(t, "to")
			part := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
				"2026-13-45T22:51:23.917Z", "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00.000Z", "FFFFFFFF-7425-40de-944b-e07fc1f90ae7",
				"ffffffff-ffff-ffff-ffff-ffffffffffff", "\x01", "\x1e", `\u003c`, "1",
			})).Draw(t, "part")
			data = append(append(append([]byte(nil), data[:from]...), part...), data[to:]...)
		}
		kind := rapid.SampledFrom([]string{event.VTUPending, event.PayoutSuccess, event.CardFunded, event.CustomerCreated}).Draw(t, "kind")
		stored := event.Pack(kind, string(data))
		if !strings.HasPrefix(string(data), "1") && event.Unpack(stored) != string(data) {
			t.Fatalf("%q is stored as %q and read as %q", data, stored, event.Unpack(stored))
		}
		if kind == event.CustomerCreated && stored != string(data) {
			t.Fatalf("%s is packed", kind)
		}
		_ = event.Unpack("1" + rapid.String().Draw(t, "any"))
	})
}

func BenchmarkPack(b *testing.B) {
	for b.Loop() {
		event.Pack(event.VTUSuccess, bought)
	}
}

func BenchmarkUnpack(b *testing.B) {
	packed := event.Pack(event.VTUSuccess, bought)
	for b.Loop() {
		event.Unpack(packed)
	}
}
