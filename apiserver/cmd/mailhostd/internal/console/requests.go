package console

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/felixge/httpsnoop"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// request is a recorded request to an operation of the API. Neither its path nor the other fields contain a secret.
type request struct {
	At                            time.Time
	ID, Operation, Method, Target string
	Subject                       store.AuditSubject
	Address                       string
	Status                        int
	Duration                      time.Duration
	accountID                     string
}

// Failed reports whether the request was refused or failed.
func (r request) Failed() bool { return r.Status >= http.StatusBadRequest || r.Status == 0 }

// requestsKept limits the requests that a process stores, of all accounts together.
const requestsKept = 2000

// requestLog stores the last requests of identified callers: other callers can't displace them. Each
// process has its own log.
type requestLog struct {
	mu  sync.Mutex
	all []request // the newest last
}

func (l *requestLog) add(r request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all[max(0, len(l.all)-requestsKept+1):], r)
}

// of returns the last matching requests of an account, the newest first, up to a limit.
func (l *requestLog) of(accountID string, failed bool, limit int) (last []request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range slices.Backward(l.all) {
		if r.accountID == accountID && (!failed || r.Failed()) && len(last) < limit {
			last = append(last, r)
		}
	}
	return last
}

// maxTarget limits the stored part of a path, in bytes.
const maxTarget = 200

// middleware records requests to operations, except the console's own reads.
func (l *requestLog) middleware(next http.Handler, clock func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := apiserver.RequestOf(r.Context())
		spec := arrived.Operation
		if spec.ID == "" || arrived.InProcess && !spec.Changes() { // only the console sends requests in process
			next.ServeHTTP(w, r)
			return
		}
		var response httpsnoop.Metrics
		begun := clock()
		defer func() { // also if the response is aborted
			known := apiserver.RequestOf(r.Context())
			if known.Subject.Type == "" {
				return
			}
			target := r.URL.EscapedPath()
			if strings.Contains(target, api.TokenPrefix+"_") { // sent there by mistake
				target = spec.Path
			}
			address, _, _ := net.SplitHostPort(r.RemoteAddr) // empty in process
			l.add(request{
				At: begun, ID: known.ID, Operation: spec.ID, Method: r.Method, Target: target[:min(len(target), maxTarget)], Subject: known.Subject,
				Address: address, Status: response.Code, Duration: clock().Sub(begun), accountID: api.CanonicalID(spec.PathValues(r.URL)["account_id"]),
			})
		}()
		response.CaptureMetrics(w, func(w http.ResponseWriter) { next.ServeHTTP(w, r) })
	})
}

// listRequests shows the last requests. It requires the right to read the audit log, which reveals as
// much about other callers.
func listRequests(v *visit) (view, error) {
	if _, err := call(v, api.ListAuditLog, &api.ListAuditLogRequest{Limit: 1, MaxChanges: 1}); err != nil {
		return view{}, err
	}
	return view{Template: "requests.html", Title: "Requests", Data: v.requests.of(v.session.AccountID, v.query("failed") != "", 200)}, nil
}
