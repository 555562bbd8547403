package admin_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
	"github.com/kobo-waas/kobo/internal/person"
)

// An operator who asks for an invitation has the link, and the operator who approves has the code. Neither of
// them alone can sign in as the new operator.
func TestAnInvitationNeedsTwoOperators(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		const invitations = "/admin/v1/operators/invitations"
		token, digest := person.NewLink()
		body := `{"name":"grace","role":"finance","linkDigest":"` + digest + `"}`
		d.no(d.ada, "POST", invitations, `{"name":"grace","role":"finance","linkDigest":"x"}`, 400, `"linkDigest" must be the SHA-256 of the link's token, as 64 characters of 0-9 and a-f`)
		d.no(d.ada, "POST", invitations, `{"name":"G","role":"finance","linkDigest":"`+digest+`"}`, 400, `"name" must be 2 to 64 characters of a-z, 0-9, and . _ @ -`)
		d.no(d.ada, "POST", invitations, `{"name":"bob","role":"viewer","linkDigest":"`+digest+`"}`, 400, "bob has the role admin: invite with this role, or change the role first")
		p := d.propose(d.ada, invitations, body)
		acts := d.state(p, "PROPOSED")["acts"].([]any)
		if shown := acts[0].(map[string]any)["body"].(map[string]any)["linkDigest"]; shown != digest[:8]+"…" {
			t.Errorf("the proposal shows %v", shown)
		}
		if _, _, err := d.people.UseLink(t.Context(), "", token.Reveal(), "", ""); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the link before the approval: %v", err)
		}
		d.no(d.ada, "POST", p+"/approve", "", 400, "")
		code, _ := d.ok(d.bob, "POST", p+"/approve", "")["code"].(string)
		if len(code) != 12 {
			t.Fatalf("the code is %q", code)
		}
		for _, wrong := range []string{"", strings.ToLower(code), "AAAAAAAAAAAA"} {
			if _, _, err := d.people.UseLink(t.Context(), "", token.Reveal(), wrong, ""); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("the link with the code %q: %v", wrong, err)
			}
		}
		grace, _, err := d.people.UseLink(t.Context(), "", token.Reveal(), code, "")
		if err != nil || grace.Name != "grace" || grace.Role != "finance" {
			t.Fatalf("the link with the code: %+v, %v", grace, err)
		}
		if text := d.log.String(); strings.Contains(text, code) || strings.Contains(text, token.Reveal()) {
			t.Error("the log holds the link or the code")
		}
		for _, row := range d.rows("/admin/v1/operators") {
			if row["name"] == "grace" && (row["role"] != "finance" || row["lastUsedAt"] != nil) {
				t.Errorf("the operator: %v", row)
			}
		}
		for _, key := range []string{"", digest, "kobo_admin_"} {
			if status, _, _ := d.send(key, "GET", "/admin/v1/operators", ""); status != 401 {
				t.Errorf("the key %q of an operator without one: %d", key, status)
			}
		}

		d.no(d.ada, "POST", "/admin/v1/operators/ada/remove", "", 400, "Nobody removes themselves: ask another admin")
		d.no(d.ada, "POST", "/admin/v1/operators/nobody/remove", "", 404, "nobody has no working key")
		d.write(`UPDATE operator_key SET role = 'admin' WHERE name = 'grace'`) // an altered row acts for nobody, and can be removed
		if gone := d.ok(d.ada, "POST", "/admin/v1/operators/grace/remove", ""); gone["status"] != "REVOKED" {
			t.Errorf("removed: %v", gone)
		}
		if _, err := d.people.Find(t.Context(), "", grace.ID); !fault.Is(err, fault.Missing) {
			t.Errorf("a removed operator: %v", err)
		}
	})
}

// Two admins remove each other at the same time. One of them stays: otherwise nobody could add another admin over HTTP.
func TestTwoAdminsWhoRemoveEachOtherLeaveOne(t *testing.T) {
	each(t, func(t *testing.T, d *door) {
		for range 20 {
			keys := map[string]string{"ada": d.ada, "bob": d.bob}
			said := map[string]*int{"ada": new(int), "bob": new(int)}
			var both sync.WaitGroup
			for name, other := range map[string]string{"ada": "bob", "bob": "ada"} {
				both.Go(func() {
					r, _ := http.NewRequestWithContext(t.Context(), "POST", d.url+"/admin/v1/operators/"+other+"/remove", nil)
					r.Header.Set("Authorization", "Bearer "+keys[name])
					w, err := http.DefaultClient.Do(r)
					if err != nil {
						t.Error(err)
						return
					}
					defer w.Body.Close()
					*said[name] = w.StatusCode
				})
			}
			both.Wait()
			if admins, err := d.operators.Admins(t.Context()); err != nil || admins != 1 {
				t.Fatalf("%d admins, %v: %d and %d", admins, err, *said["ada"], *said["bob"])
			}
			for name, key := range map[string]*string{"ada": &d.ada, "bob": &d.bob} {
				if _, err := d.operators.Find(t.Context(), name); !fault.Is(err, fault.Missing) {
					continue
				}
				_, text, err := d.operators.IssueKey(t.Context(), operator.Local("test"), name)
				if err != nil {
					t.Fatal(err)
				}
				*key = text.Reveal()
			}
		}
		d.ok(d.ada, "POST", "/admin/v1/operators/bob/remove", "")
		if err := d.operators.Remove(t.Context(), operator.Local("test"), "ada"); fault.Of(err).Message != "The last admin stays" {
			t.Errorf("the last admin: %v", err)
		}
		if err := d.operators.RevokeKey(t.Context(), operator.Local("test"), "ada"); err != nil {
			t.Errorf("the owner of the machine: %v", err)
		}
	})
}

func TestOperatorsManageACompanysPeople(t *testing.T) {
	byTwo(t, func(t *testing.T, d *door) {
		company, _ := d.company()
		other, _ := d.company()
		reference := strings.TrimPrefix(company, "/admin/v1/companies/")
		approve := func(proposal string) map[string]any { return d.ok(d.bob, "POST", proposal+"/approve", "") }
		invite := func(name, role string) string {
			token, digest := person.NewLink()
			i := approve(d.propose(d.ada, company+"/people", `{"name":"`+name+`","role":"`+role+`","linkDigest":"`+digest+`"}`))
			p, _, err := d.people.UseLink(t.Context(), reference, token.Reveal(), i["code"].(string), "")
			if err != nil || p.ID != i["personId"] || p.Role != role {
				t.Fatalf("%s: %+v, %v", name, p, err)
			}
			return p.ID
		}
		olu, vera := invite("olu", "owner"), invite("vera", "viewer")
		_, digest := person.NewLink()
		d.no(d.ada, "POST", company+"/people", `{"name":"olu","role":"viewer","linkDigest":"`+digest+`"}`, 400, "olu has the role owner: invite with this role, or change the role first")
		d.no(d.ada, "POST", other+"/people/"+vera+"/role", `{"role":"owner"}`, 404, "There is no such person")
		d.no(d.ada, "POST", other+"/people/"+vera+"/end", "", 404, "There is no such person")
		const last = "The company needs an owner: make somebody else the owner first"
		d.no(d.ada, "POST", company+"/people/"+olu+"/end", "", 400, last)
		if p := approve(d.propose(d.ada, company+"/people/"+vera+"/role", `{"role":"owner"}`)); p["role"] != "owner" {
			t.Errorf("the new role: %v", p)
		}
		if p := d.ok(d.ada, "POST", company+"/people/"+olu+"/end", ""); p["status"] != "ENDED" {
			t.Errorf("ended: %v", p)
		}
		if list := d.rows(company + "/people"); len(list) != 1 || list[0]["name"] != "vera" || list[0]["role"] != "owner" || list[0]["signsIn"] != false || list[0]["lastSeenAt"] != nil {
			t.Errorf("people: %v", list)
		}
		signedIn, err := d.people.Find(t.Context(), reference, vera)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.people.Begin(t.Context(), signedIn, "a browser", false); err != nil {
			t.Fatal(err)
		}
		if list := d.rows(company + "/people"); len(list) != 1 || list[0]["signsIn"] != true || list[0]["lastSeenAt"] == nil {
			t.Errorf("people after a sign-in: %v", list)
		}
		if list := d.rows(other + "/people"); len(list) != 0 {
			t.Errorf("people of another company: %v", list)
		}
	})
}

// rows returns the rows of a list, as the first operator.
func (d *door) rows(path string) (out []map[string]any) {
	d.t.Helper()
	status, said, _ := d.send(d.ada, "GET", path, "")
	all, isList := said["data"].([]any)
	if status != 200 || !isList {
		d.t.Fatalf("GET %s: %d %v", path, status, said)
	}
	for _, one := range all {
		out = append(out, one.(map[string]any))
	}
	return out
}
