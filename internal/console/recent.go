package console

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/kobo-waas/kobo/internal/money"
)

// The empty search box offers the last things that a person has opened. They stand in a cookie of the browser's session: a page that
// is only read writes nothing to the database, each program of a deployment knows them, and they end with the session. The
// cookie names addresses and kinds, and no person. It counts only for the session that has written it.

const (
	recentCookie = "kobo_recent"
	mostRecent   = 5
	maxRecent    = 2_000 // bytes of the cookie that are read
)

// opened is a thing that a person has opened.
type opened struct {
	Page  string `json:"p"`
	Words string `json:"w"`
}

// recent is the content of the cookie.
type recent struct {
	Session string   `json:"s"`
	Things  []opened `json:"t"`
}

// memory is what the empty search box offers.
type memory struct {
	last  []opened
	views []savedView
}

// memory reads what the empty search box offers.
func (v *visit) memory() (memory, error) {
	views, err := v.views()
	return memory{v.recent(), views}, err
}

// recent returns the last things that the person has opened in this session, the newest first. A cookie that somebody else has
// written, or that leads to no page, counts for nothing.
func (v *visit) recent() []opened {
	c, err := v.Cookie(recentCookie)
	if err != nil || len(c.Value) > maxRecent {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return nil
	}
	var kept recent
	if err := json.Unmarshal(text, &kept); err != nil || kept.Session != v.opened.ID {
		return nil
	}
	things := slices.DeleteFunc(kept.Things, func(one opened) bool {
		at, err := url.Parse(one.Page)
		return err != nil || at.Host != "" || at.RawQuery != "" || !v.opens(at.Path) || !utf8.ValidString(one.Words)
	})
	return things[:min(len(things), mostRecent)]
}

// withAmount adds an amount to the words of a thing, unless it is zero.
func withAmount(words string, k money.Kobo) string {
	if k <= 0 {
		return words
	}
	return words + ", " + naira(k)
}

// noteOpened puts the thing that the page shows before the others.
func (v *visit) noteOpened(words string) {
	here := opened{v.URL.EscapedPath(), words}
	things := slices.DeleteFunc(v.recent(), func(one opened) bool { return one.Page == here.Page })
	things = append([]opened{here}, things...)
	text, err := json.Marshal(recent{v.opened.ID, things[:min(len(things), mostRecent)]})
	if err != nil {
		v.log(v.Context(), "what somebody has opened was not kept", err)
		return
	}
	v.keepRecent(base64.RawURLEncoding.EncodeToString(text), 0)
}

// keepRecent sets the cookie. A negative age removes it.
func (v *visit) keepRecent(value string, age int) {
	http.SetCookie(v.w, &http.Cookie{Name: recentCookie, Value: value, Path: v.base, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: age})
}
