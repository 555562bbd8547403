package db_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/fault"
)

func TestACursorIsThePlaceOfARow(t *testing.T) {
	for _, p := range []db.Place{{At: 0}, {At: -1, ID: "a"}, {At: math.MaxInt64, ID: "c-1/2"}, {At: 1, ID: strings.Repeat("x", 64)}} {
		if got, err := db.PlaceOf(p.Cursor()); err != nil || got != p {
			t.Errorf("%+v: %+v, %v", p, got, err)
		}
	}
	if got, err := db.PlaceOf(""); err != nil || got != (db.Place{At: math.MaxInt64}) {
		t.Errorf("no cursor: %+v, %v", got, err)
	}
}

// A text that no list has returned is refused before a database sees it.
func TestAWrongCursorIsRefused(t *testing.T) {
	wrong := []string{"x", "%", " ", "2", "019ac2b5-0000-7000-8000-000000000000"}
	for _, text := range []string{"/", "1", "a/b", "1.5/b", "9223372036854775808/b", "1/\x00", "1/a b", "1/\xff", "1/é", "1/" + strings.Repeat("x", 65)} {
		wrong = append(wrong, base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	for _, cursor := range wrong {
		if p, err := db.PlaceOf(cursor); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), `"after" is not a cursor of this list`) {
			t.Errorf("%q is %+v, %v", cursor, p, err)
		}
	}
}
