package report

import "testing"

// The clock of a program was ahead when it removed an operator, and was corrected before she was added again. Ids
// of lines follow the clocks, and numbers the acts.
func TestLinesStandInTheOrderOfTheirNumbers(t *testing.T) {
	row := func(leaf, at, action, subject, details string) []string {
		return []string{"", "id", "local:root", action, subject, at, details, leaf, "mac"}
	}
	e := newEvidence(nil, "")
	e.terms.adopted = 1
	for _, line := range [][]string{ // in the order of their ids
		row("2", "100", "operator.key.issue", "ada", `{"keyId":"k1","role":"admin","expiresAt":"never"}`),
		row("4", "200", "operator.key.issue", "ada", `{"keyId":"k2","role":"admin","expiresAt":"never"}`),
		row("3", "300", "operator.key.revoke", "ada", `{"keyId":"k1"}`),
		row("6", "400", "person.role", "p1", `{"personId":"p1","role":"viewer"}`),
		row("5", "500", "person.invite", "p1", `{"personId":"p1","role":"finance"}`),
	} {
		if err := e.operators.add(line); err != nil {
			t.Fatal(err)
		}
		if err := e.people.add(line); err != nil {
			t.Fatal(err)
		}
	}
	key := func(id, state string) []any { return []any{id, "ada", "", state, "", "admin", int64(0)} }
	e.rights.rows = map[string][][]any{
		"operator_key": {key("k1", "REVOKED"), key("k2", "ACTIVE")},
		"person":       {{"acme", "p1", "Bola", "viewer", "ACTIVE"}},
	}
	if found := e.ofPeople(); len(found) > 0 {
		t.Errorf("%v", found)
	}
	e.rights.rows["operator_key"][0][3] = "ACTIVE" // somebody has put the row back
	e.rights.rows["person"][0][3] = "finance"
	if found := e.ofPeople(); len(found) != 2 {
		t.Errorf("%v", found)
	}
}
