package evm

import "time"

// Hurry shortens the pause between two tries to a minimum.
func (p *Plug) Hurry() { p.node.pause = time.Millisecond }
