package app

import (
	"context"
	"net/http"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/console"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/secret"
)

// console returns the handler of the pages for people.
func (a *App) console(operators *admin.API, failed *limit.Limit) http.Handler {
	return console.New(console.Config{
		API: operators, Operators: a.Operators, Operations: a.Operations, Settlements: a.Settlements, Events: a.Events, People: a.People,
		Clock: a.Clock, Log: a.log, Environment: string(a.cfg.Mode.Environment()), FourEyes: a.FourEyes(), Closed: a.closed.Load, Restored: a.movesHeld.Load, Leaving: a.leaving.Load, Failed: failed, Origin: a.cfg.ConsoleOrigin,
	})
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
