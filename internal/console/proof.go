package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/id"
	"github.com/kobo-waas/kobo/internal/limit"
	"github.com/kobo-waas/kobo/internal/peer"
	"github.com/kobo-waas/kobo/internal/person"
)

// The fields of a form in which a person proves who they are: by a passkey, by a password and a code, or by
// an admin key. No other field begins alike.
const (
	proofPrefix   = "proof-"
	proofState    = "proof-state"
	proofResponse = "proof-response"
	proofName     = "proof-name"
	proofPassword = "proof-password"
	proofCode     = "proof-code"
	proofKey      = "proof-key"
)

// demand is the proof of who the person is that an act needs.
type demand int

const (
	noProof     demand = iota
	recentProof        // of the last ten minutes: for acts on people, settings and one's own sign-in
	newProof           // with this form: for approvals, secrets and payments
)

// hasProof reports whether the person has given the proof that an act needs.
func (v *visit) hasProof(asked demand) bool {
	switch asked {
	case noProof:
		return true
	case newProof:
		return v.proved
	}
	return v.People.IsProved(v.opened)
}

// errProof asks for a proof before an act.
var errProof = fault.New(fault.Forbidden, "Prove that it is you")

// unproved is why the proof that a form has brought was refused.
type unproved struct{ why error }

// Error returns why.
func (u *unproved) Error() string { return u.why.Error() }

// errNothingProven refuses a form without any proof.
var errNothingProven = fault.New(fault.Unauthenticated, "Sign in with a passkey, or with a password and a code")

var errNoCompany = fault.New(fault.Invalid, "The reference of a company is c and 9 letters and digits, or 24 of them")

// theirs returns the company of the person: of the session, or at a sign-in of the form. Somebody who is signed in at one company
// may sign in at another one. It is "" for operators.
func (v *visit) theirs() string {
	switch {
	case !v.isForCompanies():
		return ""
	case v.route.open:
		return strings.TrimSpace(v.PostForm.Get("company"))
	}
	return v.who.Company
}

// guesses limits the wrong passwords and codes of one name.
var guesses = limit.Limit{Requests: 10, Period: 15 * time.Minute, Burst: 10}

// proven returns the person whom the fields of a form prove. The name is that of a password, and is not
// looked at otherwise.
func (v *visit) proven(name string) (person.Person, error) {
	f, company := v.PostForm, v.theirs()
	if f.Get(proofResponse) != "" {
		if v.isForCompanies() && v.route.open {
			company = person.AnyCompany // the passkey knows it
		}
		p, err := v.People.FinishSignIn(v.Context(), company, f.Get(proofState), f.Get(proofResponse))
		return p, v.counted(err)
	}
	if f.Get(proofPassword) != "" || f.Get(proofCode) != "" {
		if v.isForCompanies() && !id.IsCuid(company) {
			return person.Person{}, errNoCompany
		}
		// The token is taken before the password is compared. So tries at the same time do not pass the limit together.
		tries := "person " + company + "/" + name
		if s, allowed := v.buckets.Take(tries, guesses); !allowed {
			return person.Person{}, s.Refusal()
		}
		p, err := v.People.SignIn(v.Context(), company, name, f.Get(proofPassword), f.Get(proofCode))
		if !fault.Is(err, fault.Unauthenticated) {
			v.buckets.Return(tries)
		}
		return p, v.counted(err)
	}
	if v.isForCompanies() {
		return person.Person{}, errNothingProven
	}
	by, err := v.Operators.Authenticate(v.Context(), f.Get(proofKey))
	if err != nil {
		return person.Person{}, v.counted(err)
	}
	return v.People.FindNamed(v.Context(), "", by.Name)
}

// counted records a failed sign-in, and counts it towards the limit of the caller's address.
func (v *visit) counted(err error) error {
	if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	action, subject := "operator.login.failed", ""
	if v.isForCompanies() {
		action = "person.login.failed"
		if id.IsCuid(v.theirs()) {
			subject = v.theirs()
		}
	}
	v.log(v.Context(), "a failed sign-in could not be recorded", v.Operators.FailedLogin(v.Context(), action, subject))
	if v.Failed == nil {
		return err
	}
	if s, allowed := v.buckets.Take(peer.Network(peer.Of(v.Context())), *v.Failed); !allowed {
		return s.Refusal().Because(err)
	}
	return err
}

// stepUp takes the proof that a form carries beside its own fields, if it carries one. The form of a sign-in is no such form.
func (v *visit) stepUp() error {
	if v.session == "" || v.route.open || !slices.ContainsFunc(keysOf(v.PostForm), func(name string) bool { return strings.HasPrefix(name, proofPrefix) }) {
		return nil
	}
	p, err := v.proven(v.who.Name)
	if err != nil {
		return err
	}
	if err := v.People.Prove(v.Context(), v.opened, p, v.session); err != nil {
		return v.counted(err)
	}
	opened, _, err := v.People.Open(v.Context(), v.theirs(), v.session)
	v.opened, v.proved = opened, err == nil && opened.ID != ""
	return err
}

// do does what the form asks for, if it does not lack a proof.
func (v *visit) do() (string, error) {
	if v.hasProof(v.route.proof) {
		return v.route.do(v)
	}
	may := false
	if v.route.first {
		var err error
		if may, err = v.People.MayMakeFirst(v.Context(), v.opened, v.who); err != nil {
			return "", err
		}
	}
	if !may {
		return "", errProof
	}
	to, err := v.route.do(v)
	if err == nil { // making a passkey or a password takes the passkey or the code, so it is a proof
		err = v.People.Prove(v.Context(), v.opened, v.who, v.session)
	}
	return to, err
}

// askForProof shows the page on which a person proves who they are. The page holds the fields of the form, and
// sends them again with the proof. The parameter err is why an earlier proof was refused.
func (v *visit) askForProof(err error) {
	status := http.StatusUnprocessableEntity
	if err != nil {
		if v.problem = fault.Of(err); statuses[v.problem.Kind] == 0 || statuses[v.problem.Kind] >= http.StatusInternalServerError {
			v.fail(err)
			return
		}
		status = statuses[v.problem.Kind]
	}
	c, err := v.ceremony()
	if err != nil {
		v.fail(err)
		return
	}
	may, err := v.People.MayMakeFirst(v.Context(), v.opened, v.who)
	if err != nil {
		v.fail(err)
		return
	}
	v.render(status, view{title: "Prove that it is you", body: proofPage(v, c, may)})
}

// ceremony returns the beginning of a sign-in by passkey, which is empty if the deployment has no origin.
func (c *console) ceremony() (person.Ceremony, error) {
	one, err := c.People.BeginSignIn()
	if fault.Is(err, fault.Refused) {
		err = nil
	}
	return one, err
}

// carried are those of neverKept that are no secrets. The form after the proof is the same form, so it has them too.
var carried = []string{"form", "sure", "was", "state", "response", "username", "q"}

// isSecretField reports whether the page that asks for a proof asks for a field too, and does not hold it. The text of a page stays in
// the browser, and in the pictures and the files that somebody makes of it.
func isSecretField(name string) bool {
	return slices.Contains(neverKept, name) && !slices.Contains(carried, name)
}

// held are the fields of a refused form without those of the proof, and without secrets.
func (v *visit) held() (out []filter) {
	for _, name := range keysOf(v.PostForm) {
		if !strings.HasPrefix(name, proofPrefix) && !isSecretField(name) {
			for _, value := range v.PostForm[name] {
				out = append(out, filter{name, value})
			}
		}
	}
	return out
}

// secretField is a field for a secret on the page that asks for a proof.
type secretField struct{ name, label, kind, mode, fill string }

// secretFields are the fields that people know by a label, in the order in which pages have them.
var secretFields = []secretField{
	{"currentPin", "The PIN now", "password", "numeric", "off"},
	{"pinToken", "The PIN token", "password", "text", "off"},
	{"pin", "Transaction PIN", "password", "numeric", "off"},
	{"again", "The new PIN again", "password", "numeric", "off"},
	{"password", "The new password", "password", "text", "new-password"},
	{"code", "The code of the new password", "text", "numeric", "one-time-code"},
	{"otp", "One-time code", "text", "numeric", "off"},
	{"bvn", "BVN", "text", "numeric", "off"},
}

// secrets are the fields of the refused form that the person types beside the proof. A form may leave a secret to this page: it has
// the field without a value then.
func (v *visit) secrets() (out []secretField) {
	for _, f := range secretFields {
		if v.PostForm.Has(f.name) {
			if f.name == "pin" && v.PostForm.Has("again") {
				f.label = "The new PIN"
			}
			out = append(out, f)
		}
	}
	return out
}

func keysOf(form map[string][]string) []string {
	out := make([]string, 0, len(form))
	for name := range form {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
