package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// ErrLive is the refusal of an instance that may move real money.
var ErrLive = errors.New(`kobo bench only drives an instance whose /healthz says "environment": "dev" or "staging"`)

// attach returns a running instance that the bench has not started.
func (o Options) attach(ctx context.Context, m mix) (*instance, error) {
	if !m.remote() {
		return nil, fmt.Errorf("%w: the mix needs several companies, and --url has the credentials of one", ErrOptions)
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: --url must be like http://127.0.0.1:8080", ErrOptions)
	}
	i := &instance{target: target{u.Host, u.Scheme == "https"}, companies: []Account{o.Account}}
	if u.Port() == "" {
		i.target.host += map[bool]string{false: ":80", true: ":443"}[i.target.secure]
	}
	p := place{target: i.target}
	text, err := p.ask(p.request(http.MethodGet, "/healthz", "", "", ""), "")
	if err != nil {
		return nil, err
	}
	var is struct{ Environment string }
	if err := json.Unmarshal(text, &is); err != nil || !slices.Contains([]string{"dev", "staging"}, is.Environment) {
		return nil, errors.Join(ErrLive, err)
	}
	if err := i.watch(ctx); err != nil {
		return nil, err
	}
	return i, i.target.tokens(ctx, i.companies)
}

// asked asks the program whether the company's ledger adds up.
func (i *instance) asked() error {
	p := place{target: i.target}
	text, err := p.ask(p.request(http.MethodGet, "/api/v1/integrity", i.companies[0].token, "", ""), "")
	if err != nil {
		return err
	}
	var is struct {
		Data struct {
			Intact   bool
			InFlight struct{ Intact bool }
		}
	}
	if err := json.Unmarshal(text, &is); err != nil || !is.Data.Intact || !is.Data.InFlight.Intact {
		return fmt.Errorf("the ledger is not sound: %s", text)
	}
	return nil
}
