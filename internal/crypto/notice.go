package crypto

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/kobo-waas/kobo/internal/operation"
	"github.com/kobo-waas/kobo/internal/provider"
)

// shownOfNotice is the number of characters of a notification in the detail of its case.
const shownOfNotice = 600

// notice is a genuine notification whose meaning is unknown.
type notice struct {
	id   string `db:"id"`
	body string `db:"body"`
}

// keep stores a notification whose meaning is unknown, and opens a case. The same notification is
// stored once, however often the custodian sends it.
func (s *Service) keep(ctx context.Context, custody string, body []byte) error {
	sum := sha256.Sum256(body)
	id := hex.EncodeToString(sum[:])
	stored := strings.ReplaceAll(string(provider.Storable(body)), "\x00", "\uFFFD") // the body need not be JSON
	added, err := s.addNotice(ctx, custody, id, stored)
	if err != nil {
		return err
	}
	if added {
		s.unread.WithLabelValues(custody).Inc()
	}
	text := []rune(stored)
	detail := fmt.Sprintf("%s reports what Kobo cannot read, perhaps a deposit. Look for the transaction on its chain: %s",
		custody, string(text[:min(len(text), shownOfNotice)]))
	return s.Ask(ctx, "crypto notice "+custody+" "+id[:32], operation.Unreadable, detail)
}

// readKept reads the stored notifications of a custodian again, because this program or its
// configuration may know what the last one did not.
func (s *Service) readKept(ctx context.Context, c Custody) error {
	list, err := s.newNotices(ctx, c.Name)
	if err != nil {
		return err
	}
	for _, n := range list {
		movements, err := c.Plug.ParseKept([]byte(n.body))
		if errors.Is(err, provider.ErrUnread) {
			continue
		}
		if err == nil {
			err = s.write(ctx, c, provider.Batch{Movements: movements})
		}
		if err == nil {
			err = s.endNotice(ctx, c.Name, n.id)
		}
		if err != nil {
			return err
		}
		s.Log.Info("a notification of unknown meaning was read", "custodian", c.Name, "notification", n.id, "movements", len(movements))
	}
	return nil
}
