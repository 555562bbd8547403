package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/report"
)

func (c *console) evidenceRoutes() map[string]route {
	return map[string]route{
		"GET /app/settings/proof":             {show: showEvidence, query: []string{"after"}},
		"GET /app/settings/proof/receipt":     {download: downloadAnyReceipt, query: []string{"reference"}},
		"GET /app/settings/proof/consistency": {download: downloadConsistency, query: []string{"from", "to"}},
		"GET /app/settings/verification":      {show: showVerification},
		"GET /app/p/{reference}/receipt":      {download: downloadReceipt, query: []string{"step"}},
		"GET /app/p/{reference}/proof.pdf":    {download: exporting(downloadProof)},
	}
}

// evidence is what a company can check on its own.
type evidence struct {
	integrity   api.Integrity
	isAdding    bool // more new entries than one look can add up, so the integrity is not known yet
	checkpoints pageOfOwn[api.Checkpoint]
	key         api.CheckpointKey
}

func showEvidence(v *visit) (view, error) {
	var e evidence
	var integrity one[api.Integrity]
	var key one[api.CheckpointKey]
	status, err := v.ask("GET", "/api/v1/integrity", nil, &integrity)
	// Too many new entries are the only case of this status in which the other pages of the database still answer.
	if e.isAdding = status == http.StatusServiceUnavailable; err != nil && !e.isAdding {
		return view{}, err
	}
	if e.checkpoints, err = ownRows[api.Checkpoint](v, "/api/v1/checkpoints", "pageSize", "20"); err != nil {
		return view{}, err
	}
	if _, err := v.ask("GET", "/api/v1/checkpoints/key", nil, &key); err != nil {
		return view{}, err
	}
	e.integrity, e.key = integrity.Data, key.Data
	return view{title: "Proof", item: "settings", body: evidencePage(v, e)}, nil
}

// downloadReceipt sends the receipt of a payment as a file for kobo receipt verify.
func downloadReceipt(v *visit) error {
	reference := v.PathValue("reference")
	name := "receipt-" + reference
	if step := v.filter("step", ""); step != "" {
		name += "-" + step
	}
	return v.saveJSON("/api/v1/receipts/"+url.PathEscape(reference)+v.asked(), name)
}

// downloadAnyReceipt sends the receipt of a reference that somebody has typed.
func downloadAnyReceipt(v *visit) error {
	reference := strings.TrimSpace(v.filter("reference", ""))
	if reference == "" {
		return fault.New(fault.Invalid, "Type the reference of a payment or an event")
	}
	return v.saveJSON("/api/v1/receipts/"+url.PathEscape(reference), "receipt-"+reference)
}

// downloadConsistency sends the proof that a later checkpoint continues an earlier one.
func downloadConsistency(v *visit) error {
	return v.saveJSON("/api/v1/checkpoints/consistency"+v.asked(), "consistency-"+v.filter("from", ""))
}

// downloadProof sends the proof of payment of a payout as a PDF. It draws what the companies' API says.
func downloadProof(v *visit) error {
	var p one[payoutRow]
	if _, err := v.ask("GET", "/api/v1/settlement/payout-status/"+url.PathEscape(v.PathValue("reference")), nil, &p); err != nil {
		return err
	}
	d := p.Data
	if d.Status != "SUCCESS" || d.CompletedAt == nil {
		return fault.New(fault.Refused, "The bank has not confirmed this payout, so there is no proof of payment.")
	}
	var c one[api.Company]
	if _, err := v.ask("GET", "/api/v1/company", nil, &c); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := v.Reports.ProofOfPayment(&text, report.ProvenPayout{
		Company: c.Data.Name, Name: d.AccountName, Account: d.AccountNumber, Bank: optional(d.BankName), Reference: d.Reference, OwnReference: optional(d.OwnReference),
		Session: optional(d.SessionID), Narration: optional(d.Narration), Words: inWords(d.Amount), Amount: d.Amount,
		Asked: instant(d.CreatedAt), Known: instant(*d.CompletedAt),
	}); err != nil {
		return err
	}
	file := "proof-of-payment-" + fileName(d.Reference) + ".pdf"
	if err := v.noteExport(file, ""); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/pdf")
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+file+`"`)
	_, err := v.w.Write(text.Bytes())
	v.log(v.Context(), "a file was not written whole", err) // the browser has gone
	return nil
}

// saveJSON sends the data of an answer as a file.
func (v *visit) saveJSON(path, name string) error {
	var said one[json.RawMessage]
	if _, err := v.ask("GET", path, nil, &said); err != nil {
		return err
	}
	text, err := json.MarshalIndent(said.Data, "", "  ")
	if err != nil {
		return errors.Join(errNothing, err)
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+fileName(name)+`.json"`)
	_, err = v.w.Write(append(text, '\n'))
	v.log(v.Context(), "a file was not written whole", err) // the browser has gone
	return nil
}

// fileName returns a text with which a file can be named.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
			return r
		}
		return -1
	}, text)
}

// receiptSteps are the transfers of a payment, each of which has a receipt.
func (t thing) receiptSteps() []pageTab {
	if t.story.Kind == "collection" {
		return nil // the credit that pays it has a receipt
	}
	at := "/app/p/" + url.PathEscape(t.story.Reference) + "/receipt"
	out := []pageTab{{"Receipt", at}}
	if !t.isOperation() {
		return out
	}
	switch t.Status {
	case "SUCCESS":
		out = append(out, pageTab{"Receipt of the settlement", at + "?step=settle"})
	case "FAILED":
		out = append(out, pageTab{"Receipt of the refund", at + "?step=refund"})
	}
	return out
}

// ownAccountName names an account of the company's ledger. There is a clearing account for each kind of payment.
func ownAccountName(account string) string {
	if kind, clears := cutPrefix(account, "clearing/"); clears {
		return "Clearing, " + strings.ToLower(kindWord(kind)) + "s"
	}
	return accountName(account)
}
