package evidence_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
)

// The functions of this file are written from RFC 6962, RFC 9162 and the description of signed notes.
// They share no code with the package.

func leafOf(data []byte) []byte {
	sum := sha256.Sum256(append([]byte{0}, data...))
	return sum[:]
}

func above(left, right []byte) []byte {
	sum := sha256.Sum256(append(append([]byte{1}, left...), right...))
	return sum[:]
}

// rootOf is MTH of RFC 6962, 2.1, over the hashes of leaves.
func rootOf(leaves [][]byte) []byte {
	switch len(leaves) {
	case 0:
		sum := sha256.Sum256(nil)
		return sum[:]
	case 1:
		return leaves[0]
	}
	k := 1
	for k*2 < len(leaves) {
		k *= 2
	}
	return above(rootOf(leaves[:k]), rootOf(leaves[k:]))
}

// isIncluded is the algorithm of RFC 9162, 2.1.3.2.
func isIncluded(index, size uint64, leaf []byte, path [][]byte, root []byte) bool {
	if index >= size {
		return false
	}
	fn, sn, r := index, size-1, leaf
	for _, p := range path {
		if sn == 0 {
			return false
		}
		if fn&1 == 1 || fn == sn {
			r = above(p, r)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			r = above(r, p)
		}
		fn, sn = fn>>1, sn>>1
	}
	return sn == 0 && bytes.Equal(r, root)
}

// isPrefix is the algorithm of RFC 9162, 2.1.4.2.
func isPrefix(first, second uint64, path [][]byte, firstRoot, secondRoot []byte) bool {
	if first == second {
		return len(path) == 0 && bytes.Equal(firstRoot, secondRoot)
	}
	if first&(first-1) == 0 {
		path = append([][]byte{firstRoot}, path...)
	}
	if len(path) == 0 {
		return false
	}
	fn, sn := first-1, second-1
	for fn&1 == 1 {
		fn, sn = fn>>1, sn>>1
	}
	fr, sr := path[0], path[0]
	for _, c := range path[1:] {
		if sn == 0 {
			return false
		}
		if fn&1 == 1 || fn == sn {
			fr, sr = above(c, fr), above(c, sr)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			sr = above(sr, c)
		}
		fn, sn = fn>>1, sn>>1
	}
	return sn == 0 && bytes.Equal(fr, firstRoot) && bytes.Equal(sr, secondRoot)
}

// noted verifies a signed note with a public key, and returns its origin, its size and its root.
func noted(text, name string, key ed25519.PublicKey) (origin string, size uint64, root []byte, err error) {
	body, signatures, ok := strings.Cut(text, "\n\n")
	body += "\n"
	valid := false
	hash := sha256.Sum256(append([]byte(name+"\n\x01"), key...))
	for _, line := range strings.Split(strings.TrimSuffix(signatures, "\n"), "\n") {
		parts := strings.Split(line, " ")
		if len(parts) != 3 || parts[0] != "—" || parts[1] != name {
			continue
		}
		b, err := base64.StdEncoding.Strict().DecodeString(parts[2])
		if err == nil && len(b) == 68 && binary.BigEndian.Uint32(b) == binary.BigEndian.Uint32(hash[:]) {
			valid = ed25519.Verify(key, []byte(body), b[4:])
		}
	}
	lines := strings.Split(body, "\n")
	if !ok || !valid || len(lines) != 5 {
		return "", 0, nil, errors.New("the note is not signed")
	}
	if size, err = strconv.ParseUint(lines[1], 10, 63); err == nil {
		root, err = base64.StdEncoding.Strict().DecodeString(lines[2])
	}
	return lines[0], size, root, err
}
