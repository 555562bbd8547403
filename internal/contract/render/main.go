// Command render generates the files of an API from its openapi.yaml:
//
//	contract.json  the document for the program and for oapi-codegen
//	openapi.json   the document for callers, without Kobo's extension fields (x-)
//
// In contract.json, x-order is the position of a property in its schema in openapi.yaml. With
// -routes, the command also writes routes.gen.go, which is a table of the handlers by operation.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kobo-waas/kobo/internal/contract"
)

func main() {
	routes := flag.String("routes", "", "write the handlers of a Go `package`")
	flag.Parse()
	source, err := os.ReadFile("openapi.yaml")
	if err != nil {
		log.Fatal(err)
	}
	files, err := render(source, *routes)
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// render returns the contents of the generated files, by file name.
func render(source []byte, routes string) (map[string][]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, err
	}
	number(&root)
	ours, err := text(&root, true)
	if err != nil {
		return nil, err
	}
	public, err := text(&root, false)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"contract.json": []byte(ours), "openapi.json": []byte(public)}
	if string(contract.At([]byte(public), "x")) == public {
		return nil, fmt.Errorf("the document names no server /")
	}
	c, err := contract.Read([]byte(ours), contract.Style{})
	if err != nil || routes == "" {
		return files, err
	}
	files["routes.gen.go"], err = handlers(c, routes)
	return files, err
}

// handlers returns a Go file with a table of the handlers by operation. The handler of an
// operation is a method whose name is the operation's id.
func handlers(c *contract.Contract, name string) ([]byte, error) {
	var lines []string
	for _, op := range c.Operations {
		handler := "e." + op.ID
		if op.HasBody() {
			handler = "taking(" + handler + ")"
		}
		lines = append(lines, fmt.Sprintf("%q: %s,", op.ID, handler))
	}
	slices.Sort(lines)
	return format.Source([]byte("// Code generated from openapi.yaml by internal/contract/render. DO NOT EDIT.\n\npackage " + name + `

// handlers returns the operations of the contract, by id.
func (e *edge) handlers() map[string]action {
return map[string]action{
` + strings.Join(lines, "\n") + "\n}\n}\n"))
}

// number adds x-order to the properties of every schema. x-order is the position of the property in
// the schema's text.
func number(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "properties" && isProperties(child) {
			for j := 1; j < len(child.Content); j += 2 {
				child.Content[j].Content = append(child.Content[j].Content,
					&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "x-order"},
					&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa((j + 1) / 2)})
			}
		}
		number(child)
	}
}

// isProperties reports whether n, the value of a key "properties", holds the properties of a
// schema. The key can also be the name of a field. In that case, n is the schema of this field.
func isProperties(n *yaml.Node) bool {
	for j := 1; j < len(n.Content); j += 2 {
		if n.Content[j].Kind != yaml.MappingNode {
			return false
		}
	}
	return n.Kind == yaml.MappingNode
}

// text converts YAML to JSON. The keys have the order of the document, because humans read the JSON
// too. If isOurs is false, text leaves out the fields that begin with x-.
func text(n *yaml.Node, isOurs bool) (string, error) {
	var parts []string
	switch n.Kind {
	case yaml.DocumentNode:
		return text(n.Content[0], isOurs)
	case yaml.AliasNode:
		return text(n.Alias, isOurs)
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			if !isOurs && strings.HasPrefix(n.Content[i].Value, "x-") {
				continue
			}
			value, err := text(n.Content[i+1], isOurs)
			if err != nil {
				return "", err
			}
			key, err := json.Marshal(n.Content[i].Value)
			if err != nil {
				return "", err
			}
			parts = append(parts, string(key)+":"+value)
		}
		return "{" + strings.Join(parts, ",") + "}", nil
	case yaml.SequenceNode:
		for _, child := range n.Content {
			value, err := text(child, isOurs)
			if err != nil {
				return "", err
			}
			parts = append(parts, value)
		}
		return "[" + strings.Join(parts, ",") + "]", nil
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			return "", err
		}
		value, err := json.Marshal(v)
		return string(value), err
	}
}
