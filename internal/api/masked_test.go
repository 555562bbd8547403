package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/person"
)

// A person in the role viewer reads the customers of the company masked. The same request of a program, and of another role, has the
// whole values.
func TestTheAPIAnswersAViewerMasked(t *testing.T) {
	w := newWorld(t)
	_, url := w.serve(t)
	handler, err := api.New(w.Config)
	if err != nil {
		t.Fatal(err)
	}
	access, _, err := w.stage.Companies.Tokens(t.Context(), w.reference, w.given["api_key"])
	if err != nil {
		t.Fatal(err)
	}
	made, text := send(t, "POST", url+"/api/v1/customer/create", `{"firstName":"Ngozi","lastName":"Okafor","email":"ngozi@gmail.com","phoneNumber":"08031234567","bvn":"22222222222",
		"dateOfBirth":"1990-05-17","address":{"line1":"12 Marina","city":"Lagos","state":"Lagos"}}`, "Content-Type", "application/json", "Authorization", "Bearer "+access)
	if made.StatusCode != http.StatusOK && made.StatusCode != http.StatusCreated {
		t.Fatal(made.StatusCode, text)
	}
	_, whole := send(t, "GET", url+"/api/v1/customer/", "", "Authorization", "Bearer "+access)
	said := map[string]string{"a program": whole}
	for _, role := range []string{person.Viewer, person.Developer} {
		r := httptest.NewRequestWithContext(api.Seat(t.Context(), person.Person{Company: w.reference, Name: "vera", Role: role}), "GET", "/api/v1/customer/", nil)
		to := httptest.NewRecorder()
		handler.ServeHTTP(to, r)
		if to.Code != http.StatusOK {
			t.Fatal(to.Code, to.Body)
		}
		said[role] = to.Body.String()
	}
	for who, text := range said {
		for _, one := range []string{"08031234567", "ngozi@gmail.com", "1990-05-17", "12 Marina"} {
			if strings.Contains(text, one) == (who == person.Viewer) {
				t.Errorf("%s reads %s", who, text)
			}
		}
	}
	for _, one := range []string{"0803•••4567", "n•••@g•••.com", `"dateOfBirth":"•••"`, `"firstName":"Ngozi"`} {
		if !strings.Contains(said[person.Viewer], one) {
			t.Errorf("no %s in %s", one, said[person.Viewer])
		}
	}
}
