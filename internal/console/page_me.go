package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/boombuler/barcode/qr"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/person"
)

func (c *console) meRoutes() map[string]route {
	return map[string]route{
		"GET " + c.at("/me"):           {show: showMe},
		"POST " + c.at("/me/passkey"):  {show: showMe, do: addPasskey, proof: recentProof, first: true},
		"POST " + c.at("/me/password"): {show: showMe, do: setPassword, proof: recentProof, first: true},
		"POST " + c.at("/me/remove"):   {show: showMe, do: removeCredential, proof: recentProof},
		"POST " + c.at("/me/sessions"): {show: showMe, do: endSessions},
	}
}

// me is what a person signs in with.
type me struct {
	passkeys    []person.Credential
	hasPassword bool
	passwordID  string
	sessions    []person.Session
	begun       person.Ceremony // to make a passkey; empty without an origin
	code        person.NewCode
	views       []savedView
}

func showMe(v *visit) (view, error) {
	page, err := v.me()
	return view{title: "My sign-in", item: v.meItem(), body: mePage(v, page)}, err
}

func (v *visit) me() (m me, err error) {
	all, err := v.People.Credentials(v.Context(), v.who)
	if err != nil {
		return m, err
	}
	for _, one := range all {
		if one.Kind == person.Passkey {
			m.passkeys = append(m.passkeys, one)
		}
		if one.Kind == person.Password {
			m.hasPassword, m.passwordID = true, one.ID
		}
	}
	if m.sessions, err = v.People.Sessions(v.Context(), v.who); err != nil {
		return m, err
	}
	if one, err := v.ceremony(); err != nil || one.State != "" {
		if err == nil {
			m.begun, err = v.People.BeginPasskey(v.Context(), v.who)
		}
		if err != nil {
			return m, err
		}
	}
	if m.code, err = v.People.NewCode(v.who, v.PostForm.Get("state")); err != nil {
		return m, err
	}
	m.views, err = v.views()
	return m, err
}

func addPasskey(v *visit) (string, error) {
	f := v.PostForm
	return v.at("/me"), v.People.FinishPasskey(v.Context(), v.who, strings.TrimSpace(f.Get("label")), f.Get("state"), f.Get("response"))
}

func setPassword(v *visit) (string, error) {
	f := v.PostForm
	return v.at("/me"), v.People.SetPassword(v.Context(), v.who, v.opened, f.Get("password"), f.Get("state"), f.Get("code"))
}

func removeCredential(v *visit) (string, error) {
	return v.at("/me"), v.People.Remove(v.Context(), v.who, v.opened, v.PostForm.Get("id"))
}

func endSessions(v *visit) (string, error) {
	return v.at("/me"), v.People.EndOthers(v.Context(), v.who, v.opened)
}

// stamp returns an instant as pages read it, or "" for none.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return clock.Text(at)
}

// picture is a QR code as the path of an SVG picture, with the size of its box.
type picture struct{ box, path string }

// quiet is the white edge that a QR code needs, in its own points.
const quiet = 4

// qrOf draws an address as a QR code. An address that is too long has none, and the person types the secret.
func qrOf(address string) picture {
	code, err := qr.Encode(address, qr.M, qr.Auto)
	if err != nil {
		return picture{}
	}
	var b strings.Builder
	size := code.Bounds().Dx()
	for y := range size {
		for x := range size {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+quiet, y+quiet)
			}
		}
	}
	return picture{fmt.Sprintf("0 0 %d %d", size+2*quiet, size+2*quiet), b.String()}
}

// meItem is the item of the menu to which a person's own pages belong.
func (v *visit) meItem() string {
	if v.isForCompanies() {
		return "settings"
	}
	return "system"
}

// lifeWords says how long a session lasts.
func (v *visit) lifeWords() string {
	if v.isForCompanies() {
		return "A session ends after an hour without a request, and after a day at the latest."
	}
	return "A session ends after 30 minutes without a request, and after 12 hours at the latest."
}
