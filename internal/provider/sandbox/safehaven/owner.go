package safehaven

import (
	"context"
	"errors"
	"strings"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/provider/sandbox/books"
	"github.com/kobo-waas/kobo/internal/secret"
)

// owner is the name in the record of a BVN. The sandbox stores it for an identity check, and for the
// account that this check opened.
type owner struct {
	of    string `db:"id,key"` // the identity check's id, or the account's number
	first string `db:"first_name"`
	last  string `db:"last_name"`
}

// Introduce tells the bank the name of the person whom an identity check is about, because no
// request of the API contains this name. A BVN that ends in 0008 belongs to a different person.
func (b *Bank) Introduce(ctx context.Context, check string, bvn, name secret.Text) error {
	v := owner{of: check, first: name.Reveal()}
	if strings.HasSuffix(bvn.Reveal(), "0008") {
		v.first = "SOMEBODY ELSE"
	}
	v.first = strings.ToUpper(v.first)
	_, err := owners.Add(ctx, b, v)
	return err
}

// ownerOf returns the name in the record of the BVN that an identity check is about. The name is
// made up if nobody introduced the person.
func ownerOf(ctx context.Context, q db.Querier, check identity) (owner, error) {
	v, err := owners.One(ctx, q, "id = $1", check.id)
	if errors.Is(err, db.ErrNone) {
		v.first, v.last = books.PersonName(check.person)
		err = nil
	}
	return v, err
}

// named sets the owners' names of persons' accounts.
func (b *Bank) named(ctx context.Context, list []holder) error {
	for i, v := range list {
		if v.kind != "person" {
			continue
		}
		var err error
		if list[i].owner, err = db.OrZero(owners.One(ctx, b, "id = $1", v.number)); err != nil {
			return err
		}
	}
	return nil
}

// details returns the subAccountDetails of a person's account, or nil for an account without a known
// owner.
func (v holder) details() any {
	if v.owner.first == "" {
		return nil
	}
	return map[string]any{"firstName": v.owner.first, "lastName": v.owner.last, "accountType": "Individual"}
}
