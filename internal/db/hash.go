package db

import (
	"encoding/binary"
	"math/bits"
)

// hashOf returns PostgreSQL's hash of a text (hashtext), by which Citus divides tables. It is Bob Jenkins'
// hash lookup3.
func hashOf(text string) int32 {
	k := []byte(text)
	a := 0x9e3779b9 + uint32(len(k)) + 3923095
	b, c := a, a
	for ; len(k) >= 12; k = k[12:] {
		a += binary.LittleEndian.Uint32(k)
		b += binary.LittleEndian.Uint32(k[4:])
		c += binary.LittleEndian.Uint32(k[8:])
		a, b, c = mix(a, b, c)
	}
	for i, one := range k {
		switch {
		case i < 4:
			a += uint32(one) << (8 * i)
		case i < 8:
			b += uint32(one) << (8 * (i - 4))
		default: // the lowest byte belongs to the length
			c += uint32(one) << (8 * (i - 7))
		}
	}
	return int32(final(a, b, c))
}

func mix(a, b, c uint32) (x, y, z uint32) {
	a = (a - c) ^ bits.RotateLeft32(c, 4)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 6)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 8)
	b += a
	a = (a - c) ^ bits.RotateLeft32(c, 16)
	c += b
	b = (b - a) ^ bits.RotateLeft32(a, 19)
	a += c
	c = (c - b) ^ bits.RotateLeft32(b, 4)
	b += a
	return a, b, c
}

func final(a, b, c uint32) uint32 {
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	return (c ^ b) - bits.RotateLeft32(b, 24)
}
