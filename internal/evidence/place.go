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
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/kobo-waas/kobo/internal/db"
)

// The second place is a folder with a file for each hourly checkpoint of the deployment's tree. A file
// is never changed. Its name has the name of the deployment, the instant and the size, so the newest
// file has the last name.
const (
	suffix  = ".checkpoint"
	instant = "20060102T150405.000000Z"
)

// keep writes a checkpoint into the second place, unless it is there already.
func (s *Service) keep(name string, c Checkpoint) error {
	path := filepath.Join(s.Folder, fmt.Sprintf("%s-%s-%012d%s", name, c.CreatedAt.UTC().Format(instant), c.Size, suffix))
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = s.create(path, c.Note)
	}
	if err != nil {
		return fmt.Errorf("checkpoint_folder: %w", err)
	}
	s.placed.Store(s.Clock.Now().UnixMicro())
	return nil
}

// create creates a file. A draft gets its name only when it is complete. Some storage, such as a mounted
// bucket, allows neither hard links nor drafts. There it writes the file itself.
func (s *Service) create(path, text string) error {
	err := s.linkDraft(path, text)
	if err == nil {
		return db.Persist(path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the configured folder
	if errors.Is(err, fs.ErrExist) {
		return nil // another program has written the same checkpoint
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// linkDraft writes a draft and gives it the name path.
func (s *Service) linkDraft(path, text string) error {
	draft, err := os.CreateTemp(s.Folder, ".checkpoint-*")
	if err != nil {
		return err
	}
	_, err = draft.WriteString(text)
	if err = errors.Join(err, draft.Sync(), draft.Close()); err == nil {
		err = s.link(draft.Name(), path)
	}
	return errors.Join(err, os.Remove(draft.Name()))
}

// keepNewest writes the newest checkpoint of the deployment into the second place. It logs an error,
// and the next round tries again.
func (s *Service) keepNewest(ctx context.Context) {
	if s.Folder == "" {
		return
	}
	name, err := s.Name(ctx)
	var c Checkpoint
	if err == nil {
		c, err = latest(ctx, s.DB, Deployment)
	}
	if err == nil && c.Size > 0 {
		err = s.keep(name, c)
	}
	if err != nil {
		s.Log.Warn("the newest checkpoint was not written to the second place", "error", err)
	}
}

// kept returns the paths of the deployment's checkpoints in the second place, the oldest first. It also
// returns the number of checkpoints of other deployments.
func (s *Service) kept(name string) (own []string, foreign int, err error) {
	list, err := os.ReadDir(s.Folder)
	if err != nil {
		return nil, 0, fmt.Errorf("checkpoint_folder: %w", err)
	}
	for _, f := range list {
		switch {
		case !strings.HasSuffix(f.Name(), suffix):
		case strings.HasPrefix(f.Name(), name+"-"):
			own = append(own, filepath.Join(s.Folder, f.Name()))
		default:
			foreign++
		}
	}
	slices.Sort(own)
	return own, foreign, nil
}

// Begin compares the database with itself and with the newest checkpoint in the second place. If they
// differ, it closes API access. Then it writes the present checkpoint, so that the next start does not
// close API access again. If it cannot use the second place, it logs a warning and changes nothing.
func (s *Service) Begin(ctx context.Context) error {
	if err := s.compareLost(ctx); err != nil || s.Folder == "" {
		return err
	}
	name, err := s.Name(ctx)
	if err != nil {
		return err
	}
	why, err := s.comparePlace(ctx, name)
	if err != nil || why == "" {
		return err
	}
	if err := s.shut(ctx, why, func(db.Querier) error { return nil }); err != nil {
		return err
	}
	if err := s.keepPresent(ctx, name); err != nil {
		s.Log.Warn("the present checkpoint was not written to the second place, so the next comparison closes API access again", "error", err)
	}
	return nil
}

// shut closes API access and does more, in one transaction.
func (s *Service) shut(ctx context.Context, why string, more func(q db.Querier) error) error {
	why += ": see docs/operating/evidence.md"
	err := s.DB.Tx(ctx, func(q db.Querier) error {
		if err := s.Close(ctx, q, why); err != nil {
			return err
		}
		return more(q)
	})
	if err == nil {
		s.Log.Error("API access is closed; kobo door open lets companies in", "reason", why)
	}
	return err
}

// compareLost closes API access if a further leaf of the deployment's tree has no checkpoint of a company.
func (s *Service) compareLost(ctx context.Context) error {
	now, before, err := lost(db.WithLongTimeout(ctx), s.DB)
	if err != nil || now <= before {
		return err
	}
	return s.shut(ctx, fmt.Sprintf("%d checkpoints of companies are missing in this database: a company was rolled back or removed", now),
		func(q db.Querier) error { return setLost(ctx, q, now) })
}

// comparePlace returns the reason why the database does not continue the second place, or "". If it
// cannot read the second place, it logs that. It returns an error if it cannot read the database.
func (s *Service) comparePlace(ctx context.Context, name string) (string, error) {
	own, foreign, err := s.kept(name)
	if err != nil {
		s.Log.Warn("the second place cannot be read: this comparison could not notice an old copy of the database", "error", err)
		return "", nil
	}
	if foreign > 0 && len(own) == 0 {
		return s.ofOther(foreign), nil
	}
	if foreign > 0 {
		s.Log.Warn("the second place has files of another database", "reason", s.ofOther(foreign))
	}
	if len(own) > 0 {
		why, _, err := s.compare(ctx, s.DB, name, own[len(own)-1])
		if errors.As(err, new(*fs.PathError)) {
			s.Log.Warn("the second place cannot be read: this comparison could not notice an old copy of the database", "error", err)
			return "", nil
		}
		return why, err
	}
	size, err := sizes(ctx, s.DB, []string{Deployment})
	if size[Deployment] > 0 {
		s.Log.Warn(s.empty(size[Deployment]) + ": this comparison could not notice an old copy of the database")
	}
	return "", err
}

func (s *Service) ofOther(n int) string {
	return fmt.Sprintf("the checkpoints in %s are of another database: %d files have the name of another deployment", s.Folder, n)
}

func (s *Service) empty(size int64) string {
	return fmt.Sprintf("%s has no checkpoint of this database, which has %d", s.Folder, size)
}

// instantOf returns the instant in the name of the newest file, or the zero time.
func instantOf(own []string, name string) time.Time {
	if len(own) == 0 {
		return time.Time{}
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(own[len(own)-1]), name+"-"), "-")
	at, err := time.Parse(instant, text)
	if err != nil {
		return time.Time{} // somebody else made the file
	}
	return at
}

// keepPresent writes a checkpoint of the deployment's present tree into the second place.
func (s *Service) keepPresent(ctx context.Context, name string) error {
	size, err := sizes(ctx, s.DB, []string{Deployment})
	if err != nil {
		return err
	}
	own, _, err := s.kept(name)
	if err != nil {
		return err
	}
	c := Checkpoint{Size: size[Deployment], CreatedAt: s.Clock.Now()}
	if last := instantOf(own, name); !c.CreatedAt.After(last) {
		c.CreatedAt = last.Add(time.Microsecond) // the clock was set back, and this file must be the newest one
	}
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

// compare returns the reason why a database does not continue a checkpoint of the second place, or "". It also
// returns the size of the checkpoint, or -1 if no evidence key signed the file.
func (s *Service) compare(ctx context.Context, q db.Querier, name, path string) (why string, covers int64, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // the configured folder
	if err != nil {
		return "", -1, fmt.Errorf("checkpoint_folder: %w", err)
	}
	by, err := signers(name, s.Keys)
	if err != nil {
		return "", -1, err
	}
	known := make([]note.Verifier, len(by))
	for i, one := range by {
		known[i] = one.(signer).Verifier
	}
	h, err := open(string(text), known...)
	if err != nil || h.Origin != origin(name, Deployment) {
		return fmt.Sprintf("%s is not a checkpoint of this database that one of its evidence keys signed", path), -1, nil
	}
	covers = int64(h.Size)
	size, err := sizes(ctx, q, []string{Deployment})
	if err != nil {
		return "", covers, err
	}
	if size[Deployment] < covers {
		return fmt.Sprintf("this database was rolled back: it has %d checkpoints, and %s covers %d", size[Deployment], path, covers), covers, nil
	}
	root, err := s.tree(ctx, q, Deployment, size[Deployment]).root(covers)
	if err != nil && !IsAltered(err) {
		return "", covers, err
	}
	if err != nil || encode(root) != encode(h.Hash) {
		return fmt.Sprintf("the history of this database was changed: it does not continue %s", path), covers, nil
	}
	return "", covers, nil
}
