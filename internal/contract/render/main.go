// Command render makes the generated files of an API from its openapi.yaml:
//
//	contract.json  the document for the program and for oapi-codegen
//	openapi.json   the document for callers, without the fields that are ours (x-)
//
// The properties of a schema keep the order of the text (x-order). With -routes
// the command writes routes.gen.go too: a table of the handlers by operation.
package main

import (
	"bytes"
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

// render makes the files, by name.
func render(source []byte, routes string) (map[string][]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, err
	}
	number(&root)
	var ours, public bytes.Buffer
	if err := writeNode(&ours, &root, true); err != nil {
		return nil, err
	}
	if err := writeNode(&public, &root, false); err != nil {
		return nil, err
	}
	files := map[string][]byte{"contract.json": ours.Bytes(), "openapi.json": public.Bytes()}
	if bytes.Equal(contract.At(public.Bytes(), "x"), public.Bytes()) {
		return nil, fmt.Errorf("the document names no server /")
	}
	c, err := contract.Read(ours.Bytes(), contract.Style{})
	if err != nil || routes == "" {
		return files, err
	}
	files["routes.gen.go"], err = handlers(c, routes)
	return files, err
}

// handlers is a Go file with a table of the handlers by operation. The handler of
// an operation is a method with the operation's id as its name.
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

// handlers are the operations of the contract, by id.
func (e *edge) handlers() map[string]action {
return map[string]action{
` + strings.Join(lines, "\n") + "\n}\n}\n"))
}

// number gives the properties of every schema their order in the text.
func number(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "properties" && isProperties(child) {
			for j := 1; j < len(child.Content); j += 2 {
				setOrder(child.Content[j], (j+1)/2)
			}
		}
		number(child)
	}
}

// isProperties tells the properties of a schema from a property of that name.
func isProperties(n *yaml.Node) bool {
	for j := 1; j < len(n.Content); j += 2 {
		if n.Content[j].Kind != yaml.MappingNode {
			return false
		}
	}
	return n.Kind == yaml.MappingNode
}

func setOrder(property *yaml.Node, order int) {
	const key = "x-order"
	for i := 0; i < len(property.Content); i += 2 {
		if property.Content[i].Value == key {
			property.Content[i+1].Value = strconv.Itoa(order)
			return
		}
	}
	property.Content = append(property.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(order)})
}

// writeNode writes YAML as JSON with the keys in the order of the text. People
// read the reference in this order. Without isOurs the fields x- are left out.
func writeNode(out *bytes.Buffer, n *yaml.Node, isOurs bool) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return writeNode(out, n.Content[0], isOurs)
	case yaml.AliasNode:
		return writeNode(out, n.Alias, isOurs)
	case yaml.MappingNode:
		return writeMany(out, n, '{', '}', 2, isOurs)
	case yaml.SequenceNode:
		return writeMany(out, n, '[', ']', 1, isOurs)
	default:
		var v any
		if err := n.Decode(&v); err != nil {
			return err
		}
		return writeValue(out, v)
	}
}

// writeMany writes the children of a list (step 1) or a map (step 2: keys and
// values in turn).
func writeMany(out *bytes.Buffer, n *yaml.Node, open, shut byte, step int, isOurs bool) error {
	out.WriteByte(open)
	isFirst := true
	for i := 0; i < len(n.Content); i += step {
		if step == 2 && !isOurs && strings.HasPrefix(n.Content[i].Value, "x-") {
			continue
		}
		if !isFirst {
			out.WriteByte(',')
		}
		isFirst = false
		if step == 2 {
			if err := writeValue(out, n.Content[i].Value); err != nil {
				return err
			}
			out.WriteByte(':')
		}
		if err := writeNode(out, n.Content[i+step-1], isOurs); err != nil {
			return err
		}
	}
	out.WriteByte(shut)
	return nil
}

func writeValue(out *bytes.Buffer, v any) error {
	b, err := json.Marshal(v)
	out.Write(b)
	return err
}
