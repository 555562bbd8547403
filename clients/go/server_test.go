package kobo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	kobo "github.com/kobo-waas/kobo/clients/go"
	"github.com/kobo-waas/kobo/clients/go/api"
)

// binary is the path of the server's program.
var binary string

// TestMain builds the server from this repository, unless KOBO_BIN names a program.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if binary = os.Getenv("KOBO_BIN"); binary == "" {
		folder, err := os.MkdirTemp("", "kobo-client-*")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		binary = filepath.Join(folder, "kobo")
		build := exec.Command("go", "build", "-o", binary, "./cmd/kobo")
		build.Dir, build.Stderr = "../..", os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "the server was not built:", err)
			return 1
		}
	}
	return m.Run()
}

// credentials are what kobo dev writes for a program.
type credentials struct {
	BaseURL      string `json:"base_url"`
	Reference    string `json:"reference"`
	APIKey       string `json:"api_key"`
	PIN          string `json:"pin"`
	SettlementID int64  `json:"settlement_id"`
}

// server is a running kobo dev with its own folder.
type server struct {
	t       testing.TB
	folder  string
	address string
	process *exec.Cmd
	credentials
}

// start starts a new kobo dev on loopback.
func start(t testing.TB) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, folder: t.TempDir(), address: l.Addr().String()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s.launch("--fresh")
	t.Cleanup(s.kill)
	return s
}

// launch starts the program, and waits until it responds.
func (s *server) launch(flags ...string) {
	s.t.Helper()
	file := filepath.Join(s.folder, "credentials.json")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	args := append([]string{"dev", "--listen", s.address, "--data", filepath.Join(s.folder, "data"), "--credentials", file}, flags...)
	log, err := os.OpenFile(filepath.Join(s.folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	s.process = exec.Command(binary, args...)
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; {
		text, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(text, &s.credentials) == nil {
			return
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(filepath.Join(s.folder, "log"))
			s.t.Fatalf("kobo dev is not ready after a minute:\n%s", said)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// kill ends the program as kill -9 does.
func (s *server) kill() {
	if s.process.ProcessState == nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait() // the error is the signal
	}
}

// client returns a client of the server's company.
func (s *server) client(options kobo.Options) *kobo.Client {
	s.t.Helper()
	c, err := kobo.New(s.BaseURL, s.Reference, s.APIKey, options)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// control calls a control of the sandbox, and reads the response into a value.
func (s *server) control(method, path string, body, into any) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequest(method, s.BaseURL+"/sandbox/"+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s %v", path, res.StatusCode, answer, err)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *server) advance(by string) {
	s.t.Helper()
	s.control("POST", "clock", map[string]string{"advance": by}, nil)
}

// settle moves the clock until all followers have the end of their payments. The access tokens expire on
// the way.
func (s *server) settle(all *sync.WaitGroup) {
	s.t.Helper()
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for {
		s.advance("6m")
		select {
		case <-done:
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// executions returns how often the providers executed each payment, by its reference.
func (s *server) executions() map[string]int {
	s.t.Helper()
	var books struct {
		Data []struct {
			Reference  string
			Executions int
		}
	}
	s.control("GET", "provider-ledger", nil, &books)
	out := map[string]int{}
	for _, row := range books.Data {
		out[row.Reference] += row.Executions
	}
	return out
}

// shop has what the orders of a test need.
type shop struct {
	*server
	c       *kobo.Client
	network string
	card    string
}

// newShop looks up a network for airtime, and makes a card.
func newShop(t testing.TB, s *server, c *kobo.Client) *shop {
	t.Helper()
	ctx := t.Context()
	sh := &shop{server: s, c: c}
	services := must(c.API().ListServicesWithResponse(ctx))(t).JSON200.Data
	for _, one := range services {
		if strings.EqualFold(one.ServiceName, "Airtime") {
			sh.network = must(c.API().ListServiceCategoriesWithResponse(ctx, one.ServiceID))(t).JSON200.Data[0].ServiceCategoryID
		}
	}
	customer := must(c.API().CreateCustomerWithResponse(ctx, nil, api.CustomerRequest{
		FirstName: "Ada", LastName: "Sample", Email: "ada@example.com", PhoneNumber: "08031234567",
		Bvn: json.RawMessage(`"22222222211"`), DateOfBirth: "1990-05-17", Address: &api.Address{Line1: "1 Marina", City: "Lagos", State: "Lagos"},
	}))(t).JSON200.Data.ID
	must(c.API().GenerateCustomerAccountWithResponse(ctx, nil, api.CustomerAccountRequest{CustomerID: customer, Otp: "123456", SettlementID: s.SettlementID}))(t)
	sh.card = must(c.API().GenerateCardWithResponse(ctx, nil, api.CardRequest{CustomerID: customer, Type: "virtual"}))(t).JSON200.Data.CardID
	return sh
}

// must returns a function that fails the test if there is an error, and else returns the value.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// airtime, payout and funding each make an order with a story of the sandbox. The order may be sent
// again.

func (s *shop) airtime(story string) func(context.Context) kobo.Outcome {
	order := api.AirtimePurchase{
		IdempotencyKey: kobo.NewKey(), ServiceCategoryID: s.network, PhoneNumber: "080312345" + story, Amount: 100_00, SettlementID: s.SettlementID,
	}
	return func(ctx context.Context) kobo.Outcome { return s.c.BuyAirtime(ctx, order) }
}

func (s *shop) payout(story string) func(context.Context) kobo.Outcome {
	key, order := kobo.NewKey(), s.validated(story)
	return func(ctx context.Context) kobo.Outcome { return s.c.SendPayout(ctx, key, order) }
}

// validated returns a payout to an account that was validated.
func (s *shop) validated(story string) api.PayoutOrder {
	s.t.Helper()
	checked := must(s.c.API().ValidateAccountWithResponse(s.t.Context(), nil, api.AccountValidation{
		BankCode: "000014", AccountNumber: "01234567" + story, Pin: s.PIN, FromSettlementID: s.SettlementID,
	}))(s.t).JSON200.Data
	return api.PayoutOrder{VerifyID: checked.ID, Amount: 1500_50, Narration: "Rent"}
}

func (s *shop) funding(story string) func(context.Context) kobo.Outcome {
	key, amount := kobo.NewKey(), must(kobo.ParseNaira("50"+story))(s.t)
	return func(ctx context.Context) kobo.Outcome {
		return s.c.FundCard(ctx, key, api.CardFundingOrder{CardID: s.card, Amount: amount})
	}
}
