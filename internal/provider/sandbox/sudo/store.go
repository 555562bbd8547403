package sudo

import (
	"context"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
)

type customer struct {
	id   string `db:"id,key"`
	name string `db:"name"`
}

type card struct {
	id        string     `db:"id,key"`
	customer  string     `db:"customer"`
	account   string     `db:"account"`
	kind      string     `db:"kind"`
	brand     string     `db:"brand"`
	currency  string     `db:"currency"`
	pan       string     `db:"pan"`
	reference string     `db:"reference"`
	state     string     `db:"state"`
	balance   money.Kobo `db:"balance_kobo"`
	createdAt int64      `db:"created_at"`
}

// transfer is a transfer of money to a card's account.
type transfer struct {
	reference string     `db:"reference,key"`
	id        string     `db:"id"`
	credit    string     `db:"credit"`
	amount    money.Kobo `db:"amount_kobo"`
	narration string     `db:"narration"`
	books.Story
	createdAt int64 `db:"created_at"`
}

var (
	customers = books.NewTable[customer]("sandbox_sudo_customer")
	cards     = books.NewTable[card]("sandbox_sudo_card",
		"FOREIGN KEY (customer) REFERENCES sandbox_sudo_customer (id)", "UNIQUE (account)", "CHECK (balance_kobo >= 0)")
	transfers = books.NewTable[transfer]("sandbox_sudo_transfer", "UNIQUE (id)", books.StoryRule)
)

// accept writes a transfer into the books. If the transfer succeeds immediately, accept also moves
// its money. It returns db.ErrNone if no card has the account.
func (i *Issuer) accept(ctx context.Context, v transfer) error {
	if _, err := cards.One(ctx, i, "account = $1", v.credit); err != nil {
		return err
	}
	return transfers.Accept(ctx, i.Books, v, "reference = $1", v.reference, func(q db.Querier) error { return v.settle(ctx, q) })
}

// settle moves the money of a transfer, if the transfer was executed.
func (v transfer) settle(ctx context.Context, q db.Querier) error {
	if v.Executions == 0 {
		return nil
	}
	_, err := books.Move(ctx, q, account, -v.amount)
	if err == nil {
		_, err = q.Exec(ctx, `UPDATE sandbox_sudo_card SET balance_kobo = balance_kobo + $1 WHERE account = $2`, int64(v.amount), v.credit)
	}
	return err
}

// ask handles a requery of one transfer by Sudo's id. The second requery gives a pending transfer
// its final status.
func (i *Issuer) ask(ctx context.Context, id string) (v transfer, err error) {
	err = i.Tx(ctx, func(q db.Querier) (err error) {
		if v, err = transfers.One(ctx, q, "id = $1", id); err != nil {
			return err
		}
		return v.poll(ctx, q)
	})
	return v, err
}

// poll counts one requery of a transfer, if the transfer is pending.
func (v *transfer) poll(ctx context.Context, q db.Querier) error {
	settled, err := transfers.Poll(ctx, q, v, &v.Story)
	if err != nil || !settled {
		return err
	}
	return v.settle(ctx, q)
}

// list returns a page of the client's transfers. Reading the list counts as a requery of each
// pending transfer on the page.
func (i *Issuer) list(ctx context.Context, p books.Page, oldest bool) (list []transfer, total int64, err error) {
	err = i.Tx(ctx, func(q db.Querier) (err error) {
		const visible = "status <> 'failed' OR polls > 0"
		if oldest {
			list, total, err = transfers.Page(ctx, q, p, visible, "created_at, id")
		} else {
			list, total, err = transfers.Page(ctx, q, p, visible, "created_at DESC, id")
		}
		for n := range list {
			if err == nil {
				err = list[n].poll(ctx, q)
			}
		}
		return err
	})
	return list, total, err
}

// canceled is the final state of a card.
const canceled = "canceled"

// change sets the state of a card. The balance of a canceled card goes back to the client's account,
// and the client's list gets a line about it.
func (i *Issuer) change(ctx context.Context, cardID, state string) (c card, err error) {
	err = i.Tx(ctx, func(q db.Querier) error {
		if _, err := q.Exec(ctx, `UPDATE sandbox_sudo_card SET state = $1 WHERE id = $2 AND state <> 'canceled'`, state, cardID); err != nil {
			return err
		}
		if c, err = cards.One(ctx, q, "id = $1", cardID); err != nil || c.state != canceled || c.balance == 0 {
			return err
		}
		back := transfer{
			reference: "return-" + c.id, id: books.NewID(), credit: account, amount: c.balance, createdAt: i.Now(),
			narration: "Balance of card " + c.id,
		}
		back.Begin("")
		if _, err := q.Exec(ctx, `UPDATE sandbox_sudo_card SET balance_kobo = 0 WHERE id = $1`, c.id); err != nil {
			return err
		}
		if _, err := books.Move(ctx, q, account, back.amount); err != nil {
			return err
		}
		return transfers.Insert(ctx, q, back)
	})
	return c, err
}

// requests returns the transfers that Sudo recorded, whether it carried them out or not.
func (i *Issuer) requests(ctx context.Context, reference string) ([]books.Row, error) {
	list, err := transfers.All(ctx, i, "$1 = '' OR reference = $1 ORDER BY created_at, reference", reference)
	var rows []books.Row
	for _, v := range list {
		kind := "card funding"
		if v.credit == account {
			kind = "card return"
		}
		rows = append(rows, v.Row(v.reference, kind, v.amount, v.credit, v.createdAt))
	}
	return rows, err
}
