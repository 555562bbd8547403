package vtpass

import (
	"context"
	"strings"

	"github.com/kobo-waas/kobo/internal/provider"
)

type entityRequest struct {
	BillersCode string `json:"billersCode"`
	ServiceID   string `json:"serviceID"`
	Type        string `json:"type,omitempty"` // the kind of a meter
}

// These codes belong to verifications. After "biller confirmed" the reply has the customer's data.
// After "invalid arguments" the number does not have the right form. The codes 012 ("product does not
// exist") and 030 ("biller not reachable") state nothing about the number, so the outcome stays
// Unknown.
const (
	confirmed  = "020"
	unfit      = "011"
	cannotVend = "cannot_vend" // our own code: the meter exists, but the power company does not sell to it
)

type entity struct {
	Name      text `json:"Customer_Name"`
	Address   text `json:"Address"`
	Package   text `json:"Current_Bouquet"`
	DueDate   text `json:"Due_Date"`
	Renewal   text `json:"Renewal_Amount"`
	MeterType text `json:"Meter_Type"`
	Least     text `json:"Min_Purchase_Amount"`
	OtherWord text `json:"Minimum_Amount"`
	Most      text `json:"Maximum_Amount"`
	Error     text `json:"error"`
	Wrong     text `json:"WrongBillersCode"`
	CanVend   text `json:"Can_Vend"`
}

// VerifyEntity asks for the owner of a smartcard or a meter. VTpass requires the kind of a meter,
// which an EntityQuery does not contain. So the plug first asks for a prepaid meter, since most
// meters are prepaid. If VTpass refuses that request, the plug asks for a postpaid meter.
func (p *Plug) VerifyEntity(ctx context.Context, q provider.EntityQuery) provider.EntityAnswer {
	if q.Kind != provider.Utility {
		return p.entity(ctx, entityRequest{BillersCode: q.Number, ServiceID: q.Category})
	}
	a := p.entity(ctx, entityRequest{BillersCode: q.Number, ServiceID: q.Category, Type: "prepaid"})
	if a.Outcome == provider.Rejected && a.Code != cannotVend {
		a = p.entity(ctx, entityRequest{BillersCode: q.Number, ServiceID: q.Category, Type: "postpaid"})
	}
	return a
}

func (p *Plug) entity(ctx context.Context, ask entityRequest) provider.EntityAnswer {
	reply := p.ask(ctx, "/merchant-verify", ask)
	var e envelope
	if a, ok := reply.Read(&e); !ok {
		return provider.EntityAnswer{Answer: a}
	}
	var d entity
	readable := e.into(&d)
	out := provider.EntityAnswer{Answer: provider.Answer{
		Code: provider.First(text(e.Code), provider.CodeUnreadable), Message: provider.Message(provider.First(d.Error, e.Description)),
	}}
	wrong := d.Wrong == "true" || d.Wrong == "1" || d.Error != ""
	done := e.Code == processed || e.Code == confirmed
	switch {
	case e.Code == unfit && d.Name == "":
		out.Outcome = provider.Rejected
	case done && readable && d.Name != "" && strings.EqualFold(string(d.CanVend), "no"):
		out.Outcome, out.Code, out.Message = provider.Rejected, cannotVend, "the power company does not sell to this meter now"
	case done && readable && d.Name != "" && !wrong:
		out.Outcome, out.Entity = provider.Confirmed, d.entity(ask.Type)
	case done && readable && wrong && d.Name == "":
		out.Outcome = provider.Rejected
	}
	return out
}

// entity converts VTpass's data to an Entity. If the data contains the kind of the meter, that kind
// replaces the requested kind. An unreadable limit counts as "no limit", since VTpass checks its
// limits anyway.
func (d entity) entity(asked string) provider.Entity {
	renewal, _ := naira(d.Renewal)
	least, _ := naira(text(provider.First(d.Least, d.OtherWord)))
	most, _ := naira(d.Most)
	return provider.Entity{
		CustomerName: string(d.Name), Address: string(d.Address), CurrentPackage: string(d.Package), DueDate: day(d.DueDate),
		Renewal: renewal, VendType: strings.ToUpper(provider.First(d.MeterType, text(asked))), Least: least, Most: most,
	}
}

// day returns the date at the start of a timestamp, or "" if there is none. The timestamp has no
// time zone.
func day(t text) string {
	if len(t) >= 10 && t[4] == '-' && t[7] == '-' {
		return string(t[:10])
	}
	return ""
}
