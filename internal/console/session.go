package console

import (
	"net/http"
)

// cookie is the name of the cookie with the token of a session. The prefix makes browsers refuse it
// without TLS, except from localhost.
const cookie = "__Host-kobo_operator"

// tokenOf returns the token in a request, or "".
func tokenOf(r *http.Request) string {
	c, err := r.Cookie(cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// give sets the cookie of a session, or removes it if the token is "".
func give(w http.ResponseWriter, token string) {
	c := &http.Cookie{Name: cookie, Value: token, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}
