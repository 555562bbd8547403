package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// program is a running development program.
type program struct {
	command *exec.Cmd
	folder  string
	waits   string // the reference of a payout about which a case is open
	key     struct {
		BaseURL      string `json:"base_url"`
		Reference    string `json:"reference"`
		APIKey       string `json:"api_key"`
		PIN          string `json:"pin"`
		SettlementID int64  `json:"settlement_id"`

		SettlementAccountNumber string `json:"settlement_account_number"`

		AdminKey     string `json:"admin_key"`
		SecondKey    string `json:"second_admin_key"`
		ConsoleURL   string `json:"console_url"`
		AppURL       string `json:"app_url"`
		SecondAppURL string `json:"second_app_url"`
		ThirdAppURL  string `json:"third_app_url"`
	}
}

// start starts a program in a folder of its own, and waits until it serves.
func start(ctx context.Context, kobo string) (*program, error) {
	folder, err := os.MkdirTemp("", "kobo-walk-")
	if err != nil {
		return nil, err
	}
	p := &program{folder: folder}
	credentials := filepath.Join(folder, "credentials.json")
	p.command = exec.CommandContext(ctx, kobo, "dev", "--four-eyes", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--credentials", credentials)
	p.command.Cancel = func() error { return p.command.Process.Signal(syscall.SIGTERM) }
	var said bytes.Buffer
	p.command.Stdout, p.command.Stderr = &said, &said
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if text, err := os.ReadFile(credentials); err == nil && json.Unmarshal(text, &p.key) == nil && p.key.BaseURL != "" {
			return p, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.stop()
	return nil, fmt.Errorf("%s did not start: %s", kobo, said.String())
}

// stop ends the program and removes its folder.
func (p *program) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	_ = p.command.Wait()
	_ = os.RemoveAll(p.folder)
}

// origin is the address of the console. Browsers take its cookies from localhost only.
func (p *program) origin() string {
	u, err := url.Parse(p.key.BaseURL)
	if err != nil {
		panic(err) // the program wrote it
	}
	return "http://localhost:" + u.Port()
}

// ask sends a request to the program. The answer is read into out, unless out is nil.
func (p *program) ask(method, path, header, value string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, p.key.BaseURL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if header != "" {
		r.Header.Set(header, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %d, %s", method, path, answer.StatusCode, said)
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(said, out)
}

// asCompany sends a request with an access token of the company.
func (p *program) asCompany(method, path string, body, out any) error {
	var token struct{ AccessToken string }
	if err := p.ask("POST", "/api/v1/auth/generate-token/"+p.key.Reference, "X-Api-Key", p.key.APIKey, nil, &token); err != nil {
		return err
	}
	return p.ask(method, path, "Authorization", "Bearer "+token.AccessToken, body, out)
}

// payout sends a payout and returns its reference. The end of the account number chooses the story.
func (p *program) payout(account string, naira int) (string, error) {
	var checked struct{ Data struct{ ID string } }
	err := p.asCompany("POST", "/api/v1/settlement/validate-account", map[string]any{
		"account_number": account, "bank_code": "000013", "fromSettlementId": p.key.SettlementID, "pin": p.key.PIN,
	}, &checked)
	if err != nil {
		return "", err
	}
	return checked.Data.ID, p.asCompany("POST", "/api/v1/settlement/send-payout", map[string]any{"verify_id": checked.Data.ID, "amount": naira}, nil)
}

// sessionID returns the session id that the bank has given a payout.
func (p *program) sessionID(reference string) (string, error) {
	var payout struct{ Data struct{ SessionID string } }
	err := p.asCompany("GET", "/api/v1/settlement/payout-status/"+reference, nil, &payout)
	return payout.Data.SessionID, err
}

// longNamed pays into the company's account under a name and with words that have no space, as anybody can do.
func (p *program) longNamed() error {
	return p.ask("POST", "/sandbox/credit", "", "", map[string]any{
		"accountNumber": p.key.SettlementAccountNumber, "amount": 1250,
		"senderName": "ADAEZE " + strings.Repeat("VERYLONG", 15), "narration": strings.Repeat("x", 90),
	}, nil)
}

// advance moves the clock of the sandbox, and waits for the work that became due.
func (p *program) advance(by time.Duration) error {
	return p.ask("POST", "/sandbox/clock", "", "", map[string]string{"advance": by.String()}, nil)
}

// openCase returns the id of the open case about a reference.
func (p *program) openCase(reference string) (string, error) {
	var cases struct {
		Data struct{ Data []struct{ ID string } }
	}
	if err := p.ask("GET", "/admin/v1/cases?subject="+reference, "Authorization", "Bearer "+p.key.AdminKey, nil, &cases); err != nil {
		return "", err
	}
	if len(cases.Data.Data) != 1 {
		return "", fmt.Errorf("%d cases about %s", len(cases.Data.Data), reference)
	}
	return cases.Data.Data[0].ID, nil
}

// link returns the sign-in link of the first operator, on the console's origin.
func (p *program) link() string {
	return p.origin() + p.key.ConsoleURL[strings.Index(p.key.ConsoleURL, "/console/"):]
}
