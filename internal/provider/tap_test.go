package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/provider"
)

// exchanged sends one call through a tap, and returns the recorded exchange as JSON.
func exchanged(t *testing.T, path, request, response string, private bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "session=cookieSecret")
		_, _ = io.WriteString(w, response)
	}))
	defer server.Close()
	var kept []provider.Exchange
	tap := &provider.Tap{Base: server.URL + "/base/keyOfTheNode", Private: private, Clock: clock.System{}, Record: func(e provider.Exchange) error {
		kept = append(kept, e)
		return nil
	}}
	client, err := provider.NewClient(provider.ClientConfig{BaseURL: tap.Base, Around: tap.Around})
	if err != nil {
		t.Fatal(err)
	}
	reply := client.Read(t.Context(), provider.Call{
		Method: http.MethodPost, Path: path, Body: json.RawMessage(request), Header: http.Header{"Authorization": {"Bearer headerSecret"}},
	})
	if string(reply.Body) != response || len(kept) != 1 {
		t.Fatalf("the tap changed the reply to %q, and kept %d exchanges", reply.Body, len(kept))
	}
	text, err := json.Marshal(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A recording has no secret and no personal data, wherever they are in an exchange. What a fixture
// needs stays.
func TestARecordingHasNoSecretAndNoPerson(t *testing.T) {
	const request = `{"bvn":"22222222222","otp":"123456","identityNumber":22222222223,"accountNumber":"0123456789","amount":1234567,"cardNumber":"5061000000000000001"}`
	const response = `{"statusCode":200,"data":{"accountName":"ADA SAMPLE","firstName":"ADA","phoneNumber":"+2348030000010","emailAddress":"ada@example.com",
		"maskedPan":"506100*********0001","defaultPin":"4321","balance":98765432.5,"_id":"64cc00000000000000000001","list":[{"narration":"from ADA SAMPLE"}],
		"customer":{"billingAddress":{"line1":"12 Allen Avenue","city":"Ikeja","landmark":"beside the park"}},
		"responseMessage":"headerSecret of 08030000010 at https://host/keyOfTheNode is 0123456789, card 5061000000000000001, eyJhbGciOi.x",
		"status":"successful","responseCode":"00","free":"ada@example.com","sum":22222222222}}`
	got := exchanged(t, "/accounts/0123456789/statement?page=2&token=abc&account=0123456789", request, response, false)
	for _, secret := range []string{
		"22222222222", "22222222223", "123456\"", "0123456789", "5061000000000000001", "ADA", "8030000010", "ada@", "4321", "headerSecret", "keyOfTheNode", "cookieSecret",
		"token=abc", "eyJ", "506100", "Allen", "Ikeja", "park",
	} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in %s", secret, got)
		}
	}
	for _, useful := range []string{
		`"accountNumber":"01******89"`, `"amount":1234567`, `"balance":98765432.5`, `"_id":"64cc00000000000000000001"`, `"status":"successful"`, `"responseCode":"00"`,
		"/accounts/:id/statement?", "page=2", `"Authorization":"[redacted]"`, `"Content-Type":"application/json"`,
	} {
		if !strings.Contains(got, strings.ReplaceAll(useful, "&", `\u0026`)) {
			t.Errorf("%s is not in %s", useful, got)
		}
	}
}

// The names on lists of banks and products are public, and so is what a blockchain shows. The
// address of a node is a secret.
func TestARecordingKeepsPublicLists(t *testing.T) {
	if got := exchanged(t, "/transfers/banks", `{}`, `{"data":[{"name":"Safe Haven","bankCode":"090286"}]}`, false); !strings.Contains(got, "Safe Haven") {
		t.Error(got)
	}
	hash := "0x" + strings.Repeat("ab", 32)
	got := exchanged(t, "", `[]`, `{"id":0,"result":{"hash":"`+hash+`","number":"0x1b4"},"message":"not JSON of keyOfTheNode"}`, true)
	if !strings.Contains(got, hash) || !strings.Contains(got, "0x1b4") || strings.Contains(got, "keyOfTheNode") || strings.Contains(got, "127.0.0.1") {
		t.Error(got)
	}
	if got := exchanged(t, "/x", `{}`, `<p>call 08030000010</p>`, false); strings.Contains(got, "0803") || !strings.Contains(got, "call") {
		t.Error(got)
	}
}

// The host of a node is a secret, so an error does not name it.
func TestTheHostOfANodeIsNotShown(t *testing.T) {
	tap := &provider.Tap{Base: "http://keyOfTheNode.invalid", Private: true, Clock: clock.System{}}
	if detail, err := tap.CheckHost(t.Context()); err == nil || strings.Contains(strings.ToLower(err.Error()), "keyofthenode") {
		t.Error(detail, err)
	}
}

// A small difference between the clocks is fine, a larger one is a warning, and a large one fails.
func TestTheClockIsComparedWithTheDateHeader(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for ahead, want := range map[time.Duration]provider.Verdict{
		0: provider.Fine, 3 * time.Second: provider.Fine, 10 * time.Second: provider.Warning, -10 * time.Second: provider.Warning,
		time.Minute: provider.Failed, -time.Hour: provider.Failed,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", now.Add(ahead).Format(http.TimeFormat))
		}))
		tap := &provider.Tap{Base: server.URL, Clock: clock.At(now)}
		all := provider.RunChecks(t.Context(), "x", []provider.Check{{Name: "host", Ask: tap.CheckHost}, {Name: "clock", Ask: tap.CheckClock, Action: "do"}})
		if all[0].Result != provider.Fine || all[1].Result != want {
			t.Errorf("%s ahead: %+v", ahead, all)
		}
		server.Close()
	}
	tap := &provider.Tap{Clock: clock.At(now)}
	if all := provider.RunChecks(t.Context(), "x", []provider.Check{{Name: "clock", Ask: tap.CheckClock}}); all[0].Result != provider.Skipped {
		t.Errorf("without any response: %+v", all)
	}
}

// The checks after a needed one are skipped if it fails. Only warnings and failures have an action.
func TestAFailedNeedSkipsTheRest(t *testing.T) {
	passes := func(context.Context) (string, error) { return "well", nil }
	fails := func(context.Context) (string, error) { return "unused", errors.New("broken") }
	warns := func(context.Context) (string, error) { return "", provider.Warn("odd %d", 1) }
	all := provider.RunChecks(t.Context(), "x", []provider.Check{
		{Name: "a", Ask: passes, Action: "do", Needed: true},
		{Name: "b", Ask: warns, Action: "do", Needed: true},
		{Name: "c", Ask: fails, Action: "do"},
		{Name: "d", Ask: fails, Action: "do", Needed: true},
		{Name: "e", Ask: passes, Action: "do"},
	})
	var got []string
	for _, c := range all {
		got = append(got, strings.Join([]string{c.Check, string(c.Result), c.Detail, c.Action}, "|"))
	}
	want := "a|ok|well| b|warning|odd 1|do c|failed|broken|do d|failed|broken|do e|skipped|needs the check d|"
	if strings.Join(got, " ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, " "), want)
	}
}
