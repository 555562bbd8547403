package app

import (
	"context"
	"errors"
	"net/http"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/console"
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
		API: operators, Operators: a.Operators, Operations: a.Operations, Settlements: a.Settlements, Events: a.Events, People: a.People,
		Clock: a.Clock, Log: a.log, Environment: string(a.cfg.Mode.Environment()), FourEyes: a.FourEyes(), Closed: a.closed.Load, Restored: a.movesHeld.Load, Leaving: a.leaving.Load, Failed: failed, Origin: a.cfg.ConsoleOrigin,
		Company: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { companies().ServeHTTP(w, r) }),
	}
	to["/console/"], to["/app/"] = console.New(pages), console.NewApp(pages)
}

// twoPeople reports whether a company requires two people for its API keys.
func (a *App) twoPeople(ctx context.Context, company string) (bool, error) {
	return a.Companies.TwoPeople(ctx, company)
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

// AppURLs returns the addresses of /app at which the development company's two people sign in once, an owner and a
// developer. So what needs two people can be tried by one. Without a console they are nil.
func (a *App) AppURLs(ctx context.Context, company string) (owner, second *string, err error) {
	if a.cfg.Console != "on" || a.cfg.ConsoleOrigin == "" {
		return nil, nil, nil
	}
	link := func(name, role string) *string {
		token, digest := person.NewLink()
		_, e := a.People.InvitePerson(ctx, operator.Itself(), company, name, role, digest)
		err = errors.Join(err, e)
		out := a.cfg.ConsoleOrigin + "/app/link/" + company + "/" + token.Reveal()
		return &out
	}
	owner, second = link("owner", person.Owner), link("second", person.Developer)
	return owner, second, err
}

// ConsoleLink returns the address at which a person uses a link. Without the setting console_origin it is only
// a path.
func (a *App) ConsoleLink(token secret.Text) string {
	return a.cfg.ConsoleOrigin + "/console/link/" + token.Reveal()
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
