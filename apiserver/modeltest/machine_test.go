package modeltest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

const (
	accountID = apitest.AccountID
	// rivalID is another account, which owns rivalDomain and one mailbox in it.
	rivalID     = "66666666-7777-4888-8999-000000000000"
	rivalDomain = "rival.com"
)

// start is when every sequence starts: shortly before the end of a month and of a
// billing period.
var start = time.Date(2026, 3, 30, 22, 9, 26, 535897000, time.UTC)

// machine sends requests to a service and applies them to the model.
type machine struct {
	model
	t *rapid.T
	// servers share a database. last is the server that handled the newest request. ids contains the ids
	// of all objects that ever existed.
	servers []*apitest.Server
	last    int
	clock   atomic.Pointer[time.Time] // a request's log line reads it after the response
	config  config
	// ids are the ids of all objects that have existed.
	ids map[string]bool
	// routes are the routes of the operations that were sent, in any sequence, and each with every member
	// that its bodies had, with a value or null, such as "PATCH /domains/{domain} redirect_url null".
	routes     map[string]bool
	transcript []string
}

// config is the operator's configuration.
type config struct {
	delay        time.Duration // of a bought domain
	payment      bool
	maxMailboxes int
	mayCancel    bool // the account may be cancelled in this sequence
}

// model is the expected content of the account. Every list is in the order of creation.
type model struct {
	account         account
	workspaces      []*workspace
	domains         []*domain
	mailboxes       []*mailbox
	records         []*record
	rivalIP         netip.Addr // claimed by another account
	rules           []*rule
	passwords       []*password
	serviceAccounts []*serviceAccount
	grants          []*grant
	options         []*option
	ips             []*dedicatedIP
	// kept are the idempotency records, by caller and key; sent are the requests with
	// keys.
	kept map[string]*idempotencyRecord
	sent []*keyedRequest
	keys int
	// messages contains the times of sent messages; titles counts feedbacks.
	messages []time.Time
	titles   int
	// bucketFull is when the limit of messages is full again.
	bucketFull time.Time
	// order contains the creation time of each object, which its list is sorted by.
	order map[any]time.Time
	// skew is how wrong the clock is.
	skew time.Duration
}

// TestModel is the stateful property: the service responds like the model to any sequence of requests of
// any callers.
func TestModel(t *testing.T) {
	t.Parallel()
	sent, compared := map[string]bool{}, map[string]bool{}
	var seen statements
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t, seen.of(apitest.OpenStore(t)))
		m.routes = sent
		t.Repeat(map[string]func(*rapid.T){"step": m.step})
		m.routes = compared
		m.compareAll()
	})
	if isDefaultRun {
		for _, spec := range api.Specs() {
			assert.Check(t, sent[spec.Method+" "+spec.Path], "%s is never sent; add it to the actions of the machine, with its model, or give its action more weight", spec.ID)
			if body := spec.Body(); body != nil && (spec.Method == http.MethodPatch || spec.Status == http.StatusCreated) {
				for _, f := range body.Members {
					member := spec.Method + " " + spec.Path + " " + f.Name
					if !sent[member] {
						t.Errorf("%s is never sent with %s: draw it in the action of the machine that sends that, and keep it in the model", spec.ID, f.Name)
					}
					if f.Removable && !sent[member+" null"] {
						t.Errorf("%s is never sent with null for %s, which removes it: draw null in the action of the machine", spec.ID, f.Name)
					}
				}
			}
			_, isPaged := spec.Request.FieldByName("Paged")
			readsObjects := spec.Method == http.MethodGet && (isPaged || len(spec.PathParameters()) > 1)
			assert.Check(t, !readsObjects || compared[spec.Method+" "+spec.Path], "%s is not called when a sequence ends; add it to lists or to everyObject (list_test.go)", spec.ID)
		}
		for _, c := range api.Capabilities() {
			assert.Check(t, slices.Contains(narrowable, string(c)) != slices.Contains(whole, string(c)), "add %s to narrowable or to whole (authorization_test.go)", c)
		}
		seen.checkOnSQLite(t)
	}
}

// routes maps requests to operations.
var routes = func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, spec := range api.Specs() {
		mux.Handle(spec.Method+" "+spec.Path, http.NotFoundHandler())
	}
	return mux
}()

// actions are the possible steps with their weights, up to 6. The first ones are
// preferred in addition, because an empty account has little to change.
func (m *machine) actions() []action {
	return []action{
		{4, m.purchaseDomains}, {6, m.createMailbox}, {5, m.createRule}, {6, m.createRecord},
		{5, m.wait}, {1, m.jump}, {3, m.createServiceAccount}, {3, m.restrictCaller}, {4, m.retry},
		{3, m.createMailboxes}, {4, m.updateMailbox}, {2, m.deleteMailbox}, {6, m.readMailboxes}, {3, m.exportMailboxes},
		{4, m.updateRule}, {1, m.flood}, {3, m.switchRule}, {4, m.openLink}, {2, m.deleteRule}, {3, m.readRules},
		{4, m.updateRecord}, {3, m.deleteRecord}, {3, m.readRecords},
		{4, m.updateDomain}, {1, m.pay}, {2, m.deleteDomain}, {3, m.readDomains},
		{3, m.createPassword}, {2, m.renamePassword}, {1, m.deletePassword}, {2, m.readPasswords},
		{2, m.createWorkspace}, {1, m.readWorkspaces},
		{1, m.revokeServiceAccount}, {2, m.readServiceAccounts},
		{2, m.grantAuthorization}, {2, m.revokeAuthorization}, {2, m.readAuthorizations}, {1, m.readCreations}, {1, m.readCaller}, {1, m.readAuditLog},
		{2, m.claimIP}, {1, m.claimManyIPs}, {2, m.releaseIP}, {2, m.readIPs},
		{1, m.submitFeedback}, {1, m.reuseKey},
		{3, m.changePlan}, {1, m.readAccount}, {1, m.cancelPlan},
	}
}

type action struct {
	weight int
	do     func()
}

func (m *machine) step(t *rapid.T) {
	m.t = t
	var actions []func()
	for round := range 6 {
		for _, a := range m.actions() {
			if round < a.weight {
				actions = append(actions, a.do)
			}
		}
	}
	actions[m.which("what", len(actions))]()
}

// server returns one of the servers.
func (m *machine) server() *apitest.Server {
	if len(m.servers) > 1 {
		m.last = m.which("server", len(m.servers))
	}
	return m.servers[m.last]
}

// newMachine starts a server for each store.
func newMachine(t *rapid.T, stores ...store.Store) *machine {
	m := &machine{t: t, ids: map[string]bool{}}
	m.clock.Store(new(start))
	m.kept, m.order = map[string]*idempotencyRecord{}, map[any]time.Time{}
	m.config = config{
		delay:        draw(m, "provisioning delay", 0, 90*time.Second),
		payment:      m.rarely(8, "payment"),
		maxMailboxes: draw(m, "largest number of mailboxes", 0, 0, 4),
		mayCancel:    m.rarely(4, "may cancel"),
	}
	for i, s := range stores {
		m.servers = append(m.servers, apitest.New(t, func(o *apiserver.Options) {
			o.Store, o.Clock, o.Random, o.MaxMailboxes = s, m.now, rand.NewChaCha8([32]byte{byte(i)}), m.config.maxMailboxes
			o.Registrar = apiserver.Registrar{
				Taken: []string{"taken.com"}, Premium: []string{"gold.com"}, UnsupportedTLDs: []string{"zip"},
				Prices: map[string]string{"com": "10.00", "de": "7.5"}, Currency: "EUR",
				PaymentNeeded: m.config.payment, ProvisioningDelay: apiserver.Duration(m.config.delay),
			}
		}))
	}
	m.beginRival()
	m.beginAccount()
	m.transcript = nil
	return m
}

func (m *machine) now() time.Time { return *m.clock.Load() }

// wait advances the time: by some amount, to the next deadline, or to just before it. It then reads the
// states that depend on the time.
func (m *machine) wait() {
	due, n := m.deadlines(), m.which("due", many)
	to := m.now().Add(draw(m, "wait", time.Second, time.Microsecond, 40*time.Second, time.Minute, time.Hour, 25*time.Hour, 20*24*time.Hour))
	switch draw(m, "until", "due", "just before", "some time") {
	case "due":
		if len(due) > 0 {
			to = due[n%len(due)]
		}
	case "just before":
		if len(due) > 0 {
			to = due[n%len(due)].Add(-time.Microsecond)
		}
	}
	m.become(to)
	m.quietly(m.readStates)
}

// jump makes the clock wrong, or right again, as if a server with another clock handled the next requests. Requests are
// not retried across a jump, because a clock that is ahead deletes idempotency records, and unpaid domains.
func (m *machine) jump() {
	skew := draw(m, "skew", 0, time.Minute, -time.Minute, 20*time.Second, time.Hour, -time.Hour, 365*24*time.Hour, -365*24*time.Hour)
	if m.config.payment || skew == m.skew {
		return
	}
	to := m.now().Add(skew - m.skew)
	m.skew, m.sent, m.kept = skew, nil, map[string]*idempotencyRecord{}
	m.note("the clock jumps")
	m.become(to)
	m.quietly(m.readStates)
}

// arrange adds new objects to the order of creation, and sorts the lists by it.
func (m *machine) arrange() {
	arrange(m, m.workspaces)
	arrange(m, m.domains)
	arrange(m, m.mailboxes)
	arrange(m, m.records)
	arrange(m, m.rules)
	arrange(m, m.passwords)
	arrange(m, m.serviceAccounts)
	arrange(m, m.grants)
	arrange(m, m.ips)
}

// arrange gives each new object the present time, or the one just after the newest object that is at most clocksDiffer
// later.
func arrange[T any](m *machine, all []*T) {
	for _, v := range all {
		if !m.order[v].IsZero() {
			continue
		}
		at := m.now()
		for _, other := range all {
			if t := m.order[other]; !t.Before(at) && !t.After(m.now().Add(clocksDiffer)) {
				at = t.Add(time.Microsecond)
			}
		}
		m.order[v] = at
	}
	slices.SortStableFunc(all, func(a, b *T) int { return m.order[a].Compare(m.order[b]) })
}

func (m *machine) become(t time.Time) {
	m.clock.Store(&t)
	m.expirePurchases()
	m.note(fmt.Sprintf("%3d. it becomes %s", len(m.transcript)+1, stamp(t)))
}

// readStates reads the states that depend on the time, also with filters.
func (m *machine) readStates() {
	m.do(m.theOwner(), m.getAccount())
	for _, l := range []*listing{
		m.listDomains(url.Values{"status": {"active"}}), m.listMailboxes(url.Values{"status": {"provisioning"}}),
		m.listRules(url.Values{"verification_state": {"expired"}}), m.listRules(url.Values{"verification_state": {"pending"}}),
	} {
		m.do(m.theOwner(), l.page(1, 25))
	}
	for _, a := range m.serviceAccounts {
		m.do(a.caller(), m.listWorkspaces().page(1, 25))
	}
}

// deadlines returns the future times at which a state changes.
func (m *machine) deadlines() []time.Time {
	all := []time.Time{m.account.cancelsAt, m.account.changesAt}
	for _, d := range m.domains {
		all = append(all, d.readyAt)
		if d.unpaid {
			all = append(all, d.created.Add(payableFor))
		}
	}
	for _, r := range m.rules {
		all = append(all, r.expiresAt)
	}
	for _, a := range m.serviceAccounts {
		all = append(all, a.expiresAt)
	}
	for _, r := range m.sent {
		if kept := m.kept[r.who.name+r.key]; kept != nil {
			all = append(all, kept.until)
		}
	}
	return slices.DeleteFunc(all, func(t time.Time) bool { return !t.After(m.now().Add(time.Microsecond)) })
}

// note adds a line to the transcript.
func (m *machine) note(line string) { m.transcript = append(m.transcript, line) }

// fail ends the sequence and prints the transcript.
func (m *machine) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\n\nThe sequence, with %+v:\n%s", fmt.Sprintf(format, args...), m.config, strings.Join(m.transcript, "\n"))
}

// compareAll compares the whole account, as every caller sees it.
func (m *machine) compareAll() {
	for _, who := range m.callers() {
		for _, list := range m.lists() {
			m.quietly(func() { m.readPages(who, list) })
		}
		m.quietly(func() { m.export(who, obj{}) })
	}
	for _, get := range m.everyObject() {
		m.quietly(func() { m.do(m.theOwner(), get) })
	}
}

// quietly adds an action to the transcript only if it fails.
func (m *machine) quietly(do func()) {
	before := len(m.transcript)
	do()
	m.transcript = m.transcript[:before]
}

// raceDetector reduces the number of sequences, see slow_test.go.
var raceDetector bool

// defaults make a run without flags reproducible, and as long with -short as without. A
// failure is repeated with its seed, without a file.
var defaults = map[string]string{"rapid.checks": "50", "rapid.steps": "60", "rapid.seed": "2", "rapid.nofailfile": "true"}

// isDefaultRun reports whether the number and length of sequences are the defaults.
var isDefaultRun bool

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		defaults["rapid.checks"] = "250" // rapid runs a fifth of them then
	}
	all := len(defaults)
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	isDefaultRun = len(defaults) == all && !raceDetector
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// replicas is the number of servers that share a database.
const replicas = 3

// keptStore is a store that its service does not close.
type keptStore struct{ store.Store }

func (keptStore) Close() error { return nil }

// openReplicas opens a new database as often as there are replicas, and closes it at the end of
// the test.
func openReplicas(t *testing.T, seen *statements) []store.Store {
	t.Helper()
	url := postgrestest.URL(t)
	stores := make([]store.Store, replicas)
	for i := range stores {
		s, err := postgres.Open(t.Context(), url, postgres.Options{Connections: 8})
		assert.NilError(t, err)
		t.Cleanup(func() {
			assert.Check(t, s.Close())
		})
		stores[i] = keptStore{seen.of(s)}
	}
	return stores
}

// TestModelOfReplicas is TestModel with several replicas. Any of them may handle a request, and each
// must see the changes of the others at once.
func TestModelOfReplicas(t *testing.T) {
	t.Parallel()
	var seen statements
	stores := openReplicas(t, &seen)
	checks := 0
	rapid.Check(t, func(r *rapid.T) {
		if checks++; isDefaultRun && checks > 15 {
			return // a transaction of PostgreSQL takes longer
		}
		assert.NilError(r, stores[0].Update(t.Context(), store.Tx.Clear))
		m := newMachine(r, stores...)
		r.Repeat(map[string]func(*rapid.T){"step": m.step})
		m.compareAll()
	})
	if isDefaultRun {
		seen.checkOnPostgres(t)
	}
}
