package console

import (
	"testing"
	"testing/synctest"

	"github.com/kobo-waas/kobo/internal/fault"
	"github.com/kobo-waas/kobo/internal/person"
)

// A person of a company has some files on their way at once, and can have another one when one of them has arrived. Another person, and
// an operator, can have one meanwhile.
func TestFewFilesAreOnTheirWayToAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, arrived := &console{sending: &sending{files: map[string]int{}}}, make(chan struct{})
		slow := route{download: func(*visit) error { <-arrived; return nil }}
		quick := route{download: func(*visit) error { return nil }}
		send := func(who person.Person, r route) error { return (&visit{console: c, who: who, route: r}).sendFile() }
		bola, ada := person.Person{Company: "c1", ID: "bola"}, person.Person{Company: "c1", ID: "ada"}
		for range mostFiles {
			go func() { _ = send(bola, slow) }()
			go func() { _ = send(person.Person{ID: "dev"}, slow) }()
		}
		synctest.Wait()
		if err := send(bola, quick); !fault.Is(err, fault.Limited) {
			t.Errorf("one more: %v", err)
		}
		for _, who := range []person.Person{ada, {ID: "dev"}} {
			if err := send(who, quick); err != nil {
				t.Errorf("%s: %v", who.ID, err)
			}
		}
		arrived <- struct{}{}
		arrived <- struct{}{}
		synctest.Wait()
		close(arrived)
		synctest.Wait()
		if err := send(bola, quick); err != nil || len(c.sending.files) > 0 {
			t.Errorf("after them: %v, %v", err, c.sending.files)
		}
	})
}
