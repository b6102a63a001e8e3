package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// event runs a random event between two runs.
func (h *history) event(r *rand.Rand, s *stack) {
	switch n := r.IntN(100); {
	case n < 55:
		h.report.logf("edit: %s", h.generator(r, s.account).edit(s.config))
	case n < 70:
		h.externalChange(r, s)
	case n < 76:
		d := pick(r, []time.Duration{time.Minute, time.Hour, 73 * time.Hour, 8 * 24 * time.Hour})
		h.report.logf("%s pass", d)
		h.advance(d)
	case n < 80:
		h.report.logf("the service restarts")
		h.restart(!h.NoFaults && chance(r, 50))
	case n < 85 && len(s.state) > 0:
		addr := pick(r, s.state.Addresses())
		if o := s.state[addr].Current; o != nil {
			h.report.logf("taint %s", addr)
			tainted := *o
			tainted.Tainted = true
			s.state = s.state.Clone()
			s.state.Set(addr, "", &tainted)
		}
	case n < 89 && len(s.state) > 0:
		addr := pick(r, s.state.Addresses())
		h.report.logf("state rm %s", addr)
		s.state = s.state.Clone()
		delete(s.state, addr)
		s.incomplete = true
	case n < 91:
		h.report.logf("the state is lost")
		s.state, s.incomplete = core.State{}, true
	case n < 93 && len(s.backups) > 1:
		s.state, s.incomplete = pick(r, s.backups), true
		h.report.logf("an older state is restored: %v", s.state.Addresses())
	case n < 95:
		h.importEvent(r, s)
	case n < 98:
		h.wrongClock(r)
	}
}

// wrongClock makes the clock of a replica wrong, or right again. A replica that is a year ahead takes idempotency
// records for expired, so that no response may be lost then, and any that is ahead takes purchases for unpaid.
func (h *history) wrongClock(r *rand.Rand) {
	i := r.IntN(len(h.replicas))
	skews := []time.Duration{0, time.Minute, -time.Minute, time.Hour, -time.Hour}
	if h.NoFaults && !h.Postgres && !h.registrar.PaymentNeeded {
		skews = append(skews, 365*24*time.Hour, -365*24*time.Hour)
	}
	h.replicas[i].skew = pick(r, skews)
	h.report.logf("the clock of replica %d is off by %s", i, h.replicas[i].skew)
}

// importEvent adds an import block for any object of the service, which may be unmanaged
// or in the state at another address.
func (h *history) importEvent(r *rand.Rand, s *stack) {
	if len(s.config.Blocks) == 0 {
		return
	}
	b := pick(r, s.config.Blocks)
	candidates := h.objects(s.account, core.TypeOf(b.Addr))
	if len(candidates) == 0 || s.state[b.Addr].Current != nil {
		return
	}
	o := pick(r, candidates)
	i := core.ImportBlock{To: b.Addr}
	switch r.IntN(3) {
	case 0:
		i.Identity = o.id
	case 1:
		i.ID = o.id
	default:
		i.ID = o.key
		if i.ID == "" {
			i.ID = o.id
		}
	}
	s.config.Imports = append(s.config.Imports, i)
	h.report.logf("import %+v", i)
}

// externalChange changes or deletes an object outside Terraform.
func (h *history) externalChange(r *rand.Rand, s *stack) {
	if h.publishedOnly {
		return
	}
	if domains := h.objects(s.account, "mailhost_domain"); len(domains) > 0 && chance(r, 35) {
		h.foreign = true
		domain := pick(r, domains).id
		if chance(r, 50) {
			h.externalMailbox(r, h.accounts[s.account], domain)
		} else {
			h.externalRecord(r, h.accounts[s.account], domain)
		}
		return
	}
	typeName := pick(r, externalTypes())
	a, candidates := h.accounts[s.account], h.objects(s.account, typeName)
	if len(candidates) == 0 {
		return
	}
	o := pick(r, candidates)
	remove := chance(r, 40)
	kind := sample.Resource(typeName)
	switch {
	case !remove && typeName == "mailhost_dedicated_ip":
		h.externalRequest(a, "POST", "/dedicated-ips/claim", fmt.Sprintf(`{"option_id":%q}`, o.option))
	case remove || kind.Outside == nil:
		h.externalRequest(a, "DELETE", kind.Collection()+"/"+o.id, "")
	default:
		change := pick(r, kind.Outside)
		body, err := json.Marshal(change.Body)
		must(err)
		for _, op := range kind.Updates() {
			if op.ID == change.Operation {
				h.externalRequest(a, op.Method, strings.Replace(strings.TrimPrefix(op.Path, api.Prefix), "{"+kind.Parameter+"}", o.id, 1), string(body))
			}
		}
	}
}

// externalTypes returns the types of the resources whose objects others change or delete, in order.
func externalTypes() (types []string) {
	for _, k := range sample.Kinds() {
		if k.Resource != "" {
			types = append(types, k.Resource)
		}
	}
	slices.Sort(types)
	return types
}

// remoteObject is an object of the service.
type remoteObject struct {
	id string
	// key is the natural key, or empty.
	key    string
	option string
}

// objects returns an account's objects of a type.
func (h *history) objects(n int, typeName string) (items []remoteObject) {
	id, all := h.accounts[n].id, store.Slice{Limit: 1000}
	must(h.db.View(h.context(), func(r store.Reader) error {
		switch typeName {
		case "mailhost_domain", setType, zoneType:
			return each(&items, func(o store.Domain) remoteObject { return remoteObject{id: o.ID, key: o.Name} })(r.Domains(id, store.DomainFilter{}, all))
		case "mailhost_mailbox":
			return each(&items, func(o store.Mailbox) remoteObject { return remoteObject{id: o.ID, key: o.Address()} })(r.Mailboxes(id, store.MailboxFilter{}, all))
		case "mailhost_dns_record":
			return each(&items, func(o store.DNSRecord) (out remoteObject) {
				if !o.SystemManaged {
					out.id = strconv.FormatInt(o.ID, 10)
				}
				return out
			})(r.DNSRecords(id, store.DNSRecordFilter{}, all))
		case "mailhost_forwarding":
			return each(&items, func(o store.Forwarding) remoteObject { return remoteObject{id: o.ID} })(r.ForwardingRules(id, store.ForwardingFilter{}, all))
		case "mailhost_master_password":
			return each(&items, func(o store.MasterPassword) remoteObject { return remoteObject{id: o.ID} })(r.MasterPasswords(id, store.ScopedFilter{}, all))
		case "mailhost_service_account":
			return each(&items, func(o store.ServiceAccount) (out remoteObject) {
				if o.Name != providerSubject && o.Name != externalSubject && o.RevokedAt.IsZero() {
					out.id = o.ID
				}
				return out
			})(r.ServiceAccounts(id, all))
		case "mailhost_dedicated_ip":
			return each(&items, func(o store.DedicatedIP) remoteObject { return remoteObject{id: o.ID, option: o.OptionID} })(r.DedicatedIPs(id, store.DedicatedIPFilter{}, all))
		}
		panic("add " + typeName + " to objects")
	}))
	return items
}

// each adds the objects of a list, except objects without an id.
func each[T any](items *[]remoteObject, convert func(T) remoteObject) func([]T, int, error) error {
	return func(found []T, _ int, err error) error {
		for _, o := range found {
			if remote := convert(o); remote.id != "" {
				*items = append(*items, remote)
			}
		}
		return err
	}
}

// exchange is a request on its way to the service, and its response.
type exchange struct {
	*httptest.ResponseRecorder // what the client gets

	r      *http.Request
	body   []byte
	random *rand.Rand
	keys   bool // the service honours Idempotency-Keys
	// serve passes the request on to the service. With lost, the service's client
	// disconnects before the response, and serve returns nil.
	serve func(lost bool) *httptest.ResponseRecorder
	// late, if it is set, lets the request arrive at the service after some others.
	late func()
}

// process passes the request on to the service.
func (x *exchange) process() *httptest.ResponseRecorder { return x.serve(false) }

// errConnection is the error of a connection that breaks off.
var errConnection = errors.New("connection reset by peer")

// reset closes the connection.
func (x *exchange) reset() { panic(http.ErrAbortHandler) }

// respond calls fn and returns the response that fn sent to the client.
func (x *exchange) respond(fn func()) (resp *http.Response, err error) {
	x.ResponseRecorder = httptest.NewRecorder()
	defer func() {
		cause := recover()
		if cause != nil && cause != http.ErrAbortHandler {
			panic(cause)
		}
		if cause != nil && x.Body.Len() == 0 {
			err = errConnection
			return
		}
		resp = x.Result()
		resp.Request = x.r
		if cause != nil { // only the beginning of the body arrived
			resp.Body = io.NopCloser(io.MultiReader(resp.Body, brokenOff{}))
		}
	}()
	fn()
	return nil, nil
}

// brokenOff ends an incomplete body.
type brokenOff struct{}

// Read implements io.Reader.
func (brokenOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// page sends a response from another program than the API.
func (x *exchange) page(status int, contentType, text string) {
	x.Header().Set("Content-Type", contentType)
	x.WriteHeader(status)
	_, _ = x.WriteString(text)
}

// serve passes a request on to a service. With lost, the client disconnects before the
// response is written, and there is no response.
func serve(service http.Handler, r *http.Request, body []byte, lost bool) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if lost {
		service.ServeHTTP(&disconnected{header: http.Header{}, cancel: cancel}, r)
		return nil
	}
	w := httptest.NewRecorder()
	service.ServeHTTP(w, r)
	return w
}

// disconnected is the http.ResponseWriter of a disconnected client.
type disconnected struct {
	header http.Header
	cancel context.CancelFunc
}

// Header implements http.ResponseWriter.
func (d *disconnected) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *disconnected) WriteHeader(int) { d.cancel() }

// Write implements http.ResponseWriter.
func (d *disconnected) Write([]byte) (int, error) {
	d.cancel()
	return 0, errConnection
}
