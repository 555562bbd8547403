package event

import (
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/wire"
)

// Limit is the data of the event LimitsChanged. A limit is for payouts, for requests, or for a kind
// with a daily quota. The zero values of the last three fields stand for "not limited" and for "the
// whole company".
type Limit struct {
	CompanyID    string      `json:"companyId"`
	Limit        string      `json:"limit"`
	Per          string      `json:"per"` // day or second
	SettlementID wire.Number `json:"settlementId"`
	Amount       *money.Kobo `json:"amount"`
	Count        wire.Number `json:"count"`
}
