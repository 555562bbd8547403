// Package guide has the guides for the developers of companies, as web pages.
package guide

//go:generate go -C ../../tools run ./guides

import (
	"embed"
	"strings"
)

// First is the name of the guide to begin with.
const First = "quick-start"

//go:embed site
var site embed.FS

// Files returns the content of each file by its name below /docs/guides/. A page has no ending.
func Files() map[string][]byte {
	entries, err := site.ReadDir("site")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		content, err := site.ReadFile("site/" + entry.Name())
		if err != nil {
			panic(err)
		}
		files[strings.TrimSuffix(entry.Name(), ".html")] = content
	}
	return files
}
