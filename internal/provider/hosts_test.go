package provider_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// pointsToProxy matches the error about a difference from the contract.
const pointsToProxy = `mailhostd proxy`

// hostsByQuestion returns hosts that answer the questions of the guide in another way.
func hostsByQuestion() map[string]map[string]host {
	all := map[string]map[string]host{}
	for _, questions := range []map[string]map[string]host{hostsOfNames(), hostsOfLists(), hostsOfStatuses(), hostsOfObjects()} {
		maps.Copy(all, questions)
	}
	return all
}

// hosts returns the hosts by question and answer, such as "states: unknown words".
func hosts() map[string]host {
	all := map[string]host{}
	for question, answers := range hostsByQuestion() {
		for answer, h := range answers {
			all[question+": "+answer] = h
		}
	}
	return all
}

// TestGuideOfOtherHosts checks that each question of the guide's table has a host.
func TestGuideOfOtherHosts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../templates/guides/other-hosts.md")
	assert.NilError(t, err)
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^*|-][^|]*) \|`).FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, row[1])
	}
	slices.Sort(rows)
	want := append(slices.Sorted(maps.Keys(hostsByQuestion())), "question")
	slices.Sort(want)
	assert.DeepEqual(t, rows, want)
}

// hostLife is a sequence of walks with an object of a kind. A host's are compared with those on our server.
type hostLife struct {
	*lossy
	name             string
	kind             kind
	base, made       func() error // restore the account before and after the create
	state            core.State   // after the create
	content, changed string       // of the account after the create, and after the update
	empty, destroyed string       // before the create, and after the destroy
	created, updated map[string]string
	// conflicted is the account after a second create, and conflictError its error.
	conflicted, conflictError string
}

const hostAddress = ".x"

func (l *hostLife) config(k values) *core.Configuration {
	return &core.Configuration{Blocks: []*core.Block{{Addr: l.name + hostAddress, Arguments: k}}}
}

var varyingValue = regexp.MustCompile(`(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ][0-9:.]+(Z|[+-]\d\d:\d\d)?|\b\d{10}\b|mhsa_\w+`)

func (l *hostLife) shown(s core.State) map[string]string {
	all := map[string]string{}
	if o := s[l.name+hostAddress].Current; o != nil {
		for name, v := range core.Attributes(o.State) {
			all[name] = varyingValue.ReplaceAllString(core.Shown(v), "…")
		}
		for _, random := range []string{"generated_secret", "token_last4", "token_public_id"} {
			delete(all, random)
		}
		if l.name == "mailhost_dns_record" {
			delete(all, "id")
		}
		delete(all, "record_ids")
	}
	return all
}

// TestOtherHosts creates, reads, updates, imports and destroys an object of each kind on hosts that differ from the
// contract. The provider works and the next plan is empty, or it fails with an error that names the difference. It
// never pays twice, deletes what nobody asked for, forgets an object that exists, or stores a wrong value.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	for _, publishedOnly := range []bool{false, true} {
		o := acctest.Options{PublishedOnly: publishedOnly}
		for k, name := range slices.Sorted(maps.Keys(withSet(t, acctest.NewServer(t, o)))) {
			t.Run(fmt.Sprintf("%s, published only %t", name, publishedOnly), func(t *testing.T) {
				t.Parallel()
				l := newHostLife(t, o, name)
				all := hosts()
				for i, of := range slices.Sorted(maps.Keys(all)) {
					// Each host is tried with the kinds that cost money, and with some of the others.
					few := map[bool]int{false: 3, true: 8}[testing.Short()]
					if i%few != k%few && (!l.costsMoney() || testing.Short()) || publishedOnly && !concernsLists.MatchString(of) {
						continue
					}
					t.Run(of, func(t *testing.T) {
						l.t, l.host = t, all[of]
						l.try()
					})
				}
			})
		}
	}
}

// TestMixedHosts is TestOtherHosts on hosts with several differences, which a seed chooses.
func TestMixedHosts(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for _, name := range slices.Sorted(maps.Keys(withSet(t, s))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newHostLife(t, acctest.Options{}, name)
			for seed := range map[bool]uint64{false: 12, true: 1}[testing.Short()] {
				all := hosts() // their counters begin anew
				random := rand.New(rand.NewPCG(seed, uint64(len(name))))
				names := slices.Sorted(maps.Keys(all))
				random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
				names = names[:2+random.IntN(3)]
				var mixed []host
				for _, of := range names {
					mixed = append(mixed, all[of])
				}
				t.Run(fmt.Sprintf("%d, %s", seed, strings.Join(names, ", ")), func(t *testing.T) {
					l.t, l.host = t, compose(mixed...)
					l.try()
				})
			}
		})
	}
}

// newHostLife returns the life of a kind's object in an account of its own.
func newHostLife(t *testing.T, o acctest.Options, name string) *hostLife {
	t.Helper()
	s := acctest.NewServer(t, o)
	l := &hostLife{lossy: &lossy{Server: s, t: t}, name: name, kind: withSet(t, s)[name]}
	if name == "mailhost_mailbox_set" {
		l.kind.config = merged(l.kind.config, values{"max_deletions": 9})
	}
	l.plain()
	return l
}

// concernsLists matches the hosts to try where the provider reads objects from lists.
var concernsLists = regexp.MustCompile("^(object around|parameters|largest|`total`|filters|time until|ids|names and|no value: null|success: (without|2.. with|204)|media type: a page|no such|invalid|conflict)")

func (l *hostLife) snapshot() func() error {
	restore, err := l.Service.Snapshot(l.t.Context())
	assert.NilError(l.t, err)
	return func() error {
		defer l.Journal.Clear()
		if err := restore(l.t.Context()); err != nil {
			return err
		}
		return l.Clock.Set(time.Now())
	}
}

func (l *hostLife) costsMoney() bool {
	return l.name == "mailhost_domain" || l.name == "mailhost_dedicated_ip"
}

// run plans and applies, and returns the state, which is the prior state after a failed plan.
func (l *hostLife) run(config *core.Configuration, prior core.State) (core.State, error) {
	plan, err := l.plan(config, prior)
	if err != nil {
		return prior, err
	}
	return l.apply(plan, 0, loss{})
}

func (l *hostLife) plan(config *core.Configuration, prior core.State) (*core.Plan, error) {
	if l.host.settle != nil && !l.costsMoney() {
		l.host.settle()
	}
	return l.lossy.plan(config, prior)
}

// account returns the content of the account, and the operations that changed it.
func (l *hostLife) account() string {
	l.t.Helper()
	var all []string
	for _, e := range l.Owner(l.t).Changes() {
		all = append(all, e.Operation)
	}
	slices.Sort(all)
	return l.lossy.content() + "\n" + strings.Join(all, "\n")
}

// plain runs the walks on our server.
func (l *hostLife) plain() {
	var err error
	l.base = l.snapshot()
	l.empty = l.account()
	l.Journal.Clear()
	l.state, err = l.run(l.config(l.kind.config), core.State{})
	assert.NilError(l.t, err)
	l.content, l.created = l.account(), l.shown(l.state)
	l.made = l.snapshot()
	if l.kind.change != nil {
		l.Journal.Clear()
		after, err := l.run(l.config(merged(l.kind.config, l.kind.change)), l.state)
		if l.changed, l.updated = l.account(), l.shown(after); err != nil {
			l.kind.change = nil // the published operations can't
		}
	}
	assert.NilError(l.t, l.made())
	_, err = l.run(&core.Configuration{}, l.state)
	assert.NilError(l.t, err)
	l.destroyed = l.account()
	assert.NilError(l.t, l.made())
	if _, err = l.run(l.config(l.kind.config), core.State{}); err != nil {
		l.conflictError = err.Error()
	}
	l.conflicted = l.account()
}

// try runs the walks on a host.
func (l *hostLife) try() {
	l.create()
	l.refresh()
	if l.kind.change != nil {
		l.update()
	}
	l.conflict()
	l.importObject()
	l.destroy()
}

// conflict applies the configuration again with an empty state. The result is the same as on our server: an error or
// another object, and never a change of the existing one.
func (l *hostLife) conflict() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	state, err := l.run(l.config(l.kind.config), core.State{})
	if isSecond := l.conflicted != l.content; err == nil && !isSecond && l.conflictError != "" {
		l.t.Errorf("conflict: no error, and the state is %v; on our server: %s", l.shown(state), l.conflictError)
	}
	if got := l.account(); got != l.content && got != l.conflicted {
		l.t.Errorf("conflict: %v\nthe account is not as on our server:\n%s", err, changedLines(l.conflicted, got))
	}
}

// check checks an error of a step.
func (l *hostLife) check(step string, err error) bool {
	l.t.Helper()
	if err == nil {
		return true
	}
	text := err.Error()
	assert.Check(l.t, !strings.Contains(text, l.Token) && !strings.Contains(text, "Bearer "), "%s: the error contains a secret: %s", step, text)
	isAgain := strings.HasSuffix(step, " again") && regexp.MustCompile(`exists|already|import|adopt`).MatchString(text)
	if fails := l.host.fails; !isAgain && (fails == "" || !regexp.MustCompile(l.host.failsFor).MatchString(l.name) || !regexp.MustCompile(fails).MatchString(text)) {
		l.t.Errorf("%s: %s", step, text)
	}
	return false
}

// expect compares the account and the state after a step with those on our server.
func (l *hostLife) expect(step string, state core.State, config values, content string, want map[string]string) {
	l.t.Helper()
	if got := l.account(); got != content {
		l.t.Errorf("%s: the account is not as on our server:\n%s", step, changedLines(content, got))
	}
	got := l.shown(state)
	for _, attribute := range l.host.spells {
		got[attribute] = want[attribute]
	}
	for _, attribute := range slices.Sorted(maps.Keys(want)) {
		if got[attribute] != want[attribute] {
			l.t.Errorf("%s: %s is %s, on our server %s", step, attribute, got[attribute], want[attribute])
		}
	}
	if strings.Contains(strings.Join(l.warnings, "\n"), "can't be found yet") {
		return // the warning says not to apply a plan that creates it
	}
	plan, err := l.plan(l.config(config), state)
	if l.check(step+", the next plan", err) && len(plan.Effective()) > 0 {
		l.t.Errorf("%s: the next plan is not empty: %s", step, plan)
	}
}

func (l *hostLife) create() {
	l.t.Helper()
	assert.NilError(l.t, l.base())
	config := l.config(l.kind.config)
	state, err := l.run(config, core.State{})
	if l.check("create", err) {
		l.expect("create", state, l.kind.config, l.content, l.created)
		return
	}
	first := err.Error()
	for range 2 { // the user tries again
		if got := l.account(); got != l.empty && got != l.content && !l.isPart(got) {
			l.t.Errorf("after a failed create: %v\nthe account is neither as before nor as on our server:\n%s", first, changedLines(l.content, got))
			return
		}
		if state[l.name+hostAddress].Current == nil && l.empty != l.content && l.account() == l.content && !regexp.MustCompile(`may have been|import|secret|exists already`).MatchString(first+err.Error()) {
			l.t.Errorf("the create's object exists, but the state lacks it: %v", err)
		}
		if text := err.Error(); isTainted.MatchString(text) || mayExist.MatchString(text) && !hasKey(l.name) && (l.name != "mailhost_dedicated_ip" || strings.Contains(text, "does not show it yet")) {
			return // the next apply replaces it, or the user looks for it first
		}
		if state, err = l.run(config, state); err == nil {
			return
		}
		l.check("create again", err)
	}
}

// isPart reports whether a failed create may have left this: a create of several objects, or one before its settings.
func (l *hostLife) isPart(string) bool {
	return l.name == "mailhost_dns_zone" || l.name == "mailhost_mailbox_set"
}

func (l *hostLife) refresh() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	plan, err := l.plan(l.config(l.kind.config), l.state)
	if l.check("refresh", err) && len(plan.Effective()) > 0 {
		l.t.Errorf("refresh: the plan is not empty: %s", plan)
	}
	assert.Check(l.t, len(l.Sent()) == 0, "the refresh sent %v", l.Sent())
}

func (l *hostLife) update() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	config := merged(l.kind.config, l.kind.change)
	state, err := l.run(l.config(config), l.state)
	if l.check("update", err) {
		l.expect("update", state, config, l.changed, l.updated)
		return
	}
	if got := l.account(); got != l.content && got != l.changed {
		l.t.Errorf("after a failed update: %v\n%s", err, changedLines(l.content, got))
	}
	assert.Check(l.t, state[l.name+hostAddress].Current != nil, "the update dropped the object from the state: %v", err)
}

func (l *hostLife) importObject() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	config := l.config(l.kind.config)
	id := l.state[l.name+hostAddress].Current.ID()
	if l.name == "mailhost_mailbox_set" || l.name == "mailhost_dns_zone" {
		id = "example.com"
	}
	config.Imports = []core.ImportBlock{{To: l.name + hostAddress, ID: id}}
	ours := l.host
	l.host = host{}
	want, err := l.plan(config, core.State{})
	if l.host = ours; err != nil {
		return // the published operations can't
	}
	plan, err := l.plan(config, core.State{})
	if l.check("import", err) && actionsOf(plan) != actionsOf(want) {
		l.t.Errorf("import: the plan is %s, on our server %s", plan, want)
	}
}

func actionsOf(p *core.Plan) string {
	var all []string
	for _, c := range p.Effective() {
		all = append(all, string(c.Action))
	}
	return strings.Join(all, ", ")
}

func (l *hostLife) destroy() {
	l.t.Helper()
	assert.NilError(l.t, l.made())
	state, err := l.run(&core.Configuration{}, l.state)
	content := l.account()
	if l.check("destroy", err) {
		assert.Check(l.t, content == l.destroyed, "destroy: the account is not as on our server:\n%s", changedLines(l.destroyed, content))
		return
	}
	if isThere := content == l.content; isThere {
		assert.Check(l.t, state[l.name+hostAddress].Current != nil, "the destroy dropped the object from the state: %v", err)
	}
}

func changedLines(before, after string) string {
	var lines []string
	had, have := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range had {
		if !slices.Contains(have, line) {
			lines = append(lines, "-"+line)
		}
	}
	for _, line := range have {
		if !slices.Contains(had, line) {
			lines = append(lines, "+"+line)
		}
	}
	return strings.Join(lines, "\n")
}
