package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/operator"
)

// act runs an operation on the company of the address. If a second operator is needed, it leads to the
// proposal, and otherwise to a page.
func (v *visit) act(operation string, body any, to string) (string, error) {
	var said json.RawMessage
	waits, err := v.call(operation, admin.Input{Path: v.named(), Body: body}, &said)
	if err != nil || !waits {
		return to, err
	}
	var p admin.ProposedActs
	err = json.Unmarshal(said, &p)
	return "/console/proposals/" + p.ProposalID, err
}

func (v *visit) companyPath() string {
	return "/console/companies/" + url.PathEscape(v.PathValue("reference"))
}

// moveKYB moves the KYB of a company. A company that must change something, or is rejected, reads why.
func moveKYB(v *visit) (string, error) {
	body := admin.KYBRequest{Status: v.PostForm.Get("status"), Reason: strings.TrimSpace(v.PostForm.Get("reason"))}
	if body.Reason == "" && slices.Contains([]string{"CHANGES_REQUESTED", "REJECTED"}, body.Status) {
		return "", fault.New(fault.Invalid, "Say why. The company reads the reason, and learns by it what to do.")
	}
	return v.act("moveKYB", body, v.companyPath())
}

func setLive(v *visit) (string, error) {
	return v.act("setLive", admin.LiveRequest{Live: v.PostForm.Get("live") == "true"}, v.companyPath())
}

// activeKeys returns the API keys of a company that can be revoked.
func (a about) activeKeys() []admin.Key {
	return slices.DeleteFunc(slices.Clone(a.APIKeys), func(k admin.Key) bool { return k.Status != "ACTIVE" })
}

// endOfKey names an API key by its last four characters. A key of an early release has none, and is named by its id.
func endOfKey(k admin.Key) string {
	if end := optional(k.Ending); end != "" {
		return "…" + end
	}
	return ending(k.ID)
}

// planRevocation says which programs a revocation stops: those that use the key, and all of them if it is the last one.
func planRevocation(c typedChange) (plan, error) {
	all := c.about.activeKeys()
	i := slices.IndexFunc(all, func(k admin.Key) bool { return k.ID == c.text("key") })
	if i < 0 {
		return plan{}, fault.New(fault.Missing, "Choose an API key that works.")
	}
	used := "No use of it is known."
	if at := optional(all[i].LastUsedAt); at != "" {
		used = "A program used it last at " + inLagos(at) + " from " + optional(all[i].LastUsedFrom) + "."
	}
	says := []string{fmt.Sprintf("The API key %s of %s stops working at once. Requests with it fail.", endOfKey(all[i]), c.about.Name), used}
	if len(all) == 1 {
		says = append(says, "It is the last key that works: no program of "+c.about.Name+" can then call Kobo.")
	}
	return plan{id: all[i].ID, says: append(says, "Nobody can undo it.")}, nil
}

func setAccountStatus(v *visit) (string, error) {
	body := admin.StatusRequest{Status: v.PostForm.Get("status"), Reason: strings.TrimSpace(v.PostForm.Get("reason"))}
	return v.act("setAccountStatus", body, v.companyPath()+"/accounts/"+url.PathEscape(v.PathValue("id")))
}

// reveal shows the contact data of a customer for five minutes, to the person who has given a reason.
func reveal(v *visit) (string, error) {
	var seen json.RawMessage
	_, err := v.call("reveal", admin.Input{Body: admin.RevealRequest{
		Company: v.PathValue("reference"), CustomerID: v.PathValue("id"), Reason: v.PostForm.Get("reason"), Note: strings.TrimSpace(v.PostForm.Get("note")),
	}}, &seen)
	if err != nil {
		return "", err
	}
	return v.companyPath() + "/customers/" + url.PathEscape(v.PathValue("id")) + "/" + v.answers.keep(v.session, seen), nil
}

// showRevealed shows a customer with the contact data that the person has asked for. Later, and to anybody
// else, it is the page without them.
func showRevealed(v *visit) (view, error) {
	text, there := v.answers.read(v.session, v.PathValue("seen"))
	var seen admin.Revealed
	if !there {
		return customerView(v, nil)
	}
	if err := json.Unmarshal(text, &seen); err != nil {
		return view{}, err
	}
	if seen.CustomerID != v.PathValue("id") || seen.Company != v.PathValue("reference") {
		return customerView(v, nil)
	}
	return customerView(v, &seen)
}

// revealReasons are the reasons of a reveal, with their words.
var revealReasons = []struct{ value, label string }{
	{"CALLER_VERIFIED", "The caller is verified"}, {"BANK_QUESTION", "A question of the bank"}, {"INVESTIGATION", "Investigation"}, {"OTHER", "Other"},
}

func (v *visit) mayReveal() bool { return v.may(operator.Support) }
