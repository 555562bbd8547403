package sandbox

import "slices"

// sale checks a payment against the catalogue and the kind's own fields. It
// returns what is wrong with it in words, or "".
func (p payRequest) sale(kind string) (sale, string) {
	c, known := categoryByID[p.ServiceCategoryID]
	v := sale{
		reference: p.ExternalReference, id: saleID(p.ExternalReference), kind: kind,
		category: p.ServiceCategoryID, amount: p.Amount,
	}
	switch {
	case thanks[kind] == "":
		return v, "There is no such kind of purchase"
	case len(p.ExternalReference) < 4 || len(p.ExternalReference) > 100:
		return v, "externalReference must have 4 to 100 characters"
	case p.DebitAccountNumber != debitAccount:
		return v, "debitAccountNumber is not an account of this client"
	case !slices.Contains([]string{"WEB", "POS", "ATM"}, p.Channel):
		return v, "channel must be one of WEB, POS, ATM"
	case !known || c.service.path != kind:
		return v, "serviceCategoryId is not a category of this service"
	case p.Amount <= 0:
		return v, "amount must be greater than 0"
	}
	if complaint := p.receiver(&v); complaint != "" {
		return v, complaint
	}
	return v, p.bundle(&v, c)
}

// receiver is for whom the purchase is.
func (p payRequest) receiver(v *sale) string {
	switch v.kind {
	case "airtime", "data":
		v.number = p.PhoneNumber
		if len(v.number) != 11 || !digits(v.number) {
			return "phoneNumber must have 11 digits"
		}
	case "cable-tv":
		v.number = p.CardNumber
		if len(v.number) < 8 || !digits(v.number) {
			return "cardNumber must have at least 8 digits"
		}
	case "utility":
		v.number = p.MeterNumber
		if len(v.number) < 8 || !digits(v.number) {
			return "meterNumber must have at least 8 digits"
		}
		switch p.VendType {
		case "PREPAID":
			v.token = meterToken(v.reference)
		case "POSTPAID":
		default:
			return "vendType must be one of PREPAID, POSTPAID"
		}
	}
	return ""
}

// bundle is what is bought: data and cable TV have bundles with a price of
// their own, the others take any amount.
func (p payRequest) bundle(v *sale, c category) string {
	if v.kind == "airtime" || v.kind == "utility" {
		v.productName = c.name
		return ""
	}
	i := slices.IndexFunc(c.products, func(q product) bool { return q.bundle == p.BundleCode })
	if i < 0 {
		return "bundleCode is not a product of this category"
	}
	q := c.products[i]
	if q.price > 0 && q.price != v.amount {
		return "amount is not the price of this product"
	}
	v.product, v.productName = q.bundle, q.name
	if q.name == "" {
		v.productName = q.validity
	}
	return ""
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
