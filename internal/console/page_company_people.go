package console

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/person"
)

func (c *console) companyPeopleRoutes() map[string]route {
	const people = "/console/companies/{reference}/people"
	return map[string]route{
		"GET " + people:                   {show: showCompanyPeople},
		"POST " + people + "/invite":      {show: showCompanyPeople, do: inviteToCompany},
		"POST " + people + "/{id}/role":   {show: showCompanyPeople, do: setRoleInCompany},
		"POST " + people + "/{id}/remove": {show: showCompanyPeople, do: removeFromCompany},
		"GET " + people + "/invited/{n}":  {show: showInvitedToCompany},
	}
}

func showCompanyPeople(v *visit) (view, error) {
	a, err := v.company("/people")
	if err != nil {
		return view{}, err
	}
	var all []admin.Person
	_, err = v.call("listPeople", admin.Input{Path: v.named()}, &all)
	return shown(a.Name+", people", companyPeoplePage(v, a, all)), err
}

// inviteToCompany makes the link of an invitation, and asks for the invitation with the digest of the link. Only
// this operator's page ever shows the link, and it shows the link once.
func inviteToCompany(v *visit) (string, error) {
	token, digest := person.NewLink()
	name := strings.TrimSpace(v.PostForm.Get("name"))
	body := admin.PersonRequest{Name: name, Role: v.PostForm.Get("role"), LinkDigest: digest}
	waits, err := v.call("invitePerson", admin.Input{Path: v.named(), Body: body}, nil)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(invited{name, v.companyOrigin() + "/app/link/" + v.PathValue("reference") + "/" + token.Reveal(), waits})
	return v.companyPath() + "/people/invited/" + v.answers.keep(v.session, text), err
}

// companyOrigin returns the address at which browsers of companies' people have their pages.
func (v *visit) companyOrigin() string { return cmp.Or(v.Origin, v.PublicURL, v.origin()) }

func showInvitedToCompany(v *visit) (view, error) {
	a, err := v.company("/people")
	if err != nil {
		return view{}, err
	}
	text, there := v.answers.take(v.session, v.PathValue("n"))
	if !there {
		return shown("Invitation", notShownPage("link", inviteAgain, a.at)), nil
	}
	var i invited
	err = json.Unmarshal(text, &i)
	return shown("Invitation", invitedToCompanyPage(a, i)), err
}

func setRoleInCompany(v *visit) (string, error) {
	return v.act("setPersonRole", admin.PersonRoleRequest{Role: v.PostForm.Get("role")}, v.companyPath()+"/people")
}

func removeFromCompany(v *visit) (string, error) {
	return v.act("endPerson", nil, v.companyPath()+"/people")
}

// againWords says for whom an invitation of a name that exists is.
const againWords = "Invite somebody again, with the present name and role, who has lost a passkey or whose link has run out."

// firstRole returns the role that the form proposes: a company needs an owner first.
func firstRole(all []admin.Person) string {
	if len(all) == 0 {
		return person.Owner
	}
	return person.Viewer
}
