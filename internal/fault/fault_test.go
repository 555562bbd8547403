package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestOf(t *testing.T) {
	if Of(nil) != nil || Is(nil, Internal) {
		t.Error("nil became a fault")
	}
	cause := errors.New("disk on fire")
	f := New(Refused, "Insufficient balance").Because(cause)
	wrapped := fmt.Errorf("purchase: %w", f)
	if !Is(wrapped, Refused) || Of(wrapped).Message != "Insufficient balance" || !errors.Is(wrapped, cause) {
		t.Errorf("lost in wrapping: %v", Of(wrapped))
	}
	if got := Of(cause); got.Kind != Internal || got.Message != "Internal Server Error" {
		t.Errorf("a plain error became %v", got)
	}
}

func TestEveryKindHasAUsualWord(t *testing.T) {
	for _, kind := range []Kind{Invalid, Unauthenticated, Forbidden, Missing, Gone, Conflict, Mismatch, Limited, Unavailable, Unknown, Internal} {
		if word := New(kind, "x").Reason(); word == "" || word == Unstated {
			t.Errorf("%s has the word %q", kind, word)
		}
	}
	exact := New(Refused, "Insufficient balance").With(InsufficientBalance).Because(errors.New("0 kobo"))
	if word := Of(fmt.Errorf("purchase: %w", exact)).Reason(); word != InsufficientBalance {
		t.Errorf("lost in wrapping: %s", word)
	}
}
