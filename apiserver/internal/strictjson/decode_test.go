package strictjson_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/strictjson"
)

type inner struct {
	Name  string `json:"name"`
	Count *int   `json:"count,omitempty"`
}

type size int

func (*size) UnmarshalText(text []byte) error {
	if string(text) != "large" {
		return errors.New("must be large")
	}
	return nil
}

func (size) JSONForm() string { return `a size such as "large"` }

type embedded struct {
	Deep string `json:"deep"`
}

type outer struct {
	embedded
	Items  []inner           `json:"items"`
	One    *inner            `json:"one"`
	Prices map[string]string `json:"prices"`
	Size   size              `json:"size"`
	At     time.Time         `json:"at"`
	Share  float64           `json:"share"`
	Seed   uint64            `json:"seed"`
	On     bool              `json:"on"`
	Free   map[string]any    `json:"free"`
}

func TestUnmarshal(t *testing.T) {
	var got outer
	err := strictjson.Unmarshal([]byte(`{"deep":"d","items":[{"name":"a"},{"name":"b","count":0}],"one":{},"prices":{"com":"1"},
		"size":"large","at":"2026-03-14T15:00:00Z","share":0.5,"seed":18446744073709551615,"on":true,"free":{"a":null,"b":[null]}}`), &got)
	assert.NilError(t, err)
	want := outer{
		embedded: embedded{"d"}, Items: []inner{{Name: "a"}, {"b", new(0)}}, One: new(inner), Prices: map[string]string{"com": "1"},
		At: time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC), Share: 0.5, Seed: 18446744073709551615, On: true,
		Free: map[string]any{"a": nil, "b": []any{nil}},
	}
	assert.Check(t, reflect.DeepEqual(got, want), "got %+v\nwant %+v", got, want)
	got = outer{}
	err = strictjson.Unmarshal([]byte("\ufeff{\"items\":[]}\r\n"), &got) // as Windows writes it
	assert.Check(t, err == nil && got.Items != nil && got.One == nil && got.Prices == nil, "got %+v, %v", got, err)
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ json, want string }{
		{``, "line 1: this is not JSON: unexpected EOF"},
		{"{\n\"on\": tru}", "line 2: this is not JSON: invalid character '}' in literal true (expecting 'e')"},
		{`{} {}`, "line 1: this is not JSON: invalid character '{' after top-level value"},
		{`[{"on":1},{}]`, "line 1: must be an object"},
		{`{"On":true}`, `line 1: unknown field "On"; there are deep, items, one, prices, size, at, share, seed, on, free; did you mean on?`},
		{`{"one":{"nme":[{"a":[]}]}}`, `line 1: one: unknown field "nme"; there are name, count; did you mean name?`},
		{`{"on":null}`, "line 1: on: must not be null; leave the field out"},
		{`{"free":null}`, "line 1: free: must not be null; leave the field out"},
		{`{"prices":{"com":null}}`, "line 1: prices.com: must not be null; leave the field out"},
		{`nope`, "line 1: this is not JSON: invalid character 'o' in literal null (expecting 'u')"},
		{`nul`, "line 1: this is not JSON: unexpected EOF"},
		{`{"one":nil}`, "line 1: this is not JSON: invalid character 'i' in literal null (expecting 'u')"},
		{`{"at":"2030-01-01"}`, "line 1: at: must be a time of RFC 3339, such as 2030-01-01T00:00:00Z"},
		{`{"at":5}`, "line 1: at: must be a time of RFC 3339, such as 2030-01-01T00:00:00Z"},
		{`{"at":null}`, "line 1: at: must not be null; leave the field out"},
		{`{"size":null}`, "line 1: size: must not be null; leave the field out"},
		{`null`, "line 1: must not be null; leave the field out"},
		{"{\"items\":[{\"name\":\"a\"},\n{\"name\":null}]}", "line 2: items[1].name: must not be null; leave the field out"},
		{`{"on":true,"on":[false]}`, `line 1: the field "on" is given twice`},
		{`{"prices":{"com":"1","com":"2"}}`, `line 1: prices: the field "com" is given twice`},
		{`{"items":{"a":[1]},"one":[{}]}`, "line 1: items: must be an array"},
		{`{"prices":{"com":1,"net":"2"}}`, "line 1: prices.com: must be a string"},
		{`{"size":1}`, `line 1: size: must be a size such as "large"`},
		{`{"size":"small"}`, "line 1: size: must be large"},
		{`{"share":"1"}`, "line 1: share: must be a number"},
		{`{"seed":-1}`, "line 1: seed: must be an integer"},
		{`{"on":{}}`, "line 1: on: must be true or false"},
		{"{\"on\":true,\n\"items\":[{\"name\":\"1\"},\n\n{\"count\":\"1\"}],\"x\":[[]]}", "line 4: items[1].count: must be an integer"},
	} {
		err := strictjson.Unmarshal([]byte(tt.json), new(outer))
		assert.Check(t, is.Equal(fmt.Sprint(err), tt.want), "%s:\n", tt.json)
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"items":[{"name":1}],"x":[[{}]],"one":[],"prices":{"a":null}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = strictjson.Unmarshal(data, new(outer)) // must not panic
	})
}
