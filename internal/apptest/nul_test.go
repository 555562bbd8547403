package apptest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kobo-waas/kobo/internal/apptest"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider"
)

// askedBank is an evil bank that is also asked about credits.
type askedBank struct{ *evilBank }

func (b askedBank) Inbound(ctx context.Context, session string, virtual bool) provider.InboundAnswer {
	return b.plug.Inbound(ctx, session, virtual)
}

// A bank may send the character U+0000, half of a surrogate and bytes that are not UTF-8. PostgreSQL stores no such text.
// The payout and the credit that have them are committed all the same.
func TestATextThatNoDatabaseStoresHoldsNothingBack(t *testing.T) {
	const odd = `\u0000 \ud800` + "\xff"
	paid := strings.NewReplacer(`"_id":"1"`, `"_id":"1`+odd+`"`, `"sessionId":"s"`, `"sessionId":"s`+odd+`"`,
		`"statusCode":200`, `"statusCode":200,"message":"Approved`+odd+`"`).Replace(bankPaid)
	each(t, func(t *testing.T, dialect db.Dialect) {
		e := newEvilBank(t)
		around := func(b provider.Bank) provider.Bank {
			e.Bank = b
			return askedBank{e}
		}
		p := apptest.Start(t, dialect, apptest.AroundBanks(around), apptest.Window(20*time.Second))
		for _, pay := range []string{paid, bankDown} { // the reply to the payment, and the one to a requery
			e.says(pay, paid)
			id := verify(t, p.Client, "10")
			send(p.Client, id, 1000)
			if pay == bankDown {
				p.Advance(time.Minute)
			}
			if got := status(p.Client, id); got.Status != "SUCCESS" || got.SessionID != nil { // such a text is no session ID
				t.Errorf("the payout: %+v", got)
			}
		}
		e.says("", `200 {"statusCode":200,"responseCode":"00","data":{"_id":"2`+odd+`","sessionId":"session-1","type":"Inwards","amount":100,
			"creditAccountNumber":"`+p.SettlementAccountNumber+`","debitAccountName":"ADA`+odd+`","debitAccountNumber":"1`+odd+`",
			"narration":"rent`+odd+`","responseCode":"00","status":"Completed"}}`)
		tell(t, p, "session-1")
		holds(t, p, p.Client, apptest.DevFloat-1900*money.Naira)
	})
}
