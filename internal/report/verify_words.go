package report

import (
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/money"
)

// eventSubject is an SQL expression for the ID of the operation that an event v is about. The event's data is
// packed, or it has the ID at the place of the kind's meaning m.
const eventSubject = `CASE WHEN substr(v.data, 1, 1) = '1' THEN substr(v.data, 2, strpos(substr(v.data, 2, 80) || '"', '"') - 1)
			ELSE substr(v.data, m.place, strpos(substr(v.data, m.place, 80) || '"', '"') - 1) END`

// unpacked returns the data of an event from the column that stores it.
func unpacked(stored string) string { return event.Unpack(stored) }

// operationEvents selects the events of operations in order, each with its operation and the entry of the same
// commit in the clearing account. wordsOf compares them.
const operationEvents = meanings + `
	SELECT e.sequence, e.kind, coalesce(CASE WHEN t.step IN ('', 'reverse') THEN t.credit_account ELSE t.debit_account END, ''),
		coalesce(CASE WHEN t.step IN ('', 'reverse') THEN t.credit_entry ELSE t.debit_entry END, 0),
		CASE WHEN o.id IS NULL THEN 'an operation that it is about' WHEN o.kind <> e.noun
			OR NOT (e.told = 'PENDING' OR e.told = o.state OR e.told = 'SUCCESS' AND o.state = 'REVERSED') THEN 'another' ELSE '' END,
		e.data, e.told, coalesce(o.id, ''), coalesce(o.kind, ''), coalesce(o.state, ''), coalesce(o.idempotency_key, ''),
		coalesce(CASE WHEN v.settlement_id = o.settlement_id AND v.provider = o.provider THEN v.account_number ELSE '' END, ''),
		coalesce(v.bank_code, ''), coalesce(p.phone_number, ''), coalesce(p.card_number, ''), coalesce(p.meter_number, ''),
		CAST(coalesce(o.settlement_id, 0) AS TEXT), coalesce(o.amount_kobo, 0), coalesce(o.fee_kobo, 0)
	FROM (
		SELECT v.company_id, v.sequence, v.kind, v.data, m.operation AS noun, m.state AS told, m.step, ` + eventSubject + ` AS subject
		FROM event AS v JOIN meaning AS m ON m.event = v.kind WHERE v.company_id = $1
	) AS e
	LEFT JOIN operation AS o ON o.company_id = e.company_id AND o.id = e.subject
	LEFT JOIN ledger_transfer AS t ON t.company_id = o.company_id AND t.reference = o.id AND t.step = e.step
	LEFT JOIN payout_verification AS v ON e.kind = 'payout.pending' AND v.company_id = o.company_id AND v.id = o.id
	LEFT JOIN vtu_purchase AS p ON e.kind = 'vtu.pending' AND p.company_id = o.company_id AND p.id = o.id
	ORDER BY e.sequence`

// toldOperation is an event with the operation that it is about.
type toldOperation struct {
	toldEvent
	data, told string
	dueOf
}

// wordsOf reads an event of operationEvents, and compares its data with its operation. The operation's first
// event must also agree with the payee or the purchase.
func wordsOf(s db.Scanner) (toldEvent, error) {
	var o toldOperation
	var amount, fee int64
	err := s.Scan(&o.sequence, &o.toldEvent.kind, &o.toldEvent.account, &o.entry, &o.expected, &o.data, &o.told, &o.id, &o.dueOf.kind, &o.state, &o.key,
		&o.dueOf.account, &o.bank, &o.phone, &o.card, &o.meter, &o.settlementID, &amount, &fee)
	o.amount, o.fee, o.data = money.Kobo(amount), money.Kobo(fee), unpacked(o.data)
	if o.id != "" && (o.expected != "" || !o.agrees()) {
		o.expected = fmt.Sprintf("the words of a %s %s of %d kobo, %s", o.dueOf.kind, o.state, amount, o.id)
	}
	return o.toldEvent, err
}

// agrees reports whether the event has the words of its operation. Texts that JSON escapes are not compared.
func (o toldOperation) agrees() bool {
	begins := func(parts ...string) bool { return strings.HasPrefix(o.data, strings.Join(parts, "")) }
	has := func(parts ...string) bool { return strings.Contains(o.data, strings.Join(parts, "")) }
	begun, escaped := o.told == "PENDING", has(`\`)
	switch o.dueOf.kind {
	case "payout":
		return o.key == o.id && begins(`{"reference":"`, o.id, `","amount":`, o.amount.Number(), `,"fee":`, o.fee.Number(), `,"status":"`, o.told, `",`) &&
			(!begun || o.dueOf.account != "" && has(`"account_number":"`, o.dueOf.account, `","bank_code":"`, o.bank, `"`) &&
				has(`"settlementId":`, o.settlementID, `,"completedAt":null`))
	case "vtu":
		return begins(`{"transactionId":"`, o.id, `","status":"`, o.told, `",`) && has(`"amount":"`, o.amount.Decimal(), `"`) &&
			(escaped || has(`"idempotencyKey":"`, o.key, `","settlementId":`, o.settlementID, `,`)) &&
			(!begun || (o.phone == "" || has(`"phoneNumber":"`, o.phone, `"`)) && (o.card == "" || has(`"cardNumber":"`, o.card, `"`)) &&
				(o.meter == "" || has(`"meterNumber":"`, o.meter, `"`)))
	case "card":
		return begins(`{"reference":"`, o.id, `","cardId":"`) && has(`,"amount":`, o.amount.Number(), `,"status":"`, o.told, `",`) &&
			has(`"settlementId":`, o.settlementID, `,`)
	}
	return false
}
