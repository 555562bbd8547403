package console

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

func (c *console) peopleRoutes() map[string]route {
	return map[string]route{
		"GET /console/people":              {show: showPeople},
		"POST /console/people/invite":      {show: showPeople, do: inviteOperator},
		"POST /console/people/{id}/role":   {show: showPeople, do: setOperatorRole},
		"POST /console/people/{id}/remove": {show: showPeople, do: removeOperator},
		"GET /console/people/invited/{n}":  {show: showInvited},
	}
}

func showPeople(v *visit) (view, error) {
	var all []admin.Operator
	if _, err := v.call("listOperators", admin.Input{}, &all); err != nil {
		return view{}, err
	}
	all = slices.DeleteFunc(all, func(o admin.Operator) bool { return o.Status != "ACTIVE" })
	return view{title: "Operators", item: "system", body: peoplePage(v, all)}, nil
}

// invited is an invitation as the page that shows its link once has it.
type invited struct {
	Name, Link string
	Waits      bool // until a second operator approves
}

// inviteOperator makes the link of an invitation, and asks for the invitation with the digest of the link. Only
// this person's page ever shows the link, and it shows the link once.
func inviteOperator(v *visit) (string, error) {
	token, digest := person.NewLink()
	name := strings.TrimSpace(v.PostForm.Get("name"))
	body := map[string]string{"name": name, "role": v.PostForm.Get("role"), "linkDigest": digest}
	waits, err := v.call("inviteOperator", admin.Input{Body: body}, nil)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(invited{name, v.origin() + "/console/link/" + token.Reveal(), waits})
	return "/console/people/invited/" + v.answers.keep(v.session, text), err
}

// origin returns the address of the console as the browser has it.
func (v *visit) origin() string {
	if v.Origin != "" {
		return v.Origin
	}
	return "https://" + v.Host
}

// inviteAgain says what somebody does who has lost the link of an invitation.
const inviteAgain = "If it is lost, invite the person again."

func showInvited(v *visit) (view, error) {
	text, there := v.answers.take(v.session, v.PathValue("n"))
	if !there {
		return view{title: "Invitation", item: "system", body: notShownPage("link", inviteAgain, "/console/people")}, nil
	}
	var i invited
	err := json.Unmarshal(text, &i)
	return view{title: "Invitation", item: "system", body: invitedPage(i)}, err
}

func setOperatorRole(v *visit) (string, error) {
	in := v.id()
	in.Body = map[string]string{"role": v.PostForm.Get("role")}
	if waits, err := v.call("setOperatorRole", in, nil); err != nil || waits {
		return "/console/waiting?tab=by-me", err
	}
	return "/console/people", nil
}

func removeOperator(v *visit) (string, error) {
	_, err := v.call("removeOperator", v.id(), nil)
	return "/console/people", err
}

// mayManage reports whether the person may invite and remove operators.
func (v *visit) mayManage() bool { return v.may(operator.Admin) }

func roleNames() (out []string) {
	for _, r := range operator.Roles() {
		out = append(out, string(r))
	}
	return out
}
