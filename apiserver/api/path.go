package api

import (
	"net/url"
	"strings"
)

// PathParameters returns the names of the parameters in the operation's path, in
// order.
func (s Spec) PathParameters() (names []string) {
	for segment := range strings.SplitSeq(s.Path, "/") {
		if name, ok := parameterOf(segment); ok {
			names = append(names, name)
		}
	}
	return names
}

// PathValues returns the path parameters of a URL that leads to the operation.
func (s Spec) PathValues(u *url.URL) map[string]string {
	values := map[string]string{}
	segments := strings.Split(u.EscapedPath(), "/") // an escaped slash does not end a segment
	for i, segment := range strings.Split(s.Path, "/") {
		name, ok := parameterOf(segment)
		if !ok || i >= len(segments) {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil {
			value = segments[i]
		}
		values[name] = value
	}
	return values
}

// parameterOf returns the name of the parameter that a segment of an operation's
// path stands for.
func parameterOf(segment string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(segment, "{"); !ok {
		return "", false
	}
	return strings.CutSuffix(name, "}")
}
