package safehaven

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

var (
	_ provider.Checker = (*Plug)(nil)
	_ provider.Wallet  = (*Plug)(nil)
)

// Checks returns the questions that show whether our account at the bank is set up right.
func (p *Plug) Checks() []provider.Check {
	return []provider.Check{
		{Name: "token", Ask: p.checkToken, Needed: true, Action: "Compare client_id, issuer and audience with the OAuth client in Safe Haven's dashboard. Upload the public key of private_key_file there, or renew assertion. See the check \"clock\" too."},
		{Name: "main_account", Ask: p.checkAccount, Action: "Set debit_account to a main account that Safe Haven's dashboard lists for this client."},
		{Name: "balance", Ask: p.checkBalance, Action: "Send money to the main account: payouts and purchases are paid from it."},
		{Name: "bank_code", Ask: p.checkBankCode, Action: "Set bank_code to Safe Haven's own code: 090286 in the live system, 999240 in the test system."},
		{Name: "name_enquiry", Ask: p.checkName, Action: "Ask Safe Haven to allow transfers for this client. See the checks \"bank_code\" and \"main_account\" too."},
		{Name: "catalogue", Ask: func(ctx context.Context) (string, error) { return provider.CheckCatalogue(ctx, p) }, Action: "Ask Safe Haven to allow VAS for this client, or sell through another biller with vtu.routes."},
		{Name: "transfer_lookup", Ask: p.checkTransferLookup, Action: "Do not pay out yet: Kobo could not tell a lost payout from one that was never made. Report the reply of --record."},
		{Name: "sale_lookup", Ask: p.checkSaleLookup, Action: "Leave lookup_by_reference at unproven: operators then decide about purchases without an outcome. Report the reply of --record."},
	}
}

func (p *Plug) checkToken(ctx context.Context) (string, error) {
	if _, failed := p.session.current(ctx); failed != nil {
		return "", failed.Cause
	}
	return "the bank accepts the client and its assertion", nil
}

// mainAccount returns our account as the bank's list shows it.
func (p *Plug) mainAccount(ctx context.Context) (ours account, err error) {
	failed := p.accounts(ctx, false, func(a account) bool {
		ours = a
		return string(a.Number) == p.account
	})
	switch {
	case failed != nil:
		return ours, failed
	case string(ours.Number) != p.account:
		return ours, fmt.Errorf("the account %s is not in the bank's list of our main accounts", masked(p.account))
	}
	return ours, nil
}

func (p *Plug) checkAccount(ctx context.Context) (string, error) {
	_, err := p.mainAccount(ctx)
	return masked(p.account) + " is one of our main accounts", err
}

func (p *Plug) checkBalance(ctx context.Context) (string, error) {
	left, err := p.Balance(ctx)
	switch {
	case errors.Is(err, errNoBalance):
		return "", provider.Warn("%v", err)
	case err != nil:
		return "", err
	case left <= 0:
		return "", provider.Warn("%s is left", left)
	}
	return left.String() + " is left", nil
}

var errNoBalance = errors.New("the bank's list does not show the balance")

// Balance returns what is left in our main account, from which payouts and purchases are paid.
func (p *Plug) Balance(ctx context.Context) (money.Kobo, error) {
	ours, err := p.mainAccount(ctx)
	if err != nil {
		return 0, err
	}
	left, ok := naira(ours.Balance)
	if !ok {
		return 0, errNoBalance
	}
	return left, nil
}

func (p *Plug) checkBankCode(ctx context.Context) (string, error) {
	ours, err := p.mainAccount(ctx)
	if err == nil && ours.BankCode != "" && string(ours.BankCode) != p.bankCode {
		return "", fmt.Errorf("our account is at the bank %s, and bank_code is %s", ours.BankCode, p.bankCode)
	}
	banks, err := p.Banks(ctx)
	if err != nil {
		return "", err
	}
	own := slices.IndexFunc(banks, func(b provider.BankCode) bool { return b.Code == p.bankCode })
	if own < 0 {
		return "", fmt.Errorf("the bank lists %d banks, and none of them has the code %s", len(banks), p.bankCode)
	}
	if compact := strings.ReplaceAll(strings.ToLower(banks[own].Name), " ", ""); !strings.Contains(compact, "safehaven") {
		return "", fmt.Errorf("%s is the code of %s", p.bankCode, banks[own].Name)
	}
	return fmt.Sprintf("%s is %s, one of %d banks", p.bankCode, banks[own].Name, len(banks)), nil
}

func (p *Plug) checkName(ctx context.Context) (string, error) {
	a := p.NameEnquiry(ctx, p.bankCode, p.account)
	if a.Outcome != provider.Confirmed {
		return "", fmt.Errorf("no name for %s at the bank %s: %s: %s", masked(p.account), p.bankCode, a.Code, a.Message)
	}
	ours, err := p.mainAccount(ctx)
	if err == nil && !related(string(ours.Name), a.Name) {
		return "", fmt.Errorf("the account %s at the bank %s has another holder than ours", masked(p.account), p.bankCode)
	}
	return "the name of our own account was found", err
}

// related reports whether two names of an account have a word in common. A bank may show a name in
// several forms.
func related(a, b string) bool {
	words := provider.Words(strings.ToLower(b))
	return slices.ContainsFunc(strings.Fields(strings.ToLower(a)), func(w string) bool { return words[w] })
}

func (p *Plug) checkTransferLookup(ctx context.Context) (string, error) {
	return provider.CheckLookup(p.RequeryTransfer(ctx, provider.NoSuchReference).Answer)
}

func (p *Plug) checkSaleLookup(ctx context.Context) (string, error) {
	detail, err := provider.CheckLookup(p.Requery(ctx, provider.Sale{Reference: provider.NoSuchReference, Kind: provider.Airtime}))
	if err != nil {
		return "", provider.Warn("%v", err)
	}
	return detail, nil
}

// masked returns an account number without its middle digits.
func masked(number string) string {
	const shown = 2
	if len(number) <= 2*shown {
		return "…"
	}
	return number[:shown] + "…" + number[len(number)-shown:]
}
