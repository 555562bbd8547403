package console_test

import (
	"net/http"
	"regexp"
	"testing"

	who "github.com/kobo-waas/kobo/internal/person"
)

// A program asks for an API key, and the first person who approves is removed. This approval does not count any more, neither for a new
// person of the same name nor for the next one who approves. A person who is newer than the request approves as others do.
func TestTheApprovalOfARemovedPersonDoesNotCount(t *testing.T) {
	each(t, func(w *world) {
		ada, emeka := w.seat(w.company.Reference, "ada", who.Owner), w.seat(w.company.Reference, "emeka", who.Developer)
		w.seat(w.company.Reference, "dele", who.Developer) // two people stay after emeka
		ada.submit("/app/approvals", "/app/settings/two-people", map[string]string{"on": "true"})
		var token struct{ AccessToken string }
		w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
		w.asCompany("POST", "/api/v1/company/api-keys", token.AccessToken, map[string]string{"pin": w.company.PIN, "name": "Shop"}, nil)
		at := regexp.MustCompile(`/app/approvals/[0-9a-f-]{36}`).FindString(ada.read("/app/approvals"))
		emeka.submit(at, at+"/approve", nil)
		ada.says(at, "The first was emeka.")
		ada.removes("emeka")
		ada.says(at, "Nobody has approved it yet.")
		newer := w.seat(w.company.Reference, "emeka", who.Developer)
		newer.says(at, "Nobody has approved it yet.")
		ada.submit(at, at+"/approve", nil)
		ada.says(at, "The first was ada.")
		if working := w.working(); working != 1 {
			w.t.Fatalf("%d keys work after one approval that counts", working)
		}
		if g := ada.press(at + "/approve"); g.status != http.StatusForbidden {
			t.Errorf("the same person twice: %d", g.status)
		}
		newer.submit(at, at+"/approve", nil)
		if working := w.working(); working != 2 {
			t.Errorf("%d keys work after two approvals", working)
		}
	})
}

// Two people who have joined after the request approve it: an approval counts from its own time on.
func TestPeopleWhoAreNewerThanARequestApproveIt(t *testing.T) {
	each(t, func(w *world) {
		ada := w.seat(w.company.Reference, "ada", who.Owner)
		w.seat(w.company.Reference, "dele", who.Developer)
		ada.submit("/app/approvals", "/app/settings/two-people", map[string]string{"on": "true"})
		var token struct{ AccessToken string }
		w.asCompany("POST", "/api/v1/auth/generate-token/"+w.company.Reference, "", nil, &token)
		w.asCompany("POST", "/api/v1/company/api-keys", token.AccessToken, map[string]string{"pin": w.company.PIN, "name": "Shop"}, nil)
		at := regexp.MustCompile(`/app/approvals/[0-9a-f-]{36}`).FindString(ada.read("/app/approvals"))
		for n, name := range []string{"bola", "chika"} {
			p := w.seat(w.company.Reference, name, who.Developer)
			p.submit(at, at+"/approve", nil)
			if working := w.working(); working != 1+n {
				w.t.Errorf("%d keys work after %d approvals", working, 1+n)
			}
		}
	})
}

// working returns the number of the company's API keys that work.
func (w *world) working() int {
	w.t.Helper()
	keys, err := w.app.Companies.Working(w.t.Context(), w.company.Reference)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(keys)
}
