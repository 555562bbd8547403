package kobo

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/kobo-waas/kobo/clients/go/api"
)

// Proven is what a receipt proves.
type Proven struct {
	Deployment string // the name of the server, such as kobo/0199…
	Company    string
	Table      string            // of the row; "" if Kobo withholds the content
	Row        map[string]string // the columns that are not empty
	Index      int64             // the position of the row in the company's tree
	Size       int64             // of the company's tree
	At         time.Time         // when the tree was signed
}

// VerifyReceipt checks a receipt without any server, and returns what it proves. The key is the one that
// GET /api/v1/checkpoints/key showed when you began: a receipt proves nothing to a reader who takes the
// key from the same source.
func VerifyReceipt(r api.Receipt, key string) (p Proven, err error) {
	by, err := newVerifier(key)
	if err != nil {
		return p, err
	}
	all, err := by.open(r.Deployment.Checkpoint)
	if err != nil {
		return p, fmt.Errorf("the deployment's checkpoint: %w", err)
	}
	own, err := by.open(r.Checkpoint)
	if err != nil {
		return p, fmt.Errorf("the company's checkpoint: %w", err)
	}
	company, ok := strings.CutPrefix(own.origin, by.name+"/")
	if !ok || all.origin != by.name {
		return p, errors.New("kobo: the checkpoints are not of the key's deployment")
	}
	if err := included(r.Deployment.Index, all, leafHash([]byte(own.text)), r.Deployment.Proof); err != nil {
		return p, fmt.Errorf("the company's checkpoint in the deployment's tree: %w", err)
	}
	hash, err := decode(r.Leaf.Hash)
	if err != nil {
		return p, err
	}
	if err := included(r.Index, own, hash, r.Proof); err != nil {
		return p, fmt.Errorf("the row in the company's tree: %w", err)
	}
	p = Proven{Deployment: by.name, Company: company, Index: r.Index, Size: own.size, At: own.at}
	if r.Leaf.Erased {
		if r.Leaf.Salt+r.Leaf.Content != "" {
			return Proven{}, errors.New("kobo: an erased row has content")
		}
		return p, nil
	}
	if p.Table, p.Row, err = row(r.Leaf, hash); err != nil {
		return Proven{}, err
	}
	if named, ok := p.Row["company_id"]; ok && named != company || p.Row["leaf"] != "" && p.Row["leaf"] != strconv.FormatInt(r.Index+1, 10) {
		return Proven{}, errors.New("kobo: the row is of another place in the tree")
	}
	return p, nil
}

// row returns the table and the columns of a leaf whose data has this hash.
func row(leaf api.ReceiptLeaf, hash []byte) (table string, columns map[string]string, err error) {
	content, err := decode(leaf.Content)
	if err != nil || len(leaf.Salt) != 22 || !bytes.Equal(leafHash(append([]byte(leaf.Salt), content...)), hash) {
		return "", nil, errors.New("kobo: the content of the row does not have its hash")
	}
	var texts []string
	for len(content) > 0 {
		n, width := binary.Uvarint(content)
		if width <= 0 || n > uint64(len(content)-width) {
			return "", nil, errors.New("kobo: the content of the row is damaged")
		}
		texts = append(texts, string(content[width:width+int(n)]))
		content = content[width+int(n):]
	}
	if len(texts)%2 == 0 {
		return "", nil, errors.New("kobo: the content of the row is damaged")
	}
	columns = map[string]string{}
	for i := 1; i < len(texts); i += 2 {
		columns[texts[i]] = texts[i+1]
	}
	return texts[0], columns, nil
}

// leafHash returns the hash of a leaf's data (RFC 6962, 2.1).
func leafHash(data []byte) []byte {
	sum := sha256.Sum256(append([]byte{0}, data...))
	return sum[:]
}

// included returns an error unless the proof shows the leaf in the tree (RFC 9162, 2.1.3.2).
func included(index int64, tree head, leaf []byte, proof []string) error {
	wrong := errors.New("kobo: the proof does not lead to the root of the tree")
	if index < 0 || index >= tree.size {
		return wrong
	}
	at, last, root := uint64(index), uint64(tree.size-1), leaf
	for _, text := range proof {
		sister, err := decode(text)
		if err != nil || len(sister) != sha256.Size || last == 0 {
			return wrong
		}
		pair := append([]byte{1}, root...)
		if at&1 == 1 || at == last {
			pair = append(append([]byte{1}, sister...), root...)
			if at&1 == 0 {
				skip := bits.TrailingZeros64(at)
				at, last = at>>skip, last>>skip
			}
		} else {
			pair = append(pair, sister...)
		}
		sum := sha256.Sum256(pair)
		root, at, last = sum[:], at>>1, last>>1
	}
	if last != 0 || !bytes.Equal(root, tree.root) {
		return wrong
	}
	return nil
}

// verifier is a public key of signed notes (golang.org/x/mod/sumdb/note).
type verifier struct {
	name string
	id   []byte
	key  ed25519.PublicKey
}

// newVerifier reads a key of the form name+hash+key.
func newVerifier(text string) (v verifier, err error) {
	parts := strings.SplitN(text, "+", 3)
	key, err := decode(parts[len(parts)-1])
	if err != nil || len(parts) != 3 || len(key) != 1+ed25519.PublicKeySize || key[0] != 1 {
		return v, errors.New("kobo: the public key is not an Ed25519 key of signed notes")
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	if parts[1] != fmt.Sprintf("%x", sum[:4]) {
		return v, errors.New("kobo: the hash of the public key is wrong")
	}
	return verifier{name: parts[0], id: sum[:4], key: key[1:]}, nil
}

// head is the text of a checkpoint: the origin, the size, the root and the instant, a line each.
type head struct {
	origin string
	size   int64
	root   []byte
	at     time.Time
	text   string
}

// open checks the signature of a note with the key, and reads its text.
func (v verifier) open(note string) (h head, err error) {
	cut := strings.LastIndex(note, "\n\n")
	if cut < 0 {
		return h, errors.New("kobo: it is not a signed note")
	}
	text, signatures := note[:cut+1], note[cut+2:]
	if !v.signed(text, signatures) {
		return h, errors.New("kobo: it has no valid signature of the key")
	}
	lines := strings.Split(text, "\n")
	if len(lines) != 5 {
		return h, errors.New("kobo: it is not a checkpoint")
	}
	h = head{origin: lines[0], text: text}
	h.size, err = strconv.ParseInt(lines[1], 10, 64)
	if err == nil {
		h.root, err = decode(lines[2])
	}
	if err == nil {
		h.at, err = time.Parse(time.RFC3339, lines[3])
	}
	if err != nil || len(h.root) != sha256.Size {
		return head{}, errors.New("kobo: it is not a checkpoint")
	}
	return h, nil
}

// signed reports whether one of the signatures is the key's.
func (v verifier) signed(text, signatures string) bool {
	for line := range strings.SplitSeq(signatures, "\n") {
		encoded, ok := strings.CutPrefix(line, "— "+v.name+" ")
		if !ok {
			continue
		}
		signature, err := decode(encoded)
		if err == nil && len(signature) == 4+ed25519.SignatureSize && bytes.Equal(signature[:4], v.id) && ed25519.Verify(v.key, []byte(text), signature[4:]) {
			return true
		}
	}
	return false
}

func decode(text string) ([]byte, error) { return base64.StdEncoding.Strict().DecodeString(text) }
