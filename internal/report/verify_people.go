package report

import (
	"encoding/json"
	"errors"
	"strings"
)

// personLine is an audit line about a person who signs in.
type personLine struct {
	linePlace
	action, PersonID, CredentialID, Role string
}

// personLines are the signed audit lines about people.
type personLines []personLine

// add adds an audit line (allLines), unless it is about something else.
func (l *personLines) add(row []string) error {
	if !strings.HasPrefix(row[3], "person.") {
		return nil
	}
	at, err := placeOf(row)
	line := personLine{linePlace: at, action: row[3]}
	err = errors.Join(err, json.Unmarshal([]byte(row[6]), &line))
	*l = append(*l, line)
	return err
}

// findings compares the people of companies, and what all people sign in with, with the audit lines about
// them. So a row that was put back with its earlier MAC is found too.
func (l personLines) findings(r *rights) (out []Finding) {
	roles, isOver, added := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, line := range l {
		switch line.action {
		case "person.invite", "person.role":
			roles[line.PersonID] = line.Role
		case "person.end":
			isOver[line.PersonID] = true
		case "person.credential.add":
			added[line.CredentialID] = true
		case "person.credential.remove":
			isOver[line.CredentialID] = true
		}
	}
	for _, row := range r.rows["person"] { // company, id, name, role, state
		personID, name, role, state := row[1].(string), row[2].(string), row[3].(string), row[4].(string)
		wrong := func(expected, found string) {
			out = append(out, Finding{"", "person", personID + " of " + row[0].(string) + ", " + name, expected, found})
		}
		switch {
		case state == "ACTIVE" && isOver[personID]:
			wrong("a person whose access has ended", "one who can sign in")
		case state == "ACTIVE" && roles[personID] != role:
			wrong("the role "+roles[personID], role)
		}
	}
	for _, row := range r.rows["person_credential"] { // company, id, person_id, kind, label, state
		credentialID, kind := row[1].(string), row[3].(string)
		wrong := func(expected, found string) {
			out = append(out, Finding{"", "credential", credentialID + ", a " + strings.ToLower(kind), expected, found})
		}
		switch {
		case row[5] != "ACTIVE":
		case isOver[credentialID]:
			wrong("a removed credential", "one that works")
		case !added[credentialID]:
			wrong("an audit line that adds it", "none")
		}
	}
	return out
}
