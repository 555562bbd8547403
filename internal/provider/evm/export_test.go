package evm

import "time"

// Hurry shortens the pause between two tries to a minimum.
func (p *Plug) Hurry() { p.node.pause = time.Millisecond }

// Sizes returns the present sizes of a batch and of a read.
func (p *Plug) Sizes() (batch, span int) { return p.node.batch.now(), p.span.now() }
