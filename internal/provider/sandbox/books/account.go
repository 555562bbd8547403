package books

import (
	"context"
	"errors"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/money"
)

// OpeningFloat is what the client's account at each provider begins with: ten
// billion naira.
const OpeningFloat = 10_000_000_000 * money.Naira

// ErrPoor is a debit of more than the account holds.
var ErrPoor = errors.New("the account has not enough money")

// OpenAccount makes an account of the client with the opening float, unless the
// books have it.
func (b *Books) OpenAccount(ctx context.Context, number string) error {
	_, err := b.Exec(ctx, `INSERT INTO sandbox_account (number, balance_kobo) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
		number, int64(OpeningFloat))
	return err
}

// Balance is what an account holds.
func (b *Books) Balance(ctx context.Context, number string) (money.Kobo, error) {
	return db.One(ctx, b, db.Value[money.Kobo], `SELECT balance_kobo FROM sandbox_account WHERE number = $1`, number)
}

// Move adds an amount, which may be negative, to an account and returns the new
// balance. The error is ErrPoor if the balance would fall below zero.
func Move(ctx context.Context, q db.Querier, number string, amount money.Kobo) (money.Kobo, error) {
	balance, err := db.One(ctx, q, db.Value[money.Kobo], `UPDATE sandbox_account SET balance_kobo = balance_kobo + $1
		WHERE number = $2 AND balance_kobo + $1 >= 0 RETURNING balance_kobo`, int64(amount), number)
	if errors.Is(err, db.ErrNone) {
		return 0, ErrPoor
	}
	return balance, err
}
