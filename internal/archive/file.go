package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// line is one line of a file.
type line struct {
	Hash  string          `json:"hash"`
	Event json.RawMessage `json:"event"` // as the feed shows it
}

// content summarizes a file.
type content struct {
	hash  string // the hash of the last line
	kinds map[string]int64
	// leaves are the evidence numbers of the events that have one. A file does not contain them.
	leaves []int64
}

// chain returns the hash of a line: the SHA-256 of the hash before it, a line break and the event,
// in hexadecimal digits.
func chain(before string, event []byte) string {
	sum := sha256.Sum256(append([]byte(before+"\n"), event...))
	return hex.EncodeToString(sum[:])
}

// pageSize is how many events are read at once.
const pageSize = 1000

// write writes the events of a month, one line each.
func (s *Service) write(ctx context.Context, to io.Writer, m Month, hash string) (content, error) {
	c, w := content{hash: hash, kinds: map[string]int64{}}, bufio.NewWriter(to)
	for after := m.First - 1; after < m.Last; {
		page, _, err := s.Events.Feed(ctx, m.Company, after, pageSize, 0)
		if err != nil {
			return c, err
		}
		if len(page) == 0 {
			return c, fmt.Errorf("event %d is missing", after+1)
		}
		for _, e := range page {
			if e.Sequence > m.Last {
				break
			}
			if !s.Events.IsGenuine(e) {
				return c, fmt.Errorf("event %d was altered or added: kobo verify says more", e.Sequence)
			}
			if e.Leaf > 0 {
				c.leaves = append(c.leaves, e.Leaf)
			}
			text, err := json.Marshal(e)
			if err != nil {
				return c, err
			}
			c.hash = chain(c.hash, text)
			c.kinds[e.Kind]++
			if _, err := fmt.Fprintf(w, `{"hash":"%s","event":%s}`+"\n", c.hash, text); err != nil {
				return c, err
			}
			after = e.Sequence
		}
		if page[len(page)-1].Sequence > m.Last {
			break
		}
	}
	return c, w.Flush()
}

// check reads the file of a month. It returns an error unless the file contains all events of the
// month, in their order, and every hash is right.
func check(path string, m Month, hash string) (content, error) {
	c, next := content{hash: hash, kinds: map[string]int64{}}, m.First
	f, err := os.Open(path) //nolint:gosec // the owner's own folder
	if err != nil {
		return c, err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			break
		}
		var l line
		var e struct {
			Sequence int64
			Event    string
		}
		if err == nil {
			err = errors.Join(json.Unmarshal(text, &l), json.Unmarshal(l.Event, &e))
		}
		if c.hash = chain(c.hash, l.Event); err != nil || l.Hash != c.hash || e.Sequence != next {
			return c, fmt.Errorf("%s: line %d is not the one that was written", path, next-m.First+1)
		}
		c.kinds[e.Event]++
		next++
	}
	if next != m.Last+1 {
		return c, fmt.Errorf("%s ends with event %d, and the month with event %d", path, next-1, m.Last)
	}
	return c, nil
}

// removeDrafts removes the drafts of interrupted runs.
func removeDrafts(path string) error {
	drafts, err := filepath.Glob(path + ".partial-*")
	for _, draft := range drafts {
		err = errors.Join(err, os.Remove(draft))
	}
	return err
}

// persistNames writes the names in a folder to the disk.
func persistNames(folder string) error {
	f, err := os.Open(folder) //nolint:gosec // the owner's own folder
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
