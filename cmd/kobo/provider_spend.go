package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kobo-waas/kobo/internal/app"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// These are the amounts of the operations that spend makes. They are small, and billers, banks and
// issuers in Nigeria accept them.
const (
	smallestAirtime money.Kobo = 50_00
	smallestPayout  money.Kobo = 50_00
	smallestFunding money.Kobo = 100_00
)

// spendOptions are the flags of a check that spends money of a company.
type spendOptions struct {
	amount, company, server, apiKeyFile, pinFile string
	phone, network, to, card, state              string
	settlement                                   int64
	yes                                          bool
	wait                                         time.Duration
}

// spendFlags adds the flags of a check that spends money of a company, and returns their values.
func spendFlags(f *pflag.FlagSet) *spendOptions {
	o := &spendOptions{}
	f.StringVar(&o.amount, "spend", "", "spend at most this many `NAIRA` of the company on the smallest ordinary operations")
	f.StringVar(&o.company, "company", "", "`REFERENCE` of the company whose money is spent")
	f.StringVar(&o.server, "server", "", "`URL` of the running Kobo, such as https://kobo.example.com")
	f.StringVar(&o.apiKeyFile, "api-key-file", "", "`FILE` with an API key of the company")
	f.StringVar(&o.pinFile, "pin-file", "", "`FILE` with the company's transaction PIN; needed for the payout")
	f.StringVar(&o.phone, "phone", "", "phone `NUMBER` that gets the airtime; without it no airtime is bought")
	f.StringVar(&o.network, "network", "", "`NAME` of the phone's network, such as MTN; the default is the first in the catalogue")
	f.StringVar(&o.to, "to", "", "account that gets the payout, as `BANK:ACCOUNT`, such as 000014:0123456789; without it nothing is paid out")
	f.StringVar(&o.card, "card", "", "`ID` of the card that is funded; without it no card is funded")
	f.Int64Var(&o.settlement, "account", 0, "`ID` of the settlement account that pays; the default is the company's default account")
	f.StringVar(&o.state, "state", "", "`FILE` with the order that is under way; the default is kobo/spend-REFERENCE.json in your configuration directory")
	f.BoolVar(&o.yes, "yes", false, "do not ask for a confirmation")
	f.DurationVar(&o.wait, "wait", 2*time.Minute, "how long to follow an operation whose outcome is unknown")
	return o
}

// still is the error for operations whose outcome is still unknown.
type still struct{ error }

func (s still) Unwrap() error { return s.error }

// spend runs the smallest ordinary operations of a company at a running Kobo: airtime, a payout and the
// funding of a card. It is a client of the company API, so each operation has an intent, a resolver and
// events as always. It prints each operation with its outcome. It returns an error unless all succeed.
//
// If an earlier run has sent an order and not seen its outcome, spend only settles that order.
func spend(ctx context.Context, in io.Reader, out io.Writer, o *spendOptions) error {
	most, err := money.Asked(o.amount)
	if err != nil {
		return usagef("--spend %q %w", o.amount, err)
	}
	s, err := o.spender(most, out)
	if err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	if earlier, err := s.unsettled(); earlier != nil || err != nil {
		return errors.Join(err, s.resume(ctx, in, earlier))
	}
	orders, err := s.plan(ctx)
	if err != nil {
		return err
	}
	if err := s.confirm(in, orders); err != nil {
		return err
	}
	return s.run(ctx, orders)
}

// spender is a client of the company API that spends money.
type spender struct {
	*developer
	spendOptions
	most money.Kobo
	pin  string
	out  io.Writer
	from settlementAccount
}

// spender checks the options, and reads the files with the secrets.
func (o *spendOptions) spender(most money.Kobo, out io.Writer) (*spender, error) {
	for flag, text := range map[string]string{"company": o.company, "server": o.server, "api-key-file": o.apiKeyFile} {
		if text == "" {
			return nil, usagef("--spend needs --%s", flag)
		}
	}
	at, err := url.Parse(o.server)
	switch {
	case err != nil || at.Host == "" || !provider.Secure(at):
		return nil, usagef("--server must be an https:// URL, or lead to this machine")
	case o.phone == "" && o.to == "" && o.card == "":
		return nil, usagef("--spend needs --phone, --to or --card")
	case o.to != "" && o.pinFile == "":
		return nil, usagef("--to needs --pin-file")
	case o.to != "" && !strings.Contains(o.to, ":"):
		return nil, usagef("--to is written BANK:ACCOUNT")
	case o.wait < 0:
		return nil, usagef("--wait must not be negative")
	}
	s := &spender{spendOptions: *o, most: most, out: out}
	s.developer = &developer{http: &http.Client{
		Timeout: 2 * time.Minute,
		// A redirect would carry the API key and the PIN to an address that nobody has checked.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	s.Credentials = app.Credentials{BaseURL: strings.TrimSuffix(o.server, "/"), Reference: o.company}
	if s.APIKey, err = secretIn(o.apiKeyFile); err == nil && o.pinFile != "" {
		s.pin, err = secretIn(o.pinFile)
	}
	if err == nil && s.state == "" {
		s.state, err = stateFile(o.company)
	}
	return s, err
}

func secretIn(path string) (string, error) {
	text, err := os.ReadFile(path)
	if secret := strings.TrimSpace(string(text)); err != nil || secret != "" {
		return secret, err
	}
	return "", fmt.Errorf("%s is empty", path)
}

// settlementAccount is a settlement account as the API shows it.
type settlementAccount struct {
	ID        int64
	Name      string
	Balance   json.Number
	IsDefault bool
	Status    string
}

// begin prints the environment of the running Kobo, and chooses the account that pays.
func (s *spender) begin(ctx context.Context) error {
	var health struct{ Environment string }
	if err := s.ask(ctx, http.MethodGet, "/healthz", nil, &health); err != nil {
		return err
	}
	if err := s.account(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s (%s): company %s, settlement account %d (%s), balance ₦%s\n",
		s.BaseURL, health.Environment, s.Reference, s.from.ID, s.from.Name, s.from.Balance)
	return nil
}

// account reads the settlement account that pays. Kobo funds cards from the default account only.
func (s *spender) account(ctx context.Context) error {
	var all []settlementAccount
	if err := s.api(ctx, http.MethodGet, "/api/v1/settlement/accounts", nil, &all); err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(a settlementAccount) bool {
		return a.ID == s.settlement || s.settlement == 0 && a.IsDefault
	})
	if at < 0 || all[at].Status != "ACTIVE" {
		return errors.New("the company has no active settlement account of this id")
	}
	s.from = all[at]
	if s.card != "" && !s.from.IsDefault {
		return fmt.Errorf("cards are funded from the default account only, which is not %d: leave out --card or --account", s.from.ID)
	}
	return nil
}

// order is one operation that spend makes. It contains no secret.
type order struct {
	What         string // for the printed list
	Path         string // below /api/v1/
	Key          string // the Idempotency-Key, so that a repeated request moves nothing twice
	Body         map[string]any
	Show         string // the path that shows the operation's outcome, before its reference
	Amount, Cost money.Kobo
}

// plan returns the orders in turn. For each it asks the server what the order would cost, which moves
// no money. It returns an error if an order would be refused, or if all cost more than allowed.
func (s *spender) plan(ctx context.Context) (orders []order, err error) {
	for _, next := range []func(context.Context) (order, bool, error){s.airtime, s.payout, s.funding} {
		o, wanted, err := next(ctx)
		if err != nil {
			return nil, err
		}
		if wanted {
			orders = append(orders, o)
		}
	}
	var total money.Kobo
	for i := range orders {
		if err := s.preview(ctx, &orders[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", orders[i].What, err)
		}
		total += orders[i].Cost
	}
	if total > s.most {
		return nil, fmt.Errorf("the operations cost %s together, which is more than %s: nothing was spent", total, s.most)
	}
	return orders, nil
}

// airtime returns the order of airtime for the phone, if a phone is given.
func (s *spender) airtime(ctx context.Context) (order, bool, error) {
	if s.phone == "" {
		return order{}, false, nil
	}
	var services []struct{ ServiceID, ServiceName string }
	if err := s.api(ctx, http.MethodGet, "/api/v1/vtu/services", nil, &services); err != nil {
		return order{}, false, err
	}
	for _, one := range services {
		if one.ServiceName != "Airtime" {
			continue
		}
		var networks []struct{ ServiceCategoryID, ServiceCategoryName string }
		if err := s.api(ctx, http.MethodGet, "/api/v1/vtu/service/"+one.ServiceID+"/categories", nil, &networks); err != nil {
			return order{}, false, err
		}
		for _, n := range networks {
			if s.network == "" || strings.EqualFold(s.network, n.ServiceCategoryName) {
				key := "spend-" + id.New()
				return order{
					What: "airtime of " + n.ServiceCategoryName + " for " + s.phone, Path: "vtu/purchase-airtime", Key: key, Show: "vtu/transaction/", Amount: smallestAirtime,
					Body: map[string]any{
						"idempotencyKey": key, "serviceCategoryId": n.ServiceCategoryID, "phoneNumber": s.phone,
						"amount": smallestAirtime, "settlementId": s.from.ID,
					},
				}, true, nil
			}
		}
	}
	return order{}, false, fmt.Errorf("no airtime of the network %q is on sale", s.network)
}

// payout returns the order of a payout, if an account is given. It first asks the bank for the name of
// the account's holder.
func (s *spender) payout(ctx context.Context) (order, bool, error) {
	bank, account, given := strings.Cut(s.to, ":")
	if !given {
		return order{}, false, nil
	}
	var checked struct {
		ID          string
		AccountName string `json:"account_name"`
	}
	err := s.api(ctx, http.MethodPost, "/api/v1/settlement/validate-account", map[string]any{
		"bank_code": bank, "account_number": account, "pin": s.pin, "fromSettlementId": s.from.ID,
	}, &checked)
	if err != nil {
		return order{}, false, fmt.Errorf("the name enquiry: %w", err)
	}
	return order{
		What: "payout to " + checked.AccountName + ", " + s.to, Path: "settlement/send-payout", Key: "spend-" + id.New(), Show: "settlement/payout-status/",
		Amount: smallestPayout,
		Body:   map[string]any{"verify_id": checked.ID, "amount": smallestPayout, "narration": "provider check"},
	}, true, nil
}

// funding returns the order that funds the card, if a card is given.
func (s *spender) funding(ctx context.Context) (order, bool, error) {
	if s.card == "" {
		return order{}, false, nil
	}
	var c struct{ ID, Status, MaskedPan string }
	if err := s.api(ctx, http.MethodGet, "/api/v1/card/get-card/"+url.PathEscape(s.card), nil, &c); err != nil {
		return order{}, false, fmt.Errorf("the card: %w", err)
	}
	if c.Status != "active" {
		return order{}, false, fmt.Errorf("the card %s is %s: nothing was spent", c.MaskedPan, c.Status)
	}
	return order{
		What: "funding of the card " + c.MaskedPan, Path: "card/fund-card", Key: "spend-" + id.New(), Show: "card/transaction/", Amount: smallestFunding,
		Body: map[string]any{"cardId": c.ID, "amount": smallestFunding},
	}, true, nil
}

// preview asks what an order would cost with its fee.
func (s *spender) preview(ctx context.Context, o *order) error {
	var p struct {
		WouldSucceed bool
		Refusal      string
		Total        json.RawMessage // a number or a text
	}
	if err := s.api(ctx, http.MethodPost, "/api/v1/"+o.Path+"?dry_run=true", o.Body, &p); err != nil {
		return err
	}
	if !p.WouldSucceed {
		return errors.New(cmp.Or(p.Refusal, "the company may not do this"))
	}
	cost, err := money.Parse(strings.Trim(string(p.Total), `"`))
	o.Cost = cost
	return err
}

// confirm shows the orders and the account that pays, and reads the text that confirms them. It does
// nothing if the options leave the confirmation out.
func (s *spender) confirm(in io.Reader, orders []order) error {
	if s.yes {
		return nil
	}
	var total money.Kobo
	t := newTable(s.out, "OPERATION AMOUNT WITH_FEE")
	for _, o := range orders {
		total += o.Cost
		t.row(o.What, o.Amount, o.Cost)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	want := "spend " + total.Decimal()
	fmt.Fprintf(s.out, "This is real money of the company, from its settlement account %d (%s). To go on, type: %s\n", s.from.ID, s.from.Name, want)
	line, err := bufio.NewReader(in).ReadString('\n')
	if strings.TrimSpace(line) != want {
		return errors.Join(errors.New("not confirmed: nothing was spent"), notEOF(err))
	}
	return nil
}

// notEOF returns an error of a reader, except for the end of the input.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
