package provider_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// host is an API that differs from the contract: a front of the server that rewrites requests and responses.
type host struct {
	// request changes a request; nil: none.
	request func(r *http.Request)
	// refuse returns a response in place of the server's, or nil; nil: every request is passed on.
	refuse func(r *http.Request) *answer
	// response changes a response; nil: none.
	response func(r *http.Request, a *answer)
	// fails matches the errors that are allowed; "": every walk works.
	fails string
	// failsFor matches the kinds for which fails is allowed; "": every kind.
	failsFor string
	// settle, if set, is called before a plan of an object that costs no money: time has passed since the apply.
	settle func()
	// spells are attributes that may have other values than on our server.
	spells []string
}

// answer is a response that a host changes.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (h host) roundTrip(r *http.Request, next http.RoundTripper) (*http.Response, error) {
	r = r.Clone(r.Context())
	if h.request != nil {
		h.request(r)
	}
	var a *answer
	if h.refuse != nil {
		a = h.refuse(r)
	}
	if a == nil {
		resp, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		a = &answer{status: resp.StatusCode, header: resp.Header}
		if a.body, err = io.ReadAll(resp.Body); err != nil {
			return nil, err
		}
	}
	if h.response != nil {
		h.response(r, a)
	}
	a.header.Del("Content-Length")
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r}, nil
}

// edit changes the JSON value of a body.
func (a *answer) edit(change func(v any) any) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(a.body))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return
	}
	a.body, _ = json.Marshal(change(v))
}

func (a *answer) succeeded() bool { return a.status/100 == 2 }

// status returns a host with other status codes.
func status(codes map[int]int) host {
	return host{response: func(_ *http.Request, a *answer) {
		if other, ok := codes[a.status]; ok {
			a.status = other
		}
	}}
}

// members returns a host that sends other members: change returns the value of a member, or absent.
func members(change func(name string, v any) any) host {
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if v[name] = change(name, walk(member)); v[name] == absent {
					delete(v, name)
				}
			}
		case []any:
			for i, element := range v {
				v[i] = walk(element)
			}
		}
		return v
	}
	return host{response: func(_ *http.Request, a *answer) {
		if a.succeeded() {
			a.edit(walk)
		}
	}}
}

type absentMember struct{}

var absent any = absentMember{}

// named returns a host that changes the members with these names.
func named(change func(v any) any, names ...string) host {
	return members(func(name string, v any) any {
		if slices.Contains(names, name) {
			return change(v)
		}
		return v
	})
}

// text applies a function to a value that is a string.
func text(change func(s string) any) func(v any) any {
	return func(v any) any {
		if s, ok := v.(string); ok {
			return change(s)
		}
		return v
	}
}

func body(change func(r *http.Request, a *answer)) host { return host{response: change} }

func whole(change func(v any) any) host {
	return body(func(_ *http.Request, a *answer) {
		if a.succeeded() {
			a.edit(change)
		}
	})
}

// page changes pages of lists.
func page(change func(p map[string]any)) host {
	return whole(func(v any) any {
		if p, ok := v.(map[string]any); ok && p["items"] != nil {
			change(p)
		}
		return v
	})
}

func remove(any) any { return absent }

func (h host) failing(pattern string) host { h.fails = pattern; return h }

func (h host) only(kinds string) host { h.failsFor = kinds; return h }

func (h host) spelling(attributes ...string) host { h.spells = attributes; return h }

func query(change func(q map[string][]string)) host {
	return host{request: func(r *http.Request) {
		q := r.URL.Query()
		change(q)
		r.URL.RawQuery = q.Encode()
	}}
}

func times(format func(time.Time) any) host {
	return members(func(_ string, v any) any {
		if s, ok := v.(string); ok {
			if at, err := time.Parse(api.TimestampLayout, s); err == nil {
				return format(at)
			}
		}
		return v
	})
}

func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/export")
}

// atPath limits a host's difference to the paths that end in a suffix or go on below it.
func atPath(suffix string, h host) host {
	change := h.response
	h.response = func(r *http.Request, a *answer) {
		if strings.HasSuffix(r.URL.Path, suffix) || strings.Contains(r.URL.Path, suffix+"/") && suffix == "/domains" && !strings.HasSuffix(r.URL.Path, "/purchase") {
			change(r, a)
		}
	}
	return h
}

// compose returns a host with the differences of several hosts. The first one is the nearest to the server.
func compose(all ...host) host {
	var fails []string
	h := host{
		request: func(r *http.Request) {
			for _, one := range slices.Backward(all) {
				if one.request != nil {
					one.request(r)
				}
			}
		},
		refuse: func(r *http.Request) *answer {
			for _, one := range all {
				if one.refuse != nil {
					if a := one.refuse(r); a != nil {
						return a
					}
				}
			}
			return nil
		},
		response: func(r *http.Request, a *answer) {
			for _, one := range all {
				if one.response != nil {
					one.response(r, a)
				}
			}
		},
		settle: func() {
			for _, one := range all {
				if one.settle != nil {
					one.settle()
				}
			}
		},
	}
	for _, one := range all {
		h.spells = append(h.spells, one.spells...)
		if one.fails != "" {
			fails = append(fails, one.fails)
		}
	}
	h.fails = strings.Join(fails, "|")
	return h
}
