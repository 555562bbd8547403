package evidence

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"

	"github.com/kobo-waas/kobo/internal/clock"
)

// The text of a note has four lines: the origin, the size of the tree, the root, and the instant of
// the signature. The origin is kobo/NAME for the deployment, and kobo/NAME/COMPANY for a company.

// errNote is the error of a note that is not exactly as Kobo writes it.
var errNote = errors.New("it is not a checkpoint")

// head is the content of a note.
type head struct {
	log.Checkpoint
	at   time.Time
	text string
}

// newHead returns the head of a tree.
func newHead(origin string, size int64, root []byte, at time.Time) head {
	h := head{Checkpoint: log.Checkpoint{Origin: origin, Size: uint64(size), Hash: root}, at: at}
	h.text = string(h.Marshal()) + clock.Text(at) + "\n"
	return h
}

// readHead reads the text of a note. It refuses a text that newHead would write in another way.
func readHead(text string) (h head, err error) {
	rest, err := h.Unmarshal([]byte(text))
	if err == nil {
		h.at, err = time.Parse(time.RFC3339, strings.TrimSuffix(string(rest), "\n"))
	}
	if err != nil || len(h.Hash) != hasher.Size() || newHead(h.Origin, int64(h.Size), h.Hash, h.at).text != text {
		return head{}, errNote
	}
	h.text = text
	return h, nil
}

// origin returns the origin of the checkpoints of a tree.
func origin(name, company string) string {
	if company == Deployment {
		return "kobo/" + name
	}
	return "kobo/" + name + "/" + company
}

// VerifierKeys returns the public keys of the checkpoints in the format of signed notes,
// name+hash+key. The present key comes first.
func (s *Service) VerifierKeys(ctx context.Context) ([]string, error) {
	name, err := s.Name(ctx)
	if err != nil {
		return nil, err
	}
	return verifierKeys(name, s.Keys)
}

func verifierKeys(name string, keys []ed25519.PrivateKey) ([]string, error) {
	out := make([]string, len(keys))
	for i, key := range keys {
		var err error
		if out[i], err = note.NewEd25519VerifierKey(origin(name, Deployment), key.Public().(ed25519.PublicKey)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PublicKey returns the Ed25519 key in a key of VerifierKeys.
func PublicKey(verifierKey string) (ed25519.PublicKey, error) {
	parts := strings.SplitN(verifierKey, "+", 3)
	b, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(parts) != 3 || len(b) != 1+ed25519.PublicKeySize {
		return nil, errors.New("evidence: not a key of checkpoints")
	}
	return b[1:], nil
}

// signer is a key that signs notes.
type signer struct {
	note.Verifier
	key ed25519.PrivateKey
}

// Sign returns the signature of a text.
func (s signer) Sign(text []byte) ([]byte, error) { return ed25519.Sign(s.key, text), nil }

// signers returns the signers of a deployment's notes.
func signers(name string, keys []ed25519.PrivateKey) ([]note.Signer, error) {
	texts, err := verifierKeys(name, keys)
	out := make([]note.Signer, len(texts))
	for i, text := range texts {
		var v note.Verifier
		if v, err = note.NewVerifier(text); err != nil {
			return nil, err
		}
		out[i] = signer{v, keys[i]}
	}
	return out, err
}

// sign returns a signed note.
func sign(h head, by []note.Signer) (string, error) {
	b, err := note.Sign(&note.Note{Text: h.text}, by...)
	return string(b), err
}

// open verifies a note with one of the verifiers, and returns its head. Each byte of a verified note
// counts.
func open(text string, by ...note.Verifier) (head, error) {
	n, err := note.Open([]byte(text), note.VerifierList(by...))
	if err != nil {
		return head{}, fmt.Errorf("the signature of the checkpoint: %w", err)
	}
	h, err := readHead(n.Text)
	if err != nil {
		return h, err
	}
	for _, one := range append(n.Sigs, n.UnverifiedSigs...) {
		if _, err := decode(one.Base64); err != nil {
			return head{}, errNote // the unused bits at the end of the signature are set
		}
	}
	return h, nil
}

// present returns a stored note with the signatures of all present keys. A note from before a rotation
// has no signature of the new key, and a holder of only the new public key could not verify it. A note
// that none of the keys has signed is an error.
func (s *Service) present(ctx context.Context, text string) (string, error) {
	name, err := s.Name(ctx)
	if err != nil {
		return "", err
	}
	by, err := signers(name, s.Keys)
	if err != nil {
		return "", err
	}
	known := make([]note.Verifier, len(by))
	for i, one := range by {
		known[i] = one.(signer).Verifier
	}
	if _, err := open(text, known[0]); err == nil {
		return text, nil
	}
	h, err := open(text, known...)
	if err != nil {
		return "", err
	}
	return sign(h, by)
}
