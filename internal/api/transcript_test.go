package api_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/api"
	"github.com/kobo-waas/kobo/internal/api/apitest"
)

// transcripts returns the names of the files in a folder of testdata.
func transcripts(t testing.TB, folder string) []string {
	t.Helper()
	names, err := fs.Glob(os.DirFS("testdata"), path.Join(folder, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no transcripts in %s: %v", folder, err)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "catalogue.txt" })
}

// The API, configured as in dev, gives the responses that the transcripts expect.
func TestTranscripts(t *testing.T) {
	for _, name := range transcripts(t, ".") {
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			player, _ := w.serve(t)
			player.Play(t, os.DirFS("testdata"), name)
			w.told(t)
		})
	}
}

// A deployment that refuses names gives the responses that its transcripts expect.
func TestTranscriptsOfRefusedNames(t *testing.T) {
	for _, name := range transcripts(t, "refuse") {
		w := newWorld(t)
		w.Customers.RefuseNames = true
		player, _ := w.serve(t)
		player.Play(t, os.DirFS("testdata"), name)
		w.told(t)
	}
}

// told checks that every event of the company w.reference matches the contract.
func (w *world) told(t *testing.T) {
	t.Helper()
	c := contract(t)
	events, _, err := w.Events.Feed(t.Context(), w.reference, 0, 1000, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		text, err := json.Marshal(e)
		if err == nil {
			err = c.CheckEvent(text)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// contract returns the OpenAPI document with which the responses are compared.
func contract(t testing.TB) *apitest.Contract {
	t.Helper()
	c, err := apitest.ReadContract(api.Document())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// played returns the exchanges of all transcripts. The key of an exchange is its file and title.
func played(t testing.TB) map[string]apitest.Exchange {
	t.Helper()
	out := map[string]apitest.Exchange{}
	for _, name := range slices.Concat(transcripts(t, "."), transcripts(t, "broken"), transcripts(t, "refuse")) {
		exchanges, err := apitest.Read(os.DirFS("testdata"), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range exchanges {
			key := name + ": " + e.Title
			if _, twice := out[key]; twice {
				t.Errorf("%s: there are two", key)
			}
			out[key] = e
		}
	}
	return out
}

// ofPeople are the operations that no program can run with an access token, and the one that reads what only people make.
// The tests of package console show them succeed.
var ofPeople = map[string]bool{"findApproval": true, "setTwoPeople": true, "setPayoutApproval": true, "approveRequest": true, "rejectRequest": true}

func TestEveryOperationHasATranscript(t *testing.T) {
	c, seen := contract(t), map[string]bool{}
	for _, e := range played(t) {
		if e.Status < 300 {
			seen[c.Operation(e.Method, e.Target)] = true
		}
	}
	for _, id := range c.Operations() {
		if !seen[id] && !ofPeople[id] {
			t.Errorf("%s: no transcript shows it succeed", id)
		}
	}
}

// The file testdata/catalogue.txt lists every error in the contract's error catalogue. Each row
// names the exchange of a transcript that shows the error.
func TestEveryRowOfTheErrorCatalogueHasATranscript(t *testing.T) {
	f, err := os.Open("testdata/catalogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	exchanges, shown, row := played(t), map[string]int{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "\t") {
			e, found := exchanges[strings.TrimSpace(line)]
			if !found || !strings.HasPrefix(row, strconv.Itoa(e.Status)+" ") {
				t.Errorf("%s: there is no such exchange with this status: %s", row, strings.TrimSpace(line))
			}
			shown[row]++
		} else if line != "" && !strings.HasPrefix(line, "#") {
			row = line
			shown[row] = 0
		}
	}
	for row, n := range shown {
		if n == 0 {
			t.Errorf("%s: no transcript shows it", row)
		}
	}
	if len(shown) < 20 {
		t.Errorf("the catalogue has only %d rows", len(shown))
	}
}
