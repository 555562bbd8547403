package app

import (
	"cmp"
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/console"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
	"github.com/kobo-waas/kobo/internal/secret"
)

// mountPages adds the pages for people, unless the console is off. The function companies returns the handler of the
// companies' API.
func (a *App) mountPages(to map[string]http.Handler, operators *admin.API, failed *limit.Limit, companies func() http.Handler) {
	if a.cfg.Console != "on" {
		return
	}
	pages := console.Config{
		API: operators, Operators: a.Operators, Operations: a.Operations, Settlements: a.Settlements, Payouts: a.Payouts, Chains: a.Crypto, Providers: a.plugs.roles(), Events: a.Events, People: a.People, Reports: a.Reports,
		Clock: a.Clock, Log: a.log, Environment: string(a.cfg.Mode.Environment()), FourEyes: a.FourEyes(), Closed: a.closed.Load, Restored: a.movesHeld.Load, Leaving: a.leaving.Load, Failed: failed, Visits: a.cfg.Limits.visits(), Origin: a.cfg.ConsoleOrigin, PublicURL: a.cfg.PublicURL, PINState: a.Companies.PINState,
		Company: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { companies().ServeHTTP(w, r) }),
	}
	to["/console/"], to["/app/"] = console.New(pages), console.NewApp(pages)
}

// rulesOfTwo returns the rules by which a company requires two people: for its API keys, and for payouts.
func (a *App) rulesOfTwo(ctx context.Context, company string) (out []person.Rule, err error) {
	keys, err := a.Companies.TwoPeople(ctx, company)
	if err != nil {
		return nil, err
	}
	payouts, err := a.Companies.PayoutRule(ctx, company)
	if keys {
		out = append(out, func(role string) bool { return api.MayRun(role, "issueAPIKey") })
	}
	if payouts.On {
		out = append(out, func(role string) bool { return api.MayRun(role, "sendPayout") })
	}
	return out, err
}

// ConsoleURL returns an address of the console that signs the development operator in once, or nil without a
// console.
func (a *App) ConsoleURL(ctx context.Context) (*string, error) {
	if a.cfg.Console != "on" || a.cfg.ConsoleOrigin == "" {
		return nil, nil
	}
	token, err := a.People.SignInLink(ctx, devOperator)
	if err != nil {
		return nil, err
	}
	link := a.ConsoleLink(token)
	return &link, nil
}

// AppURLs adds the addresses of /app at which the development company's people sign in once: an owner, a developer for
// what takes two people about API keys, and somebody of the role finance for what takes two about payouts. Without a
// console there are none.
func (a *App) AppURLs(ctx context.Context, c *Credentials) error {
	if a.cfg.Console != "on" || a.cfg.ConsoleOrigin == "" {
		return nil
	}
	for _, p := range []struct {
		name, role string
		to         **string
	}{{"owner", person.Owner, &c.AppURL}, {"second", person.Developer, &c.SecondAppURL}, {"third", person.Finance, &c.ThirdAppURL}} {
		// The company's owner may have given the person another role since.
		switch is, err := a.People.FindNamed(ctx, c.Reference, p.name); {
		case err == nil:
			p.role = is.Role
		case !fault.Is(err, fault.Missing):
			return err
		}
		token, digest := person.NewLink()
		if _, err := a.People.InvitePerson(ctx, operator.Itself(), c.Reference, p.name, p.role, digest); err != nil {
			return err
		}
		link := a.CompanyLink(c.Reference, token)
		*p.to = &link
	}
	return nil
}

// ConsoleLink returns the address at which a person uses a link. Without the setting console_origin it is only
// a path.
func (a *App) ConsoleLink(token secret.Text) string {
	return a.cfg.ConsoleOrigin + "/console/link/" + token.Reveal()
}

// CompanyLink returns the address at which a person of a company uses a link. Without the settings console_origin and
// public_url it is only a path.
func (a *App) CompanyLink(company string, token secret.Text) string {
	return cmp.Or(a.cfg.ConsoleOrigin, a.cfg.PublicURL) + "/app/link/" + company + "/" + token.Reveal()
}

// ConsoleLink returns the address of the console that signs in once, or "" without a console.
func (c Credentials) ConsoleLink() string {
	if c.ConsoleURL == nil {
		return ""
	}
	return *c.ConsoleURL
}

// AppLink returns the address that signs the company's owner in once, or "" without a console.
func (c Credentials) AppLink() string {
	if c.AppURL == nil {
		return ""
	}
	return *c.AppURL
}

// ThirdAppLink returns the address that signs in once the company's person of the role finance, or "" without a console.
func (c Credentials) ThirdAppLink() string {
	if c.ThirdAppURL == nil {
		return ""
	}
	return *c.ThirdAppURL
}
