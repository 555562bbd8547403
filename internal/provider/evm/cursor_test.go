package evm

import (
	"fmt"
	"testing"
)

// The cursor keeps the block at which the reading began, however far it has come, and stays short.
func TestACursorKeepsItsBeginning(t *testing.T) {
	p := &Plug{}
	c := cursor{}
	for number := int64(1007); number < 60_000; number++ {
		c = append(c, mark{number, fmt.Sprint("0x", number)}).thin(64)
	}
	if begin := p.Begin(c.text()); begin != 1008 || len(c) > 64+18 {
		t.Errorf("the reading began with block %d, and the cursor has %d blocks", begin, len(c))
	}
	for _, text := range []string{"", "[]", "{"} {
		if begin := p.Begin(text); begin != 0 {
			t.Errorf("%q began with block %d", text, begin)
		}
	}
}
