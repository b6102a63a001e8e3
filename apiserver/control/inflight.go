package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// pauseTimeout limits how long a reset waits for the requests in flight.
const pauseTimeout = 10 * time.Second

// allRequests exceeds the number of requests in flight.
const allRequests = math.MaxInt64

// inFlight tracks the requests in flight, and can pause new ones.
type inFlight struct {
	// running counts 1 for each request and allRequests for a pause. It serves waiters in order.
	running  *semaphore.Weighted
	requests sync.Map // keys are *apiserver.Request
}

func (f *inFlight) middleware(next http.Handler) http.Handler {
	f.running = semaphore.NewWeighted(allRequests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request := apiserver.RequestOf(r.Context())
		if request.Name() == "health" { // a health check reads and changes nothing
			next.ServeHTTP(w, r)
			return
		}
		if f.running.Acquire(r.Context(), 1) != nil {
			panic(http.ErrAbortHandler) // the client has disconnected
		}
		defer f.running.Release(1)
		f.requests.Store(&request, nil)
		defer f.requests.Delete(&request)
		next.ServeHTTP(w, r)
	})
}

// pause calls release to end held requests, makes new requests wait, and waits until none is in
// flight. Otherwise the error lists the requests in flight. Call resume after a success.
func (f *inFlight) pause(ctx context.Context, release func()) (resume func(), err error) {
	if f.running == nil {
		return nil, errors.New("the service was created without the plane's Middleware; set it in apiserver.Options")
	}
	ctx, cancel := context.WithTimeout(ctx, pauseTimeout)
	defer cancel()
	release()
	if f.running.Acquire(ctx, allRequests) == nil {
		return func() { f.running.Release(allRequests) }, nil
	}
	var names []string
	for r := range f.requests.Range {
		names = append(names, r.(*apiserver.Request).Name()+" ("+r.(*apiserver.Request).ID+")")
	}
	slices.Sort(names)
	return nil, &httpError{http.StatusConflict, fmt.Errorf("nothing is restored, because requests are still in flight that no fault holds any more; check that their clients end them: %s", strings.Join(names, ", "))}
}
