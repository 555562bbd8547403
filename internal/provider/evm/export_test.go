package evm

import "time"

// Hurry has the plug ask again at once.
func (p *Plug) Hurry() { p.node.pause = time.Millisecond }
