package fault

import "context"

type trackKey struct{}

// Track returns a context for a request, and a function that tells the id of the
// rule that has acted on it, or nothing. It is for what records requests around
// an Injector's Middleware; the function is for after that.
func Track(ctx context.Context) (context.Context, func() string) {
	acted := new(string)
	return context.WithValue(ctx, trackKey{}, acted), func() string { return *acted }
}

// note tells who tracks the request which rule acts on it.
func note(ctx context.Context, id string) {
	if acted, ok := ctx.Value(trackKey{}).(*string); ok {
		*acted = id
	}
}
