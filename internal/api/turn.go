package api

import (
	"context"

	"github.com/kobo-waas/kobo/internal/contract"
)

// The pages of this program go through a list row after row, so rows that arrive move none, and nothing is counted. The contract
// has numbered pages. So the place in the list is in the context of the request, as the seat is, and the answer leaves the next
// place there.

// Turn is one page of a list. After is the cursor of the row before it, or "" for the newest rows. The list sets Next to the
// cursor of the page's last row, or to "" if no row follows.
type Turn struct{ After, Next string }

type turnKey struct{}

// WithTurn returns a context whose request asks for one page of a list by cursor. The numbers of its response count only that page.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

func turnOf(ctx context.Context) (*Turn, bool) {
	turn, has := ctx.Value(turnKey{}).(*Turn)
	return turn, has
}

// placed is a row that has a place in its list, which a cursor names.
type placed interface{ Cursor() string }

// takeOf cuts the row that follows a page of some size, and leaves the next place in the turn.
func takeOf[T placed](turn *Turn, list []T, size int) []T {
	if turn.Next = ""; len(list) <= size {
		return list
	}
	turn.Next = list[size-1].Cursor()
	return list[:size]
}

// turned returns a page of a list: the rows after the cursor of the request's turn, or else the page with a number. The function
// find returns a numbered page and the total count, and follow returns the rows after a cursor.
func turned[T placed](
	ctx context.Context, number, size string, find func(offset, limit int) ([]T, int, error), follow func(cursor string, limit int) ([]T, error),
) ([]T, ListMeta, error) {
	p, at := contract.NewPage(number, size), callOf(ctx).request.URL
	turn, has := turnOf(ctx)
	if !has {
		list, total, err := find(p.Offset(), p.Size)
		return list, p.Meta(at, len(list), total), err
	}
	list, err := follow(turn.After, p.Size+1)
	list = takeOf(turn, list, p.Size)
	return list, p.Meta(at, len(list), len(list)), err
}

// shaped is turned, with the rows shaped for JSON.
func shaped[T placed, R any](
	ctx context.Context, number, size string, shape func(T) R, find func(offset, limit int) ([]T, int, error), follow func(cursor string, limit int) ([]T, error),
) ([]R, ListMeta, error) {
	list, meta, err := turned(ctx, number, size, find, follow)
	return each(list, shape), meta, err
}
