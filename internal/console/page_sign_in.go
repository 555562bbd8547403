package console

import (
	"net/http"

	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/person"
)

func (c *console) signInRoutes() map[string]route {
	signIn := func(v *visit) (view, error) {
		one, err := v.ceremony()
		return view{title: "Sign in", body: signInPage(v, one)}, err
	}
	return map[string]route{
		"GET " + c.at("/sign-in"):    {open: true, query: []string{"to", "company", "ended", "typed"}, show: signIn},
		"POST " + c.at("/sign-in"):   {open: true, show: signIn, do: c.signIn},
		"GET " + c.at(c.linkPath()):  {open: true, show: showLink},
		"POST " + c.at(c.linkPath()): {open: true, show: showLink, do: c.useLink},
		"POST " + c.at("/sign-out"):  {do: c.signOut},
	}
}

// linkPath is the path of a link. A company's link names the company.
func (c *console) linkPath() string {
	if c.isForCompanies() {
		return "/link/{company}/{token}"
	}
	return "/link/{token}"
}

// showLink shows the button of a link. A link never works by being opened, because mail programs open links.
func showLink(v *visit) (view, error) {
	needsCode, err := v.People.NeedsCode(v.Context(), v.PathValue("company"), v.PathValue("token"))
	return view{title: "Sign in", body: linkPage(v, needsCode)}, err
}

// signIn opens a session for a person. The session leads to what the person has typed before, if a form was not sent.
func (c *console) signIn(v *visit) (string, error) {
	p, err := v.proven(v.PostForm.Get(proofName))
	if err != nil {
		return "", err
	}
	to := v.PostForm.Get("to")
	if !v.isOwn(to) {
		to = v.at("/")
	}
	if _, there := v.unsents.find(v.PostForm.Get("typed"), p, v.People.Machine.Now()); there {
		to = v.at("/typed/" + v.PostForm.Get("typed"))
	}
	if err := v.endSession(); err != nil {
		return "", err
	}
	token, err := v.People.Begin(v.Context(), p, v.UserAgent(), true)
	if err == nil {
		v.enter(p, token)
	}
	return to, err
}

// useLink opens a session for the person to whom an unused link belongs. An invited person goes on to make a
// passkey. An error after the link was spent is logged: the person has the session.
func (c *console) useLink(v *visit) (string, error) {
	p, token, err := c.People.UseLink(v.Context(), v.PathValue("company"), v.PathValue("token"), v.PostForm.Get("code"), v.UserAgent())
	if err != nil {
		return "", v.counted(err)
	}
	v.log(v.Context(), "the session before a sign-in could not be ended", v.endSession())
	v.enter(p, token)
	has, err := c.People.Credentials(v.Context(), p)
	v.log(v.Context(), "the passkeys of a person could not be read", err)
	if v.Environment == "dev" && len(has) > 0 {
		return v.at("/"), nil
	}
	return v.at("/me"), nil
}

// endSession ends the session that the browser has, if there is one.
func (v *visit) endSession() error {
	if v.session == "" {
		return nil
	}
	return v.People.EndSession(v.Context(), v.who, v.opened.ID)
}

// enter gives the browser the session of a person.
func (v *visit) enter(p person.Person, token string) {
	if p.Company != "" {
		v.remember(p.Company)
	}
	v.give(p.Company, token)
}

// companyCookie is the cookie with the company that signed in last with this browser. It is no secret, and opens nothing.
const companyCookie = "kobo_company"

// remember notes the reference of a company, so that its people do not type it at the next sign-in.
func (v *visit) remember(company string) {
	const year = 365 * 24 * 60 * 60
	http.SetCookie(v.w, &http.Cookie{Name: companyCookie, Value: company, Path: v.at("/sign-in"), HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: year})
}

// remembered returns the company that signed in last with this browser, or "".
func (v *visit) remembered() string {
	one, err := v.Cookie(companyCookie)
	if err != nil || !id.IsCuid(one.Value) {
		return ""
	}
	return one.Value
}

func (c *console) signOut(v *visit) (string, error) {
	v.give("", "")
	v.keepRecent("", -1)
	return v.at("/sign-in"), c.People.EndSession(v.Context(), v.who, v.opened.ID)
}

// Themes are the values of the cookie with a person's theme. "" follows the browser.
var themes = []string{"", "light", "dark"}

const themeCookie = "kobo_theme"

func (c *console) preferenceRoutes() map[string]route {
	return map[string]route{"POST " + c.at("/theme"): {open: true, do: func(v *visit) (string, error) {
		const year = 365 * 24 * 60 * 60
		http.SetCookie(v.w, &http.Cookie{Name: themeCookie, Value: v.PostForm.Get("theme"), Path: v.base, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: year})
		to := v.PostForm.Get("to")
		if !v.isOwn(to) {
			to = v.at("/")
		}
		return to, nil
	}}}
}
