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

// Redacted replaces each secret.
const Redacted = "[redacted]"

// tokenPrefix is the prefix of every service account token.
const tokenPrefix = api.TokenPrefix + "_"

// token matches a service account token or an access token in the compact form of
// RFC 7519, anywhere in a text.
var token = regexp.MustCompile(tokenPrefix + `[^\s"/?&=]+|eyJ[\w-]+\.[\w-]+\.[\w-]*`)

// RedactText returns a text without tokens.
func RedactText(s string) string { return token.ReplaceAllString(s, Redacted) }

// Redact returns the body of an operation's request or response without secrets: JSON without secret
// members, and any other body without tokens.
func Redact(operation string, body []byte) []byte {
	if redacted, ok := redact(operation, body); ok {
		return redacted
	}
	return []byte(RedactText(string(body)))
}

// secretNames lists the redacted members of bodies and parameters, without underscores and in lower case. contact_info
// is personal data, which the API never returns either.
var secretNames = []string{"contactinfo", "value"}

// isSecret reports whether a member or parameter is redacted, ignoring case like JSON decoders, and underscores, because
// another host may spell it in its own way. The value of a DNS record is public; the value of a master password is not.
func isSecret(operation, name string) bool {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	if strings.HasPrefix(name, "verif") && (strings.HasSuffix(name, "url") || strings.HasSuffix(name, "link")) {
		return true
	}
	for _, end := range []string{"token", "secret", "password", "apikey"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return slices.Contains(secretNames, name) && (name != "value" || !strings.Contains(operation, "dns-record"))
}

// redact returns a JSON object or array without its secrets; ok is false for any other body.
func redact(operation string, body []byte) (redacted json.RawMessage, ok bool) {
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
	redacted, err := api.EncodeJSON(redactValue(operation, v))
	return bytes.TrimSpace(redacted), err == nil
}

func redactValue(operation string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		redacted := make(map[string]any, len(v))
		for name, member := range v {
			if isSecret(operation, name) && member != nil {
				member = Redacted
			}
			redacted[RedactText(name)] = redactValue(operation, member)
		}
		return redacted
	case []any:
		for i := range v {
			v[i] = redactValue(operation, v[i])
		}
	case string:
		return RedactText(v)
	}
	return v
}

// Secrets returns the values of the secret members of a body, without personal ones, such as a city, which
// may be a part of any other text.
func Secrets(operation string, body []byte) (secrets []string) {
	var v any
	if json.Unmarshal(body, &v) == nil {
		secrets = secretsIn(operation, v, false)
	}
	return secrets
}

func secretsIn(operation string, v any, isSecretMember bool) (secrets []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			isCredential := isSecret(operation, name) && !strings.EqualFold(name, "contact_info")
			secrets = append(secrets, secretsIn(operation, member, isSecretMember || isCredential)...)
		}
	case []any:
		for _, element := range v {
			secrets = append(secrets, secretsIn(operation, element, isSecretMember)...)
		}
	case string:
		if isSecretMember {
			secrets = append(secrets, v)
		}
	}
	return secrets
}

// RedactQuery replaces parameters with a possible credential (RFC 6750, section 2.3). It decodes
// parameters twice, because some clients encode them twice.
func RedactQuery(raw string) string {
	parameters := strings.Split(raw, "&")
	for i, parameter := range parameters {
		once, err := url.QueryUnescape(parameter)
		twice, _ := url.QueryUnescape(once)
		name, _, _ := strings.Cut(once, "=")
		if err != nil || token.MatchString(once) || token.MatchString(twice) || isSecret("", name) {
			parameters[i] = Redacted
		}
	}
	return strings.Join(parameters, "&")
}
