package app

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"

	"github.com/kobo-waas/kobo/internal/secret"
)

// Load reads the configuration. It takes the defaults, then the YAML file ("" for no file), and
// then the environment, which overrides both. An unknown name is an error.
func Load(path string) (Config, error) {
	cfg := Defaults()
	k := koanf.New(".")
	if path != "" {
		if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
			return cfg, fmt.Errorf("configuration: %w", err)
		}
	}
	err := k.Load(env.Provider(".", env.Opt{Prefix: "KOBO_", TransformFunc: func(name, value string) (string, any) {
		name = strings.ToLower(strings.TrimPrefix(name, "KOBO_"))
		if strings.HasPrefix(name, "test_") || name == "admin_key" {
			return "", nil // this variable is for the test harness, or for an operator's commands
		}
		return setting(name), value
	}}), nil)
	if err != nil {
		return cfg, fmt.Errorf("configuration: %w", err)
	}
	all := append(unknown(k), listed(k, "trusted_proxies"), cfg.readSecrets(k))
	if err := k.Unmarshal("", &cfg); err != nil {
		all = append(all, prefixed("", listErrors(unreadable(err)...)))
	}
	for name, unset := range registered {
		all = append(all, group(k, name, cfg.Providers, name, unset))
	}
	for _, name := range k.MapKeys("banks") {
		at := "banks." + name
		plug := k.String(at + ".plug")
		if bankPlugs[plug] == nil {
			all = append(all, fmt.Errorf("configuration: %s.plug must be one of %v, not %q", at, slices.Sorted(maps.Keys(bankPlugs)), plug))
			continue
		}
		all = append(all, group(k, at, cfg.Banks, name, bankPlugs[plug]))
	}
	return cfg, listErrors(all...)
}

// group reads the settings at a path, and stores them in the map under a name.
func group(k *koanf.Koanf, at string, into map[string]Provider, name string, unset Provider) error {
	v := reflect.New(reflect.TypeOf(unset))
	err := k.Unmarshal(at, v.Interface())
	into[name] = v.Elem().Interface().(Provider)
	return prefixed(at+": ", listErrors(unreadable(err)...))
}

// fileSuffix ends the name of the setting that names the file of a secret.
const fileSuffix = "_file"

// readSecrets reads each secret whose setting names a file. Line breaks at the end of the file do not
// belong to the secret.
func (c *Config) readSecrets(k *koanf.Koanf) error {
	var all []error
	for _, at := range k.Keys() {
		path := k.String(at)
		if path == "" || !isSecretFile(k, at) {
			continue
		}
		of := strings.TrimSuffix(at, fileSuffix)
		text, err := readSecret(path)
		all = append(all, prefixed(at+": ", err), errorIf(k.String(of) != "", "set either %s or %s", of, at))
		if err == nil {
			c.SecretFiles = append(c.SecretFiles, path)
			all = append(all, k.Set(of, text))
		}
	}
	return errors.Join(all...)
}

// readSecret returns the secret that a file contains.
func readSecret(path string) (string, error) {
	if _, err := secret.CheckMode(path); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Clean(path))
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = fmt.Errorf("%s is empty", path)
	}
	return strings.TrimRight(string(text), "\r\n"), err
}

// fieldOf returns the field of a struct type that a setting's path names.
func fieldOf(t reflect.Type, path string) (field reflect.StructField, ok bool) {
	name, below, deep := strings.Cut(path, ".")
	for f := range t.Fields() {
		if f.Tag.Get("koanf") == name && deep && f.Type.Kind() == reflect.Struct {
			return fieldOf(f.Type, below)
		} else if f.Tag.Get("koanf") == name && !deep {
			return f, true
		}
	}
	return field, false
}

// isSecretFile reports whether a setting names the file of a secret, and has no field itself.
func isSecretFile(k *koanf.Koanf, path string) bool {
	of, at := reflect.TypeFor[Config](), path
	group, below, _ := strings.Cut(path, ".")
	if group == "banks" {
		var name string
		if name, at, _ = strings.Cut(below, "."); bankPlugs[k.String("banks."+name+".plug")] == nil {
			return false
		}
		of = reflect.TypeOf(bankPlugs[k.String("banks."+name+".plug")])
	} else if p := registered[group]; p != nil {
		of, at = reflect.TypeOf(p), below
	}
	f, ok := fieldOf(of, strings.TrimSuffix(at, fileSuffix))
	_, own := fieldOf(of, at)
	return strings.HasSuffix(at, fileSuffix) && ok && f.Type == reflect.TypeFor[secret.Text]() && !own
}

// settings maps the environment spelling of each setting outside `banks` to its path.
var settings = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	all := paths(reflect.TypeFor[Config]())
	for name, p := range registered {
		for _, path := range paths(reflect.TypeOf(p)) {
			all = append(all, name+"."+path)
		}
	}
	for _, path := range all {
		out[strings.ReplaceAll(path, ".", "_")] = path
	}
	return out
})

// ofBank returns the paths of the settings of a bank with this plug. For an unknown plug it returns
// the paths of all bank plugs. The longest paths come first.
func ofBank(plug string) []string {
	out := paths(reflect.TypeFor[BankConfig]())
	for name, p := range bankPlugs {
		if name == plug || bankPlugs[plug] == nil {
			out = append(out, paths(reflect.TypeOf(p))...)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// paths returns the setting paths of a struct type. A field whose type has named fields is a
// group. Any other field, such as a duration or a secret, is a setting. A secret adds a setting for
// its file.
func paths(t reflect.Type) (out []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name := f.Tag.Get("koanf")
		if name == "" || name == "-" {
			continue
		}
		below := paths(f.Type)
		if below == nil {
			out = append(out, name)
		}
		if f.Type == reflect.TypeFor[secret.Text]() {
			out = append(out, name+fileSuffix)
		}
		for _, path := range below {
			out = append(out, name+"."+path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out) // master_key_file also has a field
}

// setting returns the path of the setting that an environment variable names. It returns an unknown
// name unchanged, because the error message shows that name.
func setting(name string) string {
	if path, ok := settings()[name]; ok {
		return path
	}
	rest, ok := strings.CutPrefix(name, "banks_")
	for _, s := range ofBank("") {
		if bank, is := strings.CutSuffix(rest, "_"+s); ok && is {
			return "banks." + bank + "." + s
		}
	}
	return name
}

// listed splits a text with commas into a list.
func listed(k *koanf.Koanf, path string) error {
	text, ok := k.Get(path).(string)
	if !ok {
		return nil
	}
	return k.Set(path, strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }))
}

func unknown(k *koanf.Koanf) (all []error) {
	for _, path := range k.Keys() {
		bank, s, _ := strings.Cut(strings.TrimPrefix(path, "banks."), ".")
		isBank := strings.HasPrefix(path, "banks.") && slices.Contains(ofBank(k.String("banks."+bank+".plug")), s)
		if !isBank && settings()[strings.ReplaceAll(path, ".", "_")] != path {
			all = append(all, fmt.Errorf("configuration: there is no setting %q", path))
		}
	}
	return all
}
