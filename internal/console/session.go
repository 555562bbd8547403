package console

import (
	"net/http"
	"strings"
)

// token returns the company and the token in the session's cookie, or "". The company of an operator is "".
// The prefix of the cookie's name makes browsers refuse it without TLS, except from localhost.
func (v *visit) token() (company, token string) {
	c, err := v.Cookie(v.cookie)
	if err != nil {
		return "", ""
	}
	if !v.isForCompanies() {
		return "", c.Value
	}
	company, token, _ = strings.Cut(c.Value, ".")
	if company == "" {
		return "", "" // nobody: an operator's token opens nothing here
	}
	return company, token
}

// give sets the cookie of a session, or removes it if the token is "".
func (v *visit) give(company, token string) {
	if company != "" {
		token = company + "." + token
	}
	c := &http.Cookie{Name: v.cookie, Value: token, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}
