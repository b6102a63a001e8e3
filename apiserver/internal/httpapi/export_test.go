package httpapi

import (
	"context"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Bind returns a handler that decodes and validates the requests of one operation and calls fn with
// each valid request, without authentication or a store.
func Bind[Req, Resp any](op api.Operation[Req, Resp], fn func(*Req)) http.Handler {
	h := &Handler{bodies: newBodyMemory(defaultBodyMemory), Options: Options{Rules: account.New(account.Dependencies{Store: nothing{}})}}
	o := &operation{h, account.Operation{Spec: op.Spec}}
	mux := http.NewServeMux()
	mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		var request any
		p := &progress{}
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, p))
		body, err := h.receive(w, r)
		h.release(r)
		if err == nil {
			request, err = o.read(r, body)
		}
		if err != nil {
			err.(*api.Error).Write(w)
			return
		}
		fn(request.(*Req))
		w.WriteHeader(op.Status)
	})
	return mux
}

// nothing is a store without working reads.
type nothing struct{ store.Store }

func (nothing) View(context.Context, func(store.Reader) error) error { return api.Cancelled() }
