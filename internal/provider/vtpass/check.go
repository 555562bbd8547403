package vtpass

import (
	"context"
	"fmt"
	"time"

	"github.com/kobo-waas/kobo/internal/provider"
)

var _ provider.Checker = (*Plug)(nil)

// Checks returns the questions that show whether our account at VTpass is set up right. No check
// asks for the owner of a meter or a smartcard, because such a number belongs to a person.
func (p *Plug) Checks() []provider.Check {
	return []provider.Check{
		{Name: "public_key", Ask: p.checkBalance, Action: "Compare api_key and public_key with VTpass's dashboard. If the wallet is empty, fund it: purchases are paid from it."},
		{Name: "secret_key", Ask: p.checkSecretKey, Action: "Compare api_key and secret_key with VTpass's dashboard: purchases are sent with them."},
		{Name: "sale_lookup", Ask: p.checkLookup, Action: "Do not sell yet: Kobo could not tell a lost purchase from one that was never made. Report the reply of --record."},
		{Name: "catalogue", Ask: func(ctx context.Context) (string, error) { return provider.CheckCatalogue(ctx, p) }, Action: "Ask VTpass which products the account may sell."},
	}
}

// checkBalance asks for the balance with the two keys of GET requests.
func (p *Plug) checkBalance(ctx context.Context) (string, error) {
	left, err := p.Balance(ctx)
	if err == nil && left <= 0 {
		err = provider.Warn("the wallet is empty")
	}
	return left.String() + " is left in the wallet", err
}

func (p *Plug) lookUpNothing(ctx context.Context) provider.Answer {
	return p.Requery(ctx, provider.Sale{Reference: provider.NoSuchReference, Begun: time.Now(), Kind: provider.Airtime})
}

// badCredentials lists the codes with which VTpass refuses keys or an account.
var badCredentials = provider.Words("021 022 023 024 027 028 087 unreadable")

// checkSecretKey sends a POST, which needs the secret key. Its outcome does not matter here.
func (p *Plug) checkSecretKey(ctx context.Context) (string, error) {
	a := p.lookUpNothing(ctx)
	if badCredentials[a.Code] || provider.IsTrouble(a.Code) {
		return "", fmt.Errorf("VTpass refuses a POST: %s: %s", a.Code, a.Message)
	}
	return "VTpass accepts the keys of POST requests", nil
}

func (p *Plug) checkLookup(ctx context.Context) (string, error) {
	return provider.CheckLookup(p.lookUpNothing(ctx))
}
