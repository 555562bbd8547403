package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/kobo-waas/kobo/internal/db"
)

// The second place is a folder with a file for each checkpoint of the deployment's tree. A file is
// never changed. Its name has the name of the deployment, the instant and the size, so the newest file
// has the last name.
const (
	suffix  = ".checkpoint"
	instant = "20060102T150405.000000Z"
)

// keep writes a checkpoint into the second place.
func (s *Service) keep(name string, c Checkpoint) error {
	if s.Folder == "" {
		return nil
	}
	path := filepath.Join(s.Folder, fmt.Sprintf("%s-%s-%012d%s", name, c.CreatedAt.UTC().Format(instant), c.Size, suffix))
	draft, err := os.CreateTemp(s.Folder, ".checkpoint-*")
	if err != nil {
		return fmt.Errorf("checkpoint_folder: %w", err)
	}
	_, err = draft.WriteString(c.Note)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		if err = os.Link(draft.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil // another program has written the same checkpoint
		}
	}
	if err = errors.Join(err, os.Remove(draft.Name())); err == nil {
		err = db.Persist(path)
	}
	if err != nil {
		return fmt.Errorf("checkpoint_folder: %w", err)
	}
	return nil
}

// kept returns the paths of the deployment's checkpoints in the second place, the oldest first. It also
// reports whether the folder has checkpoints of other deployments only.
func (s *Service) kept(name string) (own []string, foreign bool, err error) {
	if s.Folder == "" {
		return nil, false, nil
	}
	list, err := os.ReadDir(s.Folder)
	if err != nil {
		return nil, false, fmt.Errorf("checkpoint_folder: %w", err)
	}
	for _, f := range list {
		switch {
		case !strings.HasSuffix(f.Name(), suffix):
		case strings.HasPrefix(f.Name(), name+"-"):
			own = append(own, filepath.Join(s.Folder, f.Name()))
		default:
			foreign = true
		}
	}
	slices.Sort(own)
	return own, foreign && len(own) == 0, nil
}

// Begin compares the database with the newest checkpoint in the second place. If they differ, it closes
// API access, and then writes the present checkpoint, so that the next start does not close it again.
func (s *Service) Begin(ctx context.Context) error {
	if s.Folder == "" {
		return nil
	}
	name, err := s.Name(ctx)
	if err != nil {
		return err
	}
	own, foreign, err := s.kept(name)
	if err != nil {
		return err
	}
	why := ""
	switch {
	case foreign:
		why = fmt.Sprintf("the checkpoints in %s are of another database", s.Folder)
	case len(own) > 0:
		if why, err = s.compare(ctx, s.DB, name, own[len(own)-1]); err != nil {
			return err
		}
	}
	if why == "" {
		return nil
	}
	why += ": see docs/operating/evidence.md"
	if err := s.DB.Tx(ctx, func(q db.Querier) error { return s.Close(ctx, q, why) }); err != nil {
		return err
	}
	s.Log.Error("API access is closed; kobo door open lets companies in", "reason", why)
	return s.keepPresent(ctx, name)
}

// keepPresent writes a checkpoint of the deployment's present tree into the second place.
func (s *Service) keepPresent(ctx context.Context, name string) error {
	size, err := sizes(ctx, s.DB, []string{Deployment})
	if err != nil {
		return err
	}
	c := Checkpoint{Size: size[Deployment], CreatedAt: s.Clock.Now()}
	root, err := s.tree(ctx, s.DB, Deployment, c.Size).root(c.Size)
	if err != nil {
		return s.report(err)
	}
	by, err := signers(name, s.Keys)
	if err != nil {
		return err
	}
	if c.Note, err = sign(newHead(origin(name, Deployment), c.Size, root, c.CreatedAt), by); err != nil {
		return err
	}
	return s.keep(name, c)
}

// compare returns the reason why a database does not continue a checkpoint of the second place, or "".
func (s *Service) compare(ctx context.Context, q db.Querier, name, path string) (string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the configured folder
	if err != nil {
		return "", fmt.Errorf("checkpoint_folder: %w", err)
	}
	by, err := signers(name, s.Keys)
	if err != nil {
		return "", err
	}
	known := make([]note.Verifier, len(by))
	for i, one := range by {
		known[i] = one.(signer).Verifier
	}
	h, err := open(string(text), known...)
	if err != nil || h.Origin != origin(name, Deployment) {
		return fmt.Sprintf("%s is not a checkpoint of this database that one of its evidence keys signed", path), nil
	}
	size, err := sizes(ctx, q, []string{Deployment})
	if err != nil {
		return "", err
	}
	if size[Deployment] < int64(h.Size) {
		return fmt.Sprintf("this database was rolled back: it has %d checkpoints, and %s covers %d", size[Deployment], path, h.Size), nil
	}
	root, err := s.tree(ctx, q, Deployment, size[Deployment]).root(int64(h.Size))
	if err != nil && !IsAltered(err) {
		return "", err
	}
	if err != nil || encode(root) != encode(h.Hash) {
		return fmt.Sprintf("the history of this database was changed: it does not continue %s", path), nil
	}
	return "", nil
}
