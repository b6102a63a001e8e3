package journal

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Redacted stands in place of a secret.
const Redacted = "[redacted]"

// tokenBegin begins every service account token.
const tokenBegin = api.TokenPrefix + "_"

// token finds service account tokens, and access tokens in the compact form of
// RFC 7519, in a text, wherever that stands.
var token = regexp.MustCompile(tokenBegin + `[^\s"/?&=]+|eyJ[\w-]+\.[\w-]+\.[\w-]*`)

func withoutTokens(s string) string { return token.ReplaceAllString(s, Redacted) }

// secrets are the names of the members of a body that are not told, in lower
// case.
type secrets []string

// secretsOf returns what is not told of an operation. The contact that a domain
// is bought for is no secret, but it is about a person and the API never tells
// it again. A DNS record's value is public.
func secretsOf(operation string) secrets {
	names := secrets{"token", "generated_secret", "secret", "password", "contact_info"}
	switch operation {
	case api.CreateDNSRecord.ID, api.ListDNSRecords.ID, api.GetDNSRecord.ID, api.UpdateDNSRecord.ID:
		return names
	}
	return append(names, "value")
}

// redact returns a JSON body with its secrets replaced; ok is false for what is
// no JSON object or array, of which nothing can be said.
func (s secrets) redact(body []byte) (redacted json.RawMessage, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return nil, false
	}
	switch v.(type) {
	case map[string]any, []any:
	default:
		return nil, false
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s.clean(v)); err != nil {
		return nil, false
	}
	return bytes.TrimSpace(out.Bytes()), true
}

func (s secrets) clean(v any) any {
	switch v := v.(type) {
	case map[string]any:
		cleaned := make(map[string]any, len(v))
		for name, member := range v {
			if s.has(name) && member != nil {
				member = Redacted
			}
			cleaned[withoutTokens(name)] = s.clean(member)
		}
		return cleaned
	case []any:
		for i := range v {
			v[i] = s.clean(v[i])
		}
	case string:
		return withoutTokens(v)
	}
	return v
}

// has reports whether a member is secret: decoders take any case of a name.
func (s secrets) has(name string) bool { return slices.Contains(s, strings.ToLower(name)) }

// holdsToken reports whether a part of a query holds a token once it is decoded,
// or decoded twice where a client has encoded it twice; what can't be decoded may
// hold anything.
func holdsToken(encoded string) bool {
	once, err := url.QueryUnescape(encoded)
	if err != nil || token.MatchString(once) {
		return true
	}
	twice, err := url.QueryUnescape(once)
	return err == nil && token.MatchString(twice)
}

// redactQuery returns a query without what may be a credential (RFC 6750,
// section 2.3) in it.
func redactQuery(raw string) string {
	pairs := strings.Split(raw, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		switch {
		case holdsToken(name):
			pairs[i] = Redacted
		case err != nil || slices.Contains([]string{"access_token", "token", "value", "secret", "password"}, strings.ToLower(plain)) || holdsToken(value):
			pairs[i] = name + "=" + Redacted
		}
	}
	return withoutTokens(strings.Join(pairs, "&"))
}
