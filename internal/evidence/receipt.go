package evidence

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/transparency-dev/merkle/proof"
	"golang.org/x/mod/sumdb/note"

	"github.com/kobo-waas/kobo/internal/clock"
	"github.com/kobo-waas/kobo/internal/db"
	"github.com/kobo-waas/kobo/internal/event"
	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/ledger"
)

// Receipt proves that a row is a leaf of its company's tree. It can be verified without Kobo.
type Receipt struct {
	Leaf       Leaf     `json:"leaf"`
	Index      int64    `json:"index"` // the position of the leaf in the tree, beginning with 0
	Proof      []string `json:"proof"`
	Checkpoint string   `json:"checkpoint"`
	Deployment Anchor   `json:"deployment"`
}

// Leaf is the data of a leaf and its hash. Both parts of the data are "" if the row was erased.
type Leaf struct {
	Salt    string `json:"salt"`
	Content string `json:"content"` // in base64
	Hash    string `json:"hash"`
	Erased  bool   `json:"erased"`
}

// Anchor proves that the checkpoint of a receipt is a leaf of the deployment's tree.
type Anchor struct {
	Index      int64    `json:"index"`
	Proof      []string `json:"proof"`
	Checkpoint string   `json:"checkpoint"`
}

// Wire returns the data of the event about a checkpoint.
func (c Checkpoint) Wire() Signed {
	return Signed{Size: c.Size, Root: c.Root, Checkpoint: c.Note, CreatedAt: clock.Text(c.CreatedAt)}
}

// Receipt returns the receipt of a transfer, by its reference and step, or of an event, by its ID. If
// step is nil, it is the first transfer of the reference. If the row is newer than the last checkpoint,
// Receipt makes a checkpoint.
func (s *Service) Receipt(ctx context.Context, company, reference string, step *string) (r Receipt, err error) {
	leaf, kind, err := s.leafOf(ctx, company, reference, step)
	if err != nil {
		return r, err
	}
	c, err := s.covering(ctx, company, leaf, kind)
	if err != nil {
		return r, err
	}
	own, err := latest(ctx, s.DB, Deployment)
	if err != nil {
		return r, err
	}
	t := s.tree(ctx, s.DB, company, c.Size)
	r.Index, r.Deployment.Index = leaf-1, c.Leaf-1
	if r.Checkpoint, err = s.present(ctx, c.Note); err == nil {
		r.Deployment.Checkpoint, err = s.present(ctx, own.Note)
	}
	if err != nil {
		return r, s.report(errors.Join(&AlteredError{company, c.Size}, err))
	}
	hashes, err := t.inclusion(r.Index, c.Size)
	if err != nil {
		return r, s.report(err)
	}
	r.Proof = encodeAll(hashes)
	if hashes, err = s.tree(ctx, s.DB, Deployment, own.Size).inclusion(r.Deployment.Index, own.Size); err != nil {
		return r, s.report(err)
	}
	r.Deployment.Proof = encodeAll(hashes)
	if r.Leaf, err = s.leaf(ctx, company, leaf); err != nil {
		return r, err
	}
	keys, err := s.VerifierKeys(ctx)
	if err == nil {
		_, err = r.Verify(keys[0]) // the present key, which has signed both notes
	}
	if err != nil {
		return r, s.report(errors.Join(&AlteredError{company, c.Size}, err))
	}
	return r, nil
}

// covering returns a checkpoint that covers a row. The event about a checkpoint gets no checkpoint on
// demand, because that one would cause the next such event.
func (s *Service) covering(ctx context.Context, company string, leaf int64, kind string) (Checkpoint, error) {
	if kind != event.CheckpointSigned {
		return s.OnDemand(ctx, company, leaf)
	}
	c, err := latest(ctx, s.DB, company)
	if err == nil && c.Size < leaf {
		err = fault.New(fault.Refused, "The event is about a checkpoint. It gets a receipt after the next one").With(fault.ReceiptNotReady)
	}
	return c, err
}

// leafOf returns the number of the row that a receipt is about, and its kind if it is an event.
func (s *Service) leafOf(ctx context.Context, company, reference string, step *string) (leaf int64, kind string, err error) {
	found := false
	booked, err := ledger.Steps(ctx, s.DB, company, reference)
	if err != nil {
		return 0, "", err
	}
	for _, b := range booked {
		if (step == nil || *step == b.Step) && !found && !s.Hidden(b.Debit) && !s.Hidden(b.Credit) {
			leaf, found = b.Leaf, true
		}
	}
	if !found && step == nil {
		var e event.Event
		e, err = s.Events.Find(ctx, company, reference)
		leaf, kind, found = e.Leaf, e.Kind, err == nil
	}
	switch {
	case err != nil && !fault.Is(err, fault.Missing):
		return 0, "", err
	case !found:
		return 0, "", fault.New(fault.Missing, "Receipt not found")
	case leaf == 0:
		return 0, "", fault.New(fault.Refused, "The row was written by an earlier release and is not in the tree yet").With(fault.ReceiptNotReady)
	}
	return leaf, kind, nil
}

// leaf returns the data of a leaf.
func (s *Service) leaf(ctx context.Context, company string, n int64) (l Leaf, err error) {
	for _, t := range db.EvidenceTables() {
		err = errors.Join(err, db.Leaves(ctx, s.DB, t, company, n, n, func(_ int64, row []string) error {
			salt, content := leafData(t, row)
			l = Leaf{Salt: salt, Content: encode(content), Hash: encode(leafHash(t, row))}
			return nil
		}))
	}
	if err == nil && l.Hash == "" {
		err = s.report(&MissingError{company, n})
	}
	if err != nil {
		return l, err
	}
	// The kept hash is read after the row. So a row that was erased meanwhile counts as erased.
	kept, err := Erased(ctx, s.DB, company, n, n)
	if kept[n] != "" {
		l = Leaf{Hash: kept[n], Erased: true}
	}
	return l, err
}

// Consistency is the proof that the tree of one checkpoint is the beginning of that of another.
type Consistency struct {
	From, To Checkpoint
	Proof    []string
}

// Consistency returns the proof between two checkpoints of a company, by their sizes. If to is 0, it is
// the last checkpoint.
func (s *Service) Consistency(ctx context.Context, company string, from, to int64) (c Consistency, err error) {
	if c.From, err = find(ctx, s.DB, company, from); err != nil {
		return c, db.Missing(err, fmt.Sprintf("There is no checkpoint of the size %d", from))
	}
	if to == 0 {
		c.To, err = latest(ctx, s.DB, company)
	} else {
		c.To, err = find(ctx, s.DB, company, to)
	}
	switch {
	case err != nil:
		return c, db.Missing(err, fmt.Sprintf("There is no checkpoint of the size %d", to))
	case c.To.Size < c.From.Size:
		return c, fault.New(fault.Invalid, `"to" must not be less than "from"`)
	}
	hashes, err := s.tree(ctx, s.DB, company, c.To.Size).consistency(from, c.To.Size)
	if c.Proof = encodeAll(hashes); err != nil {
		err = s.report(err)
	}
	return c, err
}

// Statement is what a verified receipt proves.
type Statement struct {
	Deployment string
	Company    string
	Row        []Field // the table, and then the columns; empty if the row was erased
	Leaf, Size int64
	At         time.Time // the instant of the checkpoint
}

// Field is a column of a row with its value. The field of the table has no value.
type Field struct{ Name, Value string }

// Verify returns what a receipt proves to a holder of the public key, which is in the format of
// VerifierKeys. It needs no database.
func (r Receipt) Verify(verifierKey string) (st Statement, err error) {
	by, err := note.NewVerifier(verifierKey)
	if err != nil {
		return st, fmt.Errorf("the public key: %w", err)
	}
	own, err := open(r.Deployment.Checkpoint, by)
	if err != nil {
		return st, fmt.Errorf("the deployment's checkpoint: %w", err)
	}
	h, err := open(r.Checkpoint, by)
	if err != nil {
		return st, err
	}
	company, ok := strings.CutPrefix(h.Origin, by.Name()+"/")
	if !ok || own.Origin != by.Name() {
		return st, errors.New("the checkpoints are not of the key's deployment")
	}
	anchor := hasher.HashLeaf([]byte(h.text))
	if err := included(r.Deployment.Index, own, anchor, r.Deployment.Proof); err != nil {
		return st, fmt.Errorf("the deployment's tree does not contain the checkpoint: %w", err)
	}
	st = Statement{Deployment: by.Name(), Company: company, Leaf: r.Index + 1, Size: int64(h.Size), At: h.at}
	hash, err := decode(r.Leaf.Hash)
	if err != nil {
		return st, fmt.Errorf("the hash of the leaf: %w", err)
	}
	if err := included(r.Index, h, hash, r.Proof); err != nil {
		return st, fmt.Errorf("the company's tree does not contain the leaf: %w", err)
	}
	if r.Leaf.Erased {
		if r.Leaf.Salt+r.Leaf.Content != "" {
			return st, errors.New("an erased row has no content")
		}
		return st, nil
	}
	st.Row, err = r.Leaf.row(hash, company, st.Leaf)
	return st, err
}

// saltSize is the length of a MAC. It is fixed, so the data of a leaf can be divided in one way only.
const saltSize = 22

// row returns the columns of a leaf's row. It returns an error unless the leaf has the hash, the company
// and the number.
func (l Leaf) row(hash []byte, company string, n int64) ([]Field, error) {
	content, err := decode(l.Content)
	if err != nil || len(l.Salt) != saltSize || !bytes.Equal(hasher.HashLeaf(append([]byte(l.Salt), content...)), hash) {
		return nil, errors.New("the leaf has other content than its hash")
	}
	texts, err := unframe(content)
	if err != nil || len(texts)%2 != 1 {
		return nil, errors.New("the content of the leaf is not that of a row")
	}
	fields := []Field{{Name: texts[0]}}
	for i := 1; i < len(texts); i += 2 {
		fields = append(fields, Field{texts[i], texts[i+1]})
		switch f := fields[len(fields)-1]; {
		case f.Name == "company_id" && f.Value != company, f.Name == "leaf" && f.Value != fmt.Sprint(n):
			return nil, errors.New("the leaf is of another place in the tree")
		}
	}
	return fields, nil
}

// included returns an error unless a proof shows that a tree contains a leaf.
func included(index int64, h head, leaf []byte, texts []string) error {
	hashes, err := hashesOf(texts, nil)
	if err != nil {
		return err
	}
	if index < 0 {
		return errors.New("the index is negative")
	}
	return proof.VerifyInclusion(hasher, uint64(index), h.Size, leaf, hashes, h.Hash)
}

// unframe returns the texts of a content (db.Content).
func unframe(content []byte) (texts []string, err error) {
	for len(content) > 0 {
		n, width := binary.Uvarint(content)
		if width <= 0 || n > uint64(len(content)-width) {
			return nil, errors.New("evidence: a text is longer than the content")
		}
		texts = append(texts, string(content[width:width+int(n)]))
		content = content[width+int(n):]
	}
	return texts, nil
}
