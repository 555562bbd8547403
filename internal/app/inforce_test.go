package app

import (
	"reflect"
	"strings"
	"testing"

	"github.com/kobo-waas/kobo/internal/secret"
)

const (
	someSecret = "hunter2"
	address    = "postgres://user:" + someSecret + "@host/kobo?password=" + someSecret
)

// fill sets every secret of a configuration to a word, and every text to an address that contains it.
func fill(v reflect.Value) {
	for f, value := range v.Fields() {
		switch {
		case !f.IsExported():
		case f.Type == reflect.TypeFor[secret.Text]():
			value.Set(reflect.ValueOf(secret.NewText(someSecret)))
		case f.Type.Kind() == reflect.String:
			value.SetString(address)
		case f.Type.Kind() == reflect.Struct:
			fill(value)
		}
	}
}

// The settings in force show no secret, whichever setting has it, and every setting has a line.
func TestTheSettingsInForceShowNoSecret(t *testing.T) {
	cfg := Defaults()
	fill(reflect.ValueOf(&cfg).Elem())
	cfg.Providers, cfg.Banks = map[string]Provider{}, map[string]Provider{}
	for name, p := range registered {
		v := reflect.New(reflect.TypeOf(p)).Elem()
		fill(v)
		cfg.Providers[name] = v.Interface().(Provider)
	}
	for name, p := range bankPlugs {
		v := reflect.New(reflect.TypeOf(p)).Elem()
		fill(v)
		cfg.Banks[name] = v.Interface().(Provider)
	}
	shown := map[string]string{}
	for _, s := range cfg.shown() {
		if shown[s.Name] = s.Value; strings.Contains(s.Value, someSecret) {
			t.Errorf("%s shows %q", s.Name, s.Value)
		}
	}
	all := paths(reflect.TypeFor[Config]())
	for name, p := range registered {
		for _, path := range paths(reflect.TypeOf(p)) {
			all = append(all, name+"."+path)
		}
	}
	for _, path := range all {
		_, there := shown[path]
		if _, isSecret := shown[strings.TrimSuffix(path, fileSuffix)]; !there && (!isSecret || !strings.HasSuffix(path, fileSuffix)) {
			t.Errorf("no line for %s", path)
		}
	}
	if shown["database"] != "postgres://host/kobo" || shown["vtpass.secret_key"] != "(set)" || shown["window"] == "" {
		t.Errorf("%q, %q, %q", shown["database"], shown["vtpass.secret_key"], shown["window"])
	}
}
