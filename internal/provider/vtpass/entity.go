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
}

// VerifyEntity asks for the owner of a smartcard or a meter. VTpass wants the kind of
// a meter, and our question has none. Most meters are prepaid, so prepaid comes
// first.
func (p *Plug) VerifyEntity(ctx context.Context, q provider.EntityQuery) provider.EntityAnswer {
	if q.Kind != provider.Utility {
		return p.entity(ctx, entityRequest{BillersCode: q.Number, ServiceID: q.Category})
	}
	a := p.entity(ctx, entityRequest{BillersCode: q.Number, ServiceID: q.Category, Type: "prepaid"})
	if a.Outcome == provider.Rejected {
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
		Code: provider.First(e.Code, provider.CodeUnreadable), Message: provider.Message(provider.First(d.Error, e.Description)),
	}}
	wrong := d.Wrong == "true" || d.Wrong == "1" || d.Error != ""
	done := e.Code == processed || e.Code == "020" // "biller confirmed"
	switch {
	case done && readable && d.Name != "" && !wrong:
		out.Outcome, out.Entity = provider.Confirmed, d.entity(ask.Type)
	case done && readable && wrong && d.Name == "":
		out.Outcome = provider.Rejected
	}
	return out
}

// entity returns the answer as an Entity. The kind in the answer replaces the kind in the
// question. An unreadable limit is no limit, since VTpass checks its own limits.
func (d entity) entity(asked string) provider.Entity {
	renewal, _ := naira(d.Renewal)
	least, _ := naira(text(provider.First(d.Least, d.OtherWord)))
	most, _ := naira(d.Most)
	return provider.Entity{
		CustomerName: string(d.Name), Address: string(d.Address), CurrentPackage: string(d.Package), DueDate: day(d.DueDate),
		Renewal: renewal, VendType: strings.ToUpper(provider.First(d.MeterType, text(asked))), Least: least, Most: most,
	}
}

// day returns the date of an instant without a time zone, or "".
func day(t text) string {
	if len(t) >= 10 && t[4] == '-' && t[7] == '-' {
		return string(t[:10])
	}
	return ""
}
