package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/kobo-waas/kobo/internal/admin"
	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/report"
)

// samePayout is another payout of the same amount to the same account.
type samePayout struct {
	reference, word, at string
	doubt               *string // as in a timeline
}

// chip returns the kind and the word of the chip of the state.
func (p samePayout) chip() (kind, word string) {
	return paymentChip(admin.Payment{Kind: "payout", Word: p.word, Doubt: p.doubt})
}

// warnsOf reports whether the list has a payout whose money is not back, so that the account may be paid twice.
func warnsOf(list []samePayout) bool {
	return slices.ContainsFunc(list, func(p samePayout) bool { return p.doubt != nil || p.word != "failed" && p.word != "reversed" })
}

// same returns the other payouts of the same amount for operators.
func (s story) same() (out []samePayout) {
	for _, p := range s.Same {
		out = append(out, samePayout{p.Reference, p.Word, p.CreatedAt, p.Doubt})
	}
	return out
}

// same returns the other payouts of the same amount for the people of the company.
func (t thing) same() (out []samePayout) {
	for _, p := range t.belongs.Same {
		out = append(out, samePayout{p.Reference, p.Word, clock.Text(p.CreatedAt), doubtOf(p.Doubt)})
	}
	return out
}

// belongings reads what a payment of the visitor's company belongs to.
func (v *visit) belongings(reference string) (report.Belongings, error) {
	return v.Reports.Belongings(v.Context(), v.who.Company, reference)
}

// revealBeneficiary shows the account that a payout pays for five minutes, to the person who has given a reason.
func revealBeneficiary(v *visit) (string, error) {
	var seen json.RawMessage
	_, err := v.call("revealBeneficiary", admin.Input{Path: map[string]string{"id": v.PathValue("reference")}, Body: admin.RevealReason{
		Reason: v.PostForm.Get("reason"), Note: strings.TrimSpace(v.PostForm.Get("note")),
	}}, &seen)
	if err != nil {
		return "", err
	}
	return "/console/p/" + url.PathEscape(v.PathValue("reference")) + "/account/" + v.answers.keep(v.session, seen), nil
}

// showBeneficiary shows a payout with the account that the person has asked for. Later, and to anybody else, it is the page
// without it.
func showBeneficiary(v *visit) (view, error) {
	s, err := v.storyOf(v.PathValue("reference"))
	if err != nil {
		return view{}, err
	}
	s.lane = v.filter("lane", "")
	if text, there := v.answers.read(v.session, v.PathValue("seen")); there {
		var seen admin.Beneficiary
		if err := json.Unmarshal(text, &seen); err != nil {
			return view{}, err
		}
		if seen.Reference == s.Reference {
			s.paid = &seen
		}
	}
	return view{title: s.title(), item: "payments", body: timelinePage(v, s)}, nil
}
