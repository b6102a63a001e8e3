package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// advice ends the message about a request that the recording lacks.
const advice = "Send a recorded request, or record again with mailhostd proxy --record"

// notRecorded returns an error in the API's form, about a place in the request.
func notRecorded(place []string, format string, args ...any) *response {
	e := api.NewError(http.StatusNotImplemented, api.TypeNotRecorded, format, args...)
	return respondWith(http.StatusNotImplemented, e.At(place...))
}

// unrecorded returns the response to a request that the recording lacks. It names the recorded request for the same
// operation that differs in the fewest parts; of several, or without any, the one with the most similar path.
func (rec *Recording) unrecorded(r request) *response {
	parts := r.parts()
	var nearest request
	at := -1
	var different []string
	var least [3]int
	for _, x := range rec.exchanges {
		for _, other := range append(itemsOf(x.request), x.request) {
			var names []string
			distance := [3]int{1}
			if other.operation.ID == r.operation.ID {
				distance[0], names = 0, differences(parts, other.parts())
			}
			distance[1] = len(names)
			if at >= 0 && slices.Compare(distance[:2], least[:2]) > 0 {
				continue
			}
			distance[2] = levenshtein.Distance(fmt.Sprintf("%.200s", other.target()), fmt.Sprintf("%.200s", r.target()), nil)
			if at < 0 || slices.Compare(distance[:], least[:]) < 0 {
				nearest, at, different, least = other, x.at, names, distance
			}
		}
	}
	place := []string{"path"}
	if i := slices.IndexFunc(different, func(name string) bool { return parts[name] != "" || !strings.HasPrefix(name, "query.") }); i >= 0 {
		place = strings.Split(different[i], ".")
	}
	return notRecorded(place, "the recording contains no %s %s%s. The nearest is %s %s%s (id %d in the recording). %s",
		r.operation.Method, r.target(), describe(parts, different), nearest.operation.Method, nearest.target(), describe(nearest.parts(), different), at, advice)
}

// target returns the path and query of a request.
func (r request) target() string {
	target := strings.TrimPrefix(r.url.Path, strings.Replace(api.Prefix, "{account_id}", r.operation.PathValues(r.url)["account_id"], 1))
	if query := r.query.Encode(); query != "" {
		target += "?" + query
	}
	return cmp.Or(target, "/")
}

// parts returns the values in a request that may differ from another one, by their place.
func (r request) parts() map[string]string {
	parts := map[string]string{}
	if name := nameParameter(r.operation); name != "" {
		parts["path."+name] = r.operation.PathValues(r.url)[name]
	}
	for name := range r.query {
		parts["query."+name] = r.query.Get(name)
	}
	var add func(place string, v any)
	add = func(place string, v any) {
		switch v := v.(type) {
		case object:
			for name, member := range v {
				add(place+"."+name, member)
			}
		case []any:
			for i, element := range v {
				add(place+"."+strconv.Itoa(i), element)
			}
		case string:
			if runes := []rune(v); len(runes) > 60 {
				v = string(runes[:60]) + "…"
			}
			parts[place] = strconv.Quote(v)
		default:
			text, _ := json.Marshal(v) // decoded JSON, so there is no error
			parts[place] = string(text)
		}
	}
	add("body", r.body)
	return parts
}

// differences returns the places at which two requests differ, in their order.
func differences(a, b map[string]string) (places []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, place := range slices.Sorted(maps.Keys(all)) {
		if a[place] != b[place] {
			places = append(places, place)
		}
	}
	return places
}

// describe returns the values in the body at different places, the first few of many. Path and query are in the target.
func describe(parts map[string]string, places []string) string {
	var values []string
	for i, place := range places {
		name, inBody := strings.CutPrefix(place, "body.")
		switch value, exists := parts[place]; {
		case !inBody:
		case len(values) == 4:
			return " with " + strings.Join(values, ", ") + fmt.Sprintf(" and %d more", len(places)-i)
		case exists:
			values = append(values, name+" "+value)
		default:
			values = append(values, "no "+name)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return " with " + strings.Join(values, ", ")
}
