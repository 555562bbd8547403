package app

import (
	"net/http"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/console"
	"github.com/kobo-waas/kobo/internal/limit"
)

// console returns the handler of the pages for people.
func (a *App) console(operators *admin.API, failed *limit.Limit) http.Handler {
	return console.New(console.Config{
		API: operators, Operators: a.Operators, Operations: a.Operations, Settlements: a.Settlements, Events: a.Events, Sessions: a.Sessions,
		Clock: a.Clock, Log: a.log, Environment: string(a.cfg.Mode.Environment()), FourEyes: a.FourEyes(), Closed: a.closed.Load, Leaving: a.leaving.Load, Failed: failed,
	})
}

// ConsoleURL returns an address of the console that signs the development operator in once. The host is
// a name, because passkeys refuse addresses.
func (a *App) ConsoleURL(port string) *string {
	if a.cfg.Console != "on" {
		return nil
	}
	link := "http://localhost:" + port + a.Sessions.Link(devOperator)
	return &link
}

// ConsoleLink returns the address of the console that signs in once, or "" without a console.
func (c Credentials) ConsoleLink() string {
	if c.ConsoleURL == nil {
		return ""
	}
	return *c.ConsoleURL
}
