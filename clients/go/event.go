package kobo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/kobo-waas/kobo/clients/go/api"
)

// Event is an event of the company. Its ID and its Sequence are the same in the feed and in webhooks.
type Event = api.Event

// Place stores how far a consumer has read the feed: the sequence of the last event that it processed.
// A Place in the caller's own database can be saved in the transaction that processes the event; then
// Save does nothing, and each event has its effect exactly once.
type Place interface {
	// Load returns the stored sequence, or 0 at the beginning.
	Load(context.Context) (int64, error)
	// Save stores a sequence, and returns when it is on the disk.
	Save(ctx context.Context, sequence int64) error
}

// FilePlace is a Place in a file with this name. Only one consumer may use a file.
type FilePlace string

// Load reads the file. A file that does not exist means the beginning.
func (f FilePlace) Load(context.Context) (int64, error) {
	text, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	sequence, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || sequence < 0 {
		return 0, fmt.Errorf("kobo: %s does not hold a place in the feed", string(f))
	}
	return sequence, nil
}

// Save replaces the file in one step. So after a crash the file holds the old or the new place.
func (f FilePlace) Save(_ context.Context, sequence int64) (err error) {
	file, err := os.CreateTemp(filepath.Dir(string(f)), ".place-*")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, sequence)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), string(f))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncFolder(filepath.Dir(string(f)))
}

// syncFolder puts a renamed file on the disk.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows has no such operation
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Consume calls handle for each event, in order, and saves the place after each. It waits for new events
// until the context ends or a function returns an error, and returns that error. It waits while the
// server is unavailable.
//
// Consume never passes an event again that it has saved. After a crash between handle and Save, it passes
// the last event once more: recognize that event by its ID. If old events are archived, the error is a
// *Refusal with the reason events_archived.
func (c *Client) Consume(ctx context.Context, place Place, handle func(context.Context, Event) error) error {
	after, err := place.Load(ctx)
	if err != nil {
		return err
	}
	for failures := 1; ; {
		events, _, err := c.poll(ctx, after, true)
		if err != nil {
			if err := hold(ctx, err, failures); err != nil {
				return err
			}
			failures++
			continue
		}
		failures = 1
		for _, e := range events {
			if e.Sequence <= after {
				continue
			}
			if e.Sequence != after+1 {
				return fmt.Errorf("kobo: event %d follows event %d, so events are missing", e.Sequence, after)
			}
			if err := handle(ctx, e); err != nil {
				return err
			}
			if err := place.Save(ctx, e.Sequence); err != nil {
				return err
			}
			after = e.Sequence
		}
	}
}
