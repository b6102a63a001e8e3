package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// hostsOfNames returns hosts for the questions of the guide about names and types.
func hostsOfNames() map[string]map[string]host {
	return map[string]map[string]host{
		"member with the type of a scope": {
			"another name":  members(func(name string, v any) any { return v }).renaming("scope_type", "scope").spelling("scope_type"),
			"missing":       named(remove, "scope_type", "scope_id").spelling("scope_type", "scope_id"),
			"in upper case": named(text(func(s string) any { return strings.ToUpper(s) }), "scope_type").spelling("scope_type"),
		},
		"member with the state of a verification": {
			"missing": named(remove, "verification_state", "verification_required").spelling("verification_state", "verification_required"),
		},
		"member with the kind of a redirect": {
			"missing":      named(remove, "redirect_mode").spelling("redirect_mode"),
			"another name": members(func(_ string, v any) any { return v }).renaming("redirect_mode", "redirect_type").spelling("redirect_mode"),
		},
		"further members": {
			"an object": members(func(_ string, v any) any {
				if o, ok := v.(map[string]any); ok {
					o["extra"] = map[string]any{"a": []any{1, "b"}}
				}
				return v
			}),
		},
		"a member is missing": {
			"status": named(remove, "status").spelling("status"),
			"booleans if false": named(func(v any) any {
				if v == false {
					return absent
				}
				return v
			}, "active", "verification_required", "auto_renew", "outbound_routing_ready", "is_system_managed"),
			"id":                  named(remove, "id").failing(pointsToProxy),
			"name":                named(remove, "name").failing(pointsToProxy).spelling("name"),
			"domain_name":         named(remove, "domain_name").failing(pointsToProxy).spelling("purchase_price"),
			"domain_id":           named(remove, "domain_id").spelling("domain_id"),
			"parts of an address": named(remove, "local_part", "target_email").failing(pointsToProxy),
			"primary_email":       named(remove, "primary_email").failing(pointsToProxy),
			"type and value":      named(remove, "type", "value").failing(pointsToProxy).spelling("type"),
			"ttl":                 named(remove, "ttl").failing(pointsToProxy),
			"times":               times(func(time.Time) any { return absent }).spelling(timeAttributes...),
		},
		"no value": {
			"missing": members(func(_ string, v any) any {
				if v == nil {
					return absent
				}
				return v
			}),
			"an empty text": members(func(name string, v any) any {
				if v == nil && name != "error_code" && name != "items" {
					return ""
				}
				return v
			}),
			"null instead of an empty list": members(func(name string, v any) any {
				if list, ok := v.([]any); ok && len(list) == 0 && name != "items" {
					return nil
				}
				return v
			}),
			"null instead of false": members(func(_ string, v any) any {
				if v == false {
					return nil
				}
				return v
			}),
		},
		"numbers and booleans": {
			"numbers as strings": members(func(_ string, v any) any {
				if n, ok := v.(json.Number); ok {
					return n.String()
				}
				return v
			}),
			"numbers with a fraction": members(func(_ string, v any) any {
				if n, ok := v.(json.Number); ok {
					return json.Number(n.String() + ".0")
				}
				return v
			}),
			"objects": members(func(_ string, v any) any {
				if n, ok := v.(json.Number); ok {
					return map[string]any{"value": n}
				}
				return v
			}).failing(pointsToProxy),
			"booleans as strings": members(func(_ string, v any) any {
				if b, ok := v.(bool); ok {
					return strconv.FormatBool(b)
				}
				return v
			}),
		},
		"ids": {
			"of records as strings": atPath("/dns-records", named(func(v any) any { return fmt.Sprint(v) }, "id")),
			"in upper case": members(func(_ string, v any) any {
				if s, ok := v.(string); ok && api.IsID(s) {
					return strings.ToUpper(s)
				}
				return v
			}),
		},
		"times": {
			"without fractions": times(func(at time.Time) any { return at.Truncate(time.Second).Format(time.RFC3339) }),
			"with an offset":    times(func(at time.Time) any { return at.In(time.FixedZone("", 7200)).Format(time.RFC3339Nano) }),
			"without a zone":    times(func(at time.Time) any { return at.Format("2006-01-02T15:04:05.000000") }),
			"in milliseconds":   times(func(at time.Time) any { return at.UnixMilli() }).spelling(timeAttributes...),
			"in words":          times(func(at time.Time) any { return at.Format(time.RFC1123) }).spelling(timeAttributes...),
			"with a space":      times(func(at time.Time) any { return at.Format("2006-01-02 15:04:05+00:00") }),
			"numbers":           times(func(at time.Time) any { return at.Unix() }),
		},
		"names and addresses": {
			"in upper case":               upper().spelling("name", "domain", "domain_name", "primary_email", "local_part", "target_email", "fqdn", "addresses"),
			"domain_name with a dot":      named(text(func(s string) any { return strings.TrimSuffix(s, ".") + "." }), "domain_name").spelling("domain_name"),
			"records with absolute names": atPath("/dns-records", named(text(func(s string) any { return s + ".example.com." }), "name")).spelling("name"),
			"domains with a dot":          atPath("/domains", named(text(func(s string) any { return s + "." }), "name")).spelling("name"),
		},
	}
}

var timeAttributes = []string{"created_at", "updated_at", "expires_at", "verification_sent_at", "verification_expires_at"}

// upper writes names of domains and addresses in upper case.
func upper() host {
	addresses := named(text(func(s string) any { return strings.ToUpper(s) }), "domain_name", "primary_email", "local_part", "target_email")
	names := named(text(func(s string) any { return strings.ToUpper(s) }), "name")
	return body(func(r *http.Request, a *answer) {
		addresses.response(r, a)
		if strings.Contains(r.URL.Path, "/domains") || strings.Contains(r.URL.Path, "/dns-records") {
			names.response(r, a)
		}
	})
}

func (h host) renaming(from, to string) host {
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				walk(member)
			}
			if member, ok := v[from]; ok {
				v[to] = member
				delete(v, from)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		}
		return v
	}
	return whole(walk)
}
