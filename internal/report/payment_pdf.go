package report

import (
	"io"
	"time"

	"github.com/kobo-waas/kobo/internal/money"
)

// ProvenPayout is a payout that the bank has confirmed, as the companies' API shows it.
type ProvenPayout struct {
	Company                          string // the name of the company that has paid
	Name, Account, Bank              string // of the beneficiary
	Reference, OwnReference, Session string
	Narration, Words                 string // the words are the amount in words, or ""
	Amount                           money.Kobo
	Asked, Known                     time.Time // the request, and the confirmation
}

// ProofOfPayment writes a page for the one who was paid: who has paid what to whom, and under which session the banks know
// it. The fee is nobody else's business, so the page does not have it.
func (s *Service) ProofOfPayment(w io.Writer, paid ProvenPayout) error {
	now := s.clock.Now()
	p := &drawing{statement: &Statement{issuer: s.issuer}, file: newPDF(w, s.issuer.Logo), pages: 1}
	p.letterhead()
	p.box(navy, 0, p.y, paperWidth, 84_00)
	p.left(style{bold, 20_00, white}, margin, p.y+42_00, 300_00, "Proof of payment")
	p.left(style{usual, 10_00, sky}, margin, p.y+62_00, 300_00, lagos(paid.Known, "2 January 2006, 15:04:05")+" in Lagos")
	p.right(style{usual, 8_00, sky}, edge, p.y+62_00, 200_00, "Issued "+lagos(now, "2 January 2006, 15:04")+" in Lagos")
	p.y += 106_00
	p.box(pale, margin, p.y, across, 56_00)
	p.left(style{usual, 8_00, grey}, margin+10_00, p.y+16_00, across-20_00, "Amount in Nigerian naira (NGN)")
	p.amount(style{bold, 20_00, navy}, edge-10_00, p.y+38_00, across-20_00, paid.Amount)
	p.right(small, edge-10_00, p.y+50_00, across-20_00, paid.Words)
	p.y += 78_00
	p.facts("Paid by", paid.Company, "Paid to", paid.Name, "Account", paid.Account)
	p.facts("Bank", paid.Bank, "Narration", orDash(paid.Narration), "Own reference", orDash(paid.OwnReference))
	p.facts("Asked for", lagos(paid.Asked, "2 January 2006, 15:04:05"), "Confirmed", lagos(paid.Known, "2 January 2006, 15:04:05"), "State", "Paid")
	p.wide("Session id between the banks", orDash(paid.Session))
	p.wide("Reference", paid.Reference)
	p.y += 8_00
	for _, line := range label.lines("The bank that pays has confirmed this payment. The receiving bank finds it by the session id. "+
		"This page comes from the records of the company's ledger, and is no receipt of the receiving bank.", across, 3) {
		p.text(label, margin, p.y, line)
		p.y += 10_00
	}
	p.box(line, margin, 806_00, across, 60)
	p.left(small, margin, 817_00, across, "Times in Lagos (UTC+1).")
	p.file.page(p.canvas)
	return p.file.close("Proof of payment: "+paid.Reference, now, nil)
}

// wide draws a name with a text that needs the whole line.
func (p *drawing) wide(name, text string) {
	p.left(label, margin, p.y, across, name)
	p.left(style{usual, 9_50, ink}, margin, p.y+12_00, across, text)
	p.y += 29_00
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
