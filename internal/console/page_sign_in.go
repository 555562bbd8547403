package console

import (
	"net/http"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/peer"
)

func (c *console) signInRoutes() map[string]route {
	link := func(v *visit) (view, error) {
		return view{title: "Sign in", body: linkPage(v)}, nil
	}
	signIn := func(v *visit) (view, error) {
		return view{title: "Sign in", body: signInPage(v)}, nil
	}
	return map[string]route{
		"GET /console/sign-in":       {open: true, query: []string{"to"}, show: signIn},
		"POST /console/sign-in":      {open: true, show: signIn, do: c.signIn},
		"GET /console/link/{token}":  {open: true, show: link},
		"POST /console/link/{token}": {open: true, show: link, do: c.useLink},
		"POST /console/sign-out":     {do: c.signOut},
	}
}

// signIn opens a session for the operator to whom a key belongs.
func (c *console) signIn(v *visit) (string, error) {
	by, err := c.Operators.Authenticate(v.Context(), v.PostForm.Get("key"))
	if fault.Is(err, fault.Unauthenticated) {
		return "", c.failedSignIn(v, err)
	}
	if err != nil {
		return "", err
	}
	return c.enter(v, by.Name, v.PostForm.Get("to"))
}

// failedSignIn records a failed sign-in, and counts it towards the limit of the caller's address.
func (c *console) failedSignIn(v *visit, err error) error {
	c.log(v.Context(), "a failed sign-in could not be recorded", c.Operators.FailedLogin(v.Context(), "operator.login.failed", ""))
	if c.Failed == nil {
		return err
	}
	if s, allowed := c.buckets.Take(peer.Network(peer.Of(v.Context())), *c.Failed); !allowed {
		return s.Refusal().Because(err)
	}
	return err
}

// useLink opens a session for the operator to whom an unused link belongs.
func (c *console) useLink(v *visit) (string, error) {
	name, works := c.Sessions.spend(v.PathValue("token"))
	if !works {
		return "", c.failedSignIn(v, errLink)
	}
	return c.enter(v, name, "")
}

var errLink = fault.New(fault.Unauthenticated, "This link has been used, or it is too old. Ask for another one, or sign in with your key.")

// enter opens a session, and records it.
func (c *console) enter(v *visit, name, to string) (string, error) {
	by, err := c.Operators.Find(v.Context(), name)
	if err != nil {
		return "", err
	}
	if err := c.Operators.Record(v.Context(), by.From(v.Context()), "operator.signed_in", by.Name, nil); err != nil {
		return "", err
	}
	if _, old := v.Cookie(cookie); old == nil && v.session != "" {
		c.Sessions.end(v.session)
	}
	give(v.w, c.Sessions.begin(name))
	if !isOwn(to) {
		to = "/console/"
	}
	return to, nil
}

func (c *console) signOut(v *visit) (string, error) {
	c.Sessions.end(v.session)
	give(v.w, "")
	return "/console/sign-in", nil
}

// Themes are the values of the cookie with a person's theme. "" follows the browser.
var themes = []string{"", "light", "dark"}

const themeCookie = "kobo_theme"

func (c *console) preferenceRoutes() map[string]route {
	return map[string]route{"POST /console/theme": {open: true, do: func(v *visit) (string, error) {
		const year = 365 * 24 * 60 * 60
		http.SetCookie(v.w, &http.Cookie{Name: themeCookie, Value: v.PostForm.Get("theme"), Path: "/console", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: year})
		to := v.PostForm.Get("to")
		if !isOwn(to) {
			to = "/console/"
		}
		return to, nil
	}}}
}
