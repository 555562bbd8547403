package db

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/internal/fault"
)

// Place is a place in a list that is ordered by an instant and then by an ID. It is that of a row, so it stays where it
// is while rows arrive.
type Place struct {
	At int64 // in microseconds
	ID string
}

// longestID is the length of the longest ID that a cursor can have.
const longestID = 64

// ErrCursor refuses a cursor that no list has returned.
var ErrCursor = fault.New(fault.Invalid, `"after" is not a cursor of this list`)

// PlaceOf reads a cursor. "" is the place before the newest row.
func PlaceOf(cursor string) (Place, error) {
	if cursor == "" {
		return Place{At: math.MaxInt64}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return Place{}, ErrCursor
	}
	at, id, whole := strings.Cut(string(text), "/")
	micros, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !whole || len(id) > longestID || strings.ContainsFunc(id, isNoSign) {
		return Place{}, ErrCursor
	}
	return Place{micros, id}, nil
}

// isNoSign reports whether a character cannot be in an ID. PostgreSQL refuses some of these.
func isNoSign(r rune) bool { return r <= ' ' || r > '~' }

// Cursor returns the place as a text, which PlaceOf reads.
func (p Place) Cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(p.At, 10) + "/" + p.ID))
}
