package transport

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// quota is what a response says of the API's rate limit.
type quota struct {
	limit     int // 0: not known
	remaining int
	reset     time.Duration // until all of the limit is available again
}

// quotaOf reads the RateLimit headers of a response, or their X- form, and otherwise the
// single header of the later drafts of draft-ietf-httpapi-ratelimit-headers.
func quotaOf(h http.Header, now time.Time) (q quota, ok bool) {
	for _, prefix := range []string{"RateLimit-", "X-RateLimit-"} {
		remaining, ok := leadingInt(h.Get(prefix + "Remaining"))
		reset, hasReset := leadingInt(h.Get(prefix + "Reset"))
		if !ok || !hasReset {
			continue
		}
		limit, _ := leadingInt(h.Get(prefix + "Limit"))
		return quota{limit, remaining, untilReset(reset, h, now)}, true
	}
	policies := limitItems(h.Values("RateLimit-Policy"))
	for name, item := range limitItems(h.Values("RateLimit")) {
		remaining, hasRemaining := item["r"]
		reset, hasReset := item["t"]
		if !hasReset {
			reset, hasReset = policies[name]["w"]
		}
		if !hasRemaining || !hasReset || ok && remaining >= q.remaining {
			continue // the policy with the least left decides
		}
		limit, hasLimit := item["q"]
		if !hasLimit {
			limit = policies[name]["q"]
		}
		q, ok = quota{limit, remaining, untilReset(reset, h, now)}, true
	}
	return q, ok
}

// untilReset returns the time of a reset value, which is in seconds. Some APIs send the
// Unix time instead.
func untilReset(value int, h http.Header, now time.Time) time.Duration {
	const firstUnixTime = 500_000_000
	if value >= firstUnixTime {
		if date, err := http.ParseTime(h.Get("Date")); err == nil {
			now = date
		}
		value -= int(now.Unix())
	}
	return time.Duration(min(max(value, 0), int(maxRetryAfter/time.Second))) * time.Second
}

// leadingInt reads "100", and "100, 100;w=60", in which older drafts add the policy.
func leadingInt(s string) (int, bool) {
	s, _, _ = strings.Cut(s, ",")
	s, _, _ = strings.Cut(s, ";")
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil && n >= 0
}

// limitItems reads the integer parameters of a list such as "minute";r=5;t=30, by the
// items' names. The form of older drafts, limit=10, remaining=5, reset=30, is one item.
func limitItems(values []string) map[string]map[string]int {
	items := map[string]map[string]int{}
	older := map[string]string{"limit": "q", "remaining": "r", "reset": "t"}
	for each := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(strings.TrimSpace(each), ";")
		if key, _, _ := strings.Cut(name, "="); older[key] != "" {
			name, parameters = "", strings.Replace(name, key, older[key], 1)
		}
		if items[name] == nil {
			items[name] = map[string]int{}
		}
		for parameter := range strings.SplitSeq(parameters, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if n, ok := leadingInt(value); ok {
				items[name][key] = n
			}
		}
	}
	return items
}
