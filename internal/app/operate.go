package app

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/secret"
)

// operatorsAPI returns the handler of the operators' API. If failed is nil, requests without a valid
// key have no limit.
func (a *App) operatorsAPI(failed *limit.Limit) (*admin.API, error) {
	return admin.New(admin.Config{
		Operators: a.Operators, People: a.People, Companies: a.Companies, Settlements: a.Settlements,
		Operations: a.Operations, Webhooks: a.Webhooks, Inbox: a.Inbox, Reports: a.Reports, Requests: a.Requests, Crypto: a.Crypto, Payouts: a.Payouts, Cards: a.Cards, Customers: a.Customers, Quotas: a.Quotas, Shop: a.Shop, Erasures: a.Erasures,
		Book: a.Book, Clock: a.Clock, Log: a.log, Failed: failed, PerSecond: int64(a.cfg.Limits.CompanyPerSecond), FourEyes: a.FourEyes(), HideSecrets: a.HidesSecrets(),
		Program: a.program(), InForce: a.inForce(), Worker: a.Worker,
	})
}

// FourEyes reports whether acts that can lead to money leaving need a second operator.
func (a *App) FourEyes() bool { return a.cfg.NeedsTwo() }

// sayFourEyes logs if one operator alone can do what can lead to money leaving.
func (a *App) sayFourEyes(ctx context.Context) {
	level := slog.LevelWarn
	if a.cfg.Mode.rules().simulates {
		level = slog.LevelInfo
	}
	if !a.FourEyes() {
		a.log.Log(ctx, level, "four_eyes is off: one operator alone can issue API keys, raise limits and reset PINs")
	}
}

// Operate sends a request to the operators' API inside this program, as the operator of the key. It
// returns the data of the response. With an error it returns the answers of the acts that were done.
func (a *App) Operate(ctx context.Context, key secret.Text, method, path string, body any) (json.RawMessage, error) {
	handler, err := a.operatorsAPI(nil)
	if err != nil {
		return nil, err
	}
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "/admin/v1/"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+key.Reveal())
	r.Header.Set("Content-Type", "application/json")
	w := &response{header: http.Header{}, status: http.StatusOK}
	handler.ServeHTTP(w, r)
	var said struct {
		Data    json.RawMessage
		Message string
		Details []string
		Answers json.RawMessage // of the acts that were done before the refusal
	}
	if err := json.Unmarshal(w.body.Bytes(), &said); err != nil {
		return nil, err
	}
	if w.status >= http.StatusBadRequest {
		return said.Answers, fault.New(fault.Refused, strings.Join(append([]string{said.Message}, said.Details...), "; "))
	}
	return said.Data, nil
}

// response keeps the response of a handler in memory.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) { w.status = status }

func (w *response) Write(b []byte) (int, error) { return w.body.Write(b) }
