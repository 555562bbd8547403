package vtu_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/provider"
	"github.com/kobo-waas/kobo/internal/settlement"
	"github.com/kobo-waas/kobo/internal/vtu"
)

// told returns the kinds of the company's events about a purchase, and the data of the last one.
func (s *street) told(o operation.Operation) (kinds string, last string) {
	s.t.Helper()
	all, _, err := event.NewService(s.db, s.Book).Feed(s.t.Context(), s.company, 0, 1000, 0)
	s.must(err)
	for _, e := range all {
		if strings.Contains(string(e.Data), o.ID) {
			kinds, last = kinds+" "+e.Kind, string(e.Data)
		}
	}
	return strings.TrimSpace(kinds), last
}

// Each code that a meter needs reaches the company. "N/A" is not a code.
func TestACompanyGetsAllCodesForAMeter(t *testing.T) {
	onStreet(t, provider.Unproven, "*=vtpass", func(t *testing.T, s *street) {
		for meter, keys := range map[string]bool{"45012345688": false, "47012345688": true, "47012345602": true} {
			o := s.resolve(s.power(meter), time.Minute)
			s.stands(meter, o, vtu.Success, "")
			m := provider.ReadMeterCodes(o.Codes)
			if len(o.Token) != 20 || len(m.BonusToken) != 20 || m.Units != "12.5" || (len(m.KCT1) == 20 && len(m.KCT2) == 20) != keys || (m.KCT1 == "") == keys {
				t.Errorf("%s: token %s, %+v", meter, o.Token, m)
			}
			if _, last := s.told(o); !strings.Contains(last, `"bonusToken":"`+m.BonusToken+`"`) || strings.Contains(last, `"kct1":"`) != keys {
				t.Errorf("%s: the event says %s", meter, last)
			}
		}
		if plain := s.data("10"); plain.Codes != "" {
			t.Errorf("data has codes: %s", plain.Codes)
		}
	})
}

// callback sends a body to the handler of VTpass's callbacks.
func (s *street) callback(body string) (status int, answer string) {
	s.t.Helper()
	w := httptest.NewRecorder()
	genuine := func(r *http.Request) bool { return r.URL.Path == "/callbacks/vtpass/secret" }
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/callbacks/vtpass/secret", strings.NewReader(body))
	s.CallbackHandler("vtpass", genuine).ServeHTTP(w, r)
	text, err := io.ReadAll(w.Body)
	s.must(err)
	return w.Code, string(bytes.TrimSpace(text))
}

func update(o operation.Operation, code string) string {
	return fmt.Sprintf(`{"type":"transaction-update","data":{"code":%q,"requestId":"203001020304%s","content":{"transactions":{"status":"reversed"}}}}`, code, o.ID)
}

// A callback is never believed, whatever it reports. VTpass's reply to the requery decides.
func TestACallbackIsOnlyAReasonToAsk(t *testing.T) {
	onStreet(t, provider.Unproven, "*=vtpass", func(t *testing.T, s *street) {
		o := s.data("10")
		for body, want := range map[string]string{
			update(o, "040"): `200 {"response":"success"}`,
			update(operation.Operation{ID: "unknown0000000000000"}, "040"): `200 {"response":"success"}`,
			`{"type":"variation-update","data":{}}`:                        `200 {"response":"success"}`,
			`{"type":"transaction-update","data":{"requestId":"2030"}}`:    `200 {"response":"success"}`,
			`none`: `400 {"status":"error","message":"The callback cannot be read"}`,
		} {
			if status, answer := s.callback(body); fmt.Sprint(status, " ", answer) != want {
				t.Errorf("%s: %d %s", body, status, answer)
			}
		}
		s.stands("a lie", s.find(o.ID), vtu.Success, "")
		pending := s.data("06") // the second requery reports the delivery
		for range 2 {
			s.callback(update(pending, "040"))
		}
		s.stands("delivered", s.find(pending.ID), vtu.Success, "")
	})
}

// VTpass may return the money after it has reported the delivery. Two operators decide whether the
// company gets the money back.
func TestAReversalAfterTheDeliveryIsACase(t *testing.T) {
	onStreet(t, provider.Unproven, "*=vtpass", func(t *testing.T, s *street) {
		o := s.data("10")
		before, err := s.Book.Balance(t.Context(), s.company, settlement.LedgerAccount(s.settlement))
		s.must(err)
		s.control("POST", "/sandbox/vtpass-reverse", `{"reference": "`+o.ID+`", "silent": true}`)
		for range 2 {
			if status, answer := s.callback(update(o, "000")); status != 200 {
				t.Errorf("%d %s", status, answer)
			}
		}
		if now := s.find(o.ID); now.State != vtu.Success || s.cases(o) != string(operation.Contradiction) {
			t.Fatalf("%s, cases %s", now.State, s.cases(o))
		}
		cases, _, err := s.operations.Cases(t.Context(), operation.CaseFilter{State: operation.Open, Subject: o.ID}, 1, 0)
		s.must(err)
		balance := func() money.Kobo {
			k, err := s.Book.Balance(t.Context(), s.company, settlement.LedgerAccount(s.settlement))
			s.must(err)
			return k
		}
		for _, by := range []string{"ada", "bola"} {
			if balance() != before {
				t.Error("the money moved before two operators agreed")
			}
			_, err := s.operations.ResolveCase(t.Context(), cases[0].ID, operation.Finding{Outcome: operation.FoundRejected}, "seen on the dashboard", by, operator.Operator{Name: by}.Note)
			s.must(err)
		}
		if now := s.find(o.ID); now.State != operation.Reversed || balance() != before+o.Amount {
			t.Errorf("%s, the balance is %s, was %s", now.State, balance(), before)
		}
		kinds, last := s.told(o)
		if kinds != "vtu.pending vtu.success vtu.reversed" || !strings.Contains(last, `"status":"REVERSED"`) || !strings.Contains(last, `"refunded":true`) {
			t.Errorf("told %s, %s", kinds, last)
		}
		if status, _ := s.callback(update(o, "040")); status != 200 || balance() != before+o.Amount {
			t.Errorf("a repeated callback: %d", status)
		}
	})
}

// wallets returns our wallets at the billers, with the level below which each counts as low.
func (s *street) wallets(low map[string]money.Kobo) *purse {
	return &purse{s, provider.NewWallets(map[string]provider.Wallet{"vtpass": s.pass}, low, s.clock)}
}

type purse struct {
	*street
	*provider.Wallets
}

// The balance of the wallet is asked for every five minutes, and shown as a metric.
func TestTheWalletIsShown(t *testing.T) {
	onStreet(t, provider.Unproven, "*=vtpass", func(t *testing.T, s *street) {
		w := s.wallets(nil)
		if got := w.wallet(); got != "" {
			t.Errorf("before the first reading: %s", got)
		}
		s.must(w.Ask(t.Context()))
		full := w.wallet()
		s.data("10")
		s.must(w.Ask(t.Context()))
		if again := w.wallet(); full == "" || again != full {
			t.Errorf("asked again too soon: %s, then %s", full, again)
		}
		s.clock.MoveTo(s.clock.Offset() + 5*time.Minute)
		s.must(w.Ask(t.Context()))
		if less := w.wallet(); less == full {
			t.Errorf("not asked again: %s", less)
		}
	})
}

// The lowest level of a wallet is shown next to its balance. While the biller does not report the
// balance, the age of the reading grows.
func TestTheLowLevelOfAWalletIsShown(t *testing.T) {
	onStreet(t, provider.Unproven, "*=vtpass", func(t *testing.T, s *street) {
		w := s.wallets(map[string]money.Kobo{"vtpass": 50_000_00, "other": 1})
		if low, age := w.gauge("kobo_provider_wallet_low_naira"), w.gauge("kobo_provider_wallet_age_seconds"); !strings.Contains(low, "50000") || age != "" {
			t.Errorf("before the first question: %s, %s", low, age)
		}
		s.must(w.Ask(t.Context()))
		read := w.Last()["vtpass"]
		if len(w.Last()) != 1 || read.Balance == 0 || read.Low != 50_000_00 {
			t.Errorf("%+v", w.Last())
		}
		s.wire.CloseClientConnections()
		s.wire.Config.Handler = http.NotFoundHandler()
		s.clock.MoveTo(s.clock.Offset() + time.Hour)
		if err := w.Ask(t.Context()); err == nil {
			t.Error("a biller without a balance has one")
		}
		if again := w.Last()["vtpass"]; again != read || !strings.Contains(w.gauge("kobo_provider_wallet_age_seconds"), "value:36") {
			t.Errorf("%+v, %s", again, w.gauge("kobo_provider_wallet_age_seconds"))
		}
	})
}

// wallet returns the balances of the wallets as the metrics show them.
func (w *purse) wallet() string {
	w.t.Helper()
	return w.gauge("kobo_provider_wallet_naira")
}

// gauge returns the values of a gauge, or "" if it has none.
func (w *purse) gauge(name string) string {
	w.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.Metrics(slog.New(slog.DiscardHandler))...)
	families, err := registry.Gather()
	w.must(err)
	for _, f := range families {
		if f.GetName() == name {
			return fmt.Sprint(f.GetMetric())
		}
	}
	return ""
}
