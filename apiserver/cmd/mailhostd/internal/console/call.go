package console

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// clientFor returns a client of the API in process, for one request of a browser and with the token of its session.
func (c *Console) clientFor(r *http.Request, s identity.Session) *apiclient.Client {
	return &apiclient.Client{
		AccountID: s.AccountID, Token: s.Token, URL: "http://localhost", // the host is ignored
		HTTP: &http.Client{Transport: onBehalf{c.service.Client().Transport, r}},
	}
}

// onBehalf sends requests with the address and the id of the browser's request, for the audit log.
type onBehalf struct {
	http.RoundTripper
	of *http.Request
}

func (t onBehalf) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RemoteAddr = t.of.RemoteAddr
	r.Header.Set("X-Request-Id", requestID(t.of))
	return t.RoundTripper.RoundTrip(r)
}

func call[Req, Resp any](v *visit, op api.Operation[Req, Resp], in *Req) (*Resp, error) {
	return apiclient.Call(v.Context(), v.api, op, in)
}

// failure explains to the visitor why something can't be shown or done.
type failure struct {
	Status int
	// Type is the type of the API's error.
	Type           string
	Title, Message string
}

func (f *failure) Error() string { return f.Message }

func notFound(message string) *failure {
	return &failure{Status: http.StatusNotFound, Title: "Not found", Message: message}
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	status, message, typ := http.StatusInternalServerError, "Please try again in a moment.", ""
	if e, ok := errors.AsType[*apiclient.Error](err); ok {
		status, message = e.Status, sentence(e.Message)
		if len(e.Problems) > 0 {
			typ = e.Problems[0].Type
		}
	} else if e, ok := errors.AsType[*api.Error](err); ok {
		status, message, typ = e.GetStatus(), sentence(e.Detail[0].Msg), e.Detail[0].Type
	}
	if apiclient.Missing(err) {
		return &failure{Status: http.StatusNotFound, Title: "Not available", Message: "This server offers the published operations only, and this needs another one."}
	}
	if right, missing := strings.CutPrefix(message, "The credential lacks the capability "); missing {
		message = "Your rights don’t include " + strings.TrimSuffix(right, ".") + ". An administrator of the account can grant it."
	}
	return &failure{Status: status, Type: typ, Title: titles[status], Message: message}
}

// titles are the headings of failures, by default "Something went wrong".
var titles = map[int]string{
	http.StatusForbidden: "Not permitted", http.StatusNotFound: "Not found", http.StatusConflict: "Not possible",
	http.StatusUnprocessableEntity: "Invalid input", http.StatusTooManyRequests: "Too many requests", http.StatusServiceUnavailable: "Not available at the moment",
}

// part is a part of a page that the visitor may not be able to see.
type part[T any] struct {
	Content T
	Failure *failure
}

func partOf[T any](content T, err error) part[T] { return part[T]{content, failureOf(err)} }

func totalOf[T any](p *api.Page[T], err error) part[int] {
	if err != nil {
		return partOf(0, err)
	}
	return partOf(p.Total, nil)
}

// query returns a parameter of the page's URL. Request.FormValue would also read the body of a GET
// request, and write the files of a multipart body to disk.
func (v *visit) query(name string) string { return v.URL.Query().Get(name) }

// page returns the requested page of a list.
func (v *visit) page(size int) api.Paged {
	n, err := strconv.Atoi(v.query("page"))
	if err != nil || n < 1 {
		n = 1
	}
	return api.Paged{Page: min(n, 1_000_000), PageSize: size} // the maximum is beyond any list, and keeps positions from overflowing
}
