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

// Redacted replaces a secret.
const Redacted = "[redacted]"

// tokenPrefix is the prefix of every service account token.
const tokenPrefix = api.TokenPrefix + "_"

// token matches a service account token or an access token in the compact form of
// RFC 7519, anywhere in a text.
var token = regexp.MustCompile(tokenPrefix + `[^\s"/?&=]+|eyJ[\w-]+\.[\w-]+\.[\w-]*`)

func redactTokens(s string) string { return token.ReplaceAllString(s, Redacted) }

// secrets are the names of secret members of a body, in lower case.
type secrets []string

// secretMembers returns the members that are redacted in an operation's bodies.
// contact_info is personal data, which the API never returns either. The value of a
// DNS record is public; the value of a master password is not.
func secretMembers(operation string) secrets {
	names := secrets{"token", "generated_secret", "secret", "password", "contact_info"}
	switch operation {
	case api.CreateDNSRecord.ID, api.ListDNSRecords.ID, api.GetDNSRecord.ID, api.UpdateDNSRecord.ID:
		return names
	}
	return append(names, "value")
}

// redact returns a JSON object or array with its secrets replaced; ok is false for
// any other body.
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
	redacted, err := api.EncodeJSON(s.redactValue(v))
	return bytes.TrimSpace(redacted), err == nil
}

func (s secrets) redactValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		redacted := make(map[string]any, len(v))
		for name, member := range v {
			if s.contain(name) && member != nil {
				member = Redacted
			}
			redacted[redactTokens(name)] = s.redactValue(member)
		}
		return redacted
	case []any:
		for i := range v {
			v[i] = s.redactValue(v[i])
		}
	case string:
		return redactTokens(v)
	}
	return v
}

// contain ignores case, as JSON decoders do.
func (s secrets) contain(name string) bool { return slices.Contains(s, strings.ToLower(name)) }

// secretParameters are the names of parameters, in lower case, that may have a credential.
var secretParameters = []string{"access_token", "token", "value", "secret", "password"}

// redactQuery replaces parameters that may have a credential (RFC 6750, section 2.3). It decodes
// them twice, because some clients encode twice.
func redactQuery(raw string) string {
	parameters := strings.Split(raw, "&")
	for i, parameter := range parameters {
		once, err := url.QueryUnescape(parameter)
		twice, _ := url.QueryUnescape(once)
		name, _, _ := strings.Cut(once, "=")
		if err != nil || token.MatchString(once) || token.MatchString(twice) || slices.Contains(secretParameters, strings.ToLower(name)) {
			parameters[i] = Redacted
		}
	}
	return strings.Join(parameters, "&")
}
