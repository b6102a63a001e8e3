package session

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Run is what one process of the provider does in a walk, so that a later run can continue
// after this one was killed. Creates carry the origin of the configuration. The API keeps
// their objects as unconfirmed:
//
//	a walk that     at its end                                  its creates
//	plans creates   reports what the state has; if it has seen
//	                all of it, the rest counts as lost
//	only reads      reports what the state has
//	applies         reports that all of its objects went into   carry the origin; one like a
//	                the state, unless something failed          lost one returns that
//
// A walk that only reads has nothing to report if a response has said that nothing is
// unconfirmed. A set of mailboxes is left to the next plan, because it needs few requests.
//
// In doubt nothing is lost: if a plan has targets, or it or its report fails.
// An object counts as lost only after a whole plan has not seen it, so that no second
// resource gets one that another resource of the state has.
type Run struct {
	// IsPartial reports whether the command leaves out a part of the state, by -target for
	// instance, or may do so.
	IsPartial func() bool
	// MayExist reports whether there can be an account. Otherwise the end of a walk opens none.
	MayExist func() bool

	mu      sync.Mutex
	ids     map[string][]string // what the state has, by type
	raw     []json.RawMessage   // ids of sets, as they are in the state
	plans   int                 // calls for one object
	creates int                 // plans of them
	applies int
	failed  bool
}

// objectTypes are the types of objects by the types of resources.
var objectTypes = map[string]string{
	"mailhost_dedicated_ip": api.ObjectDedicatedIP, "mailhost_dns_record": api.ObjectDNSRecord, "mailhost_domain": api.ObjectDomain,
	"mailhost_forwarding": api.ObjectForwarding, "mailhost_mailbox": api.ObjectMailbox, "mailhost_mailbox_set": api.ObjectMailbox,
	"mailhost_master_password": api.ObjectMasterPassword, "mailhost_service_account": api.ObjectServiceAccount,
}

// Saw records an object of the state: its attributes in JSON.
func (s *Session) Saw(resourceType string, state []byte) {
	r, objectType := s.Run, objectTypes[resourceType]
	if r == nil || objectType == "" || s.hasNoUnconfirmed() {
		return
	}
	var object struct {
		ID  string          `json:"id"`
		IDs json.RawMessage `json:"ids"`
	}
	if json.Unmarshal(state, &object) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if object.IDs != nil { // the id of a set is its domain's
		r.raw = append(r.raw, object.IDs)
		return
	}
	if r.ids == nil {
		r.ids = map[string][]string{}
	}
	r.ids[objectType] = append(r.ids[objectType], strings.ToLower(object.ID))
}

// hasNoUnconfirmed reports whether it is known that nothing is unconfirmed.
func (s *Session) hasNoUnconfirmed() bool {
	c := s.opened()
	if c == nil {
		return false
	}
	exist, known := c.HasUnconfirmed()
	return known && !exist
}

// Planned records the plan of an object.
func (s *Session) Planned(isCreate bool) {
	r := s.Run
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plans++
	if isCreate {
		r.creates++
	}
}

// Applied records the change of an object.
func (s *Session) Applied() {
	r := s.Run
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applies++
}

// Failed records a call that failed: the walk may end early.
func (s *Session) Failed() {
	r := s.Run
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

// maxReported is how many ids one report has.
const maxReported = 10_000

// seen returns what the state has, in parts of a report's size.
func (r *Run) seen() (parts [][]api.CreatedObjects) {
	if r.ids == nil {
		r.ids = map[string][]string{}
	}
	for _, raw := range r.raw {
		var ids map[string]string
		var text string
		if json.Unmarshal(raw, &text) == nil { // as package compact has them
			raw = []byte(text)
		}
		if json.Unmarshal(raw, &ids) == nil {
			r.ids[api.ObjectMailbox] = slices.AppendSeq(r.ids[api.ObjectMailbox], maps.Values(ids))
		}
	}
	var part []api.CreatedObjects
	room := maxReported
	for _, objectType := range slices.Sorted(maps.Keys(r.ids)) {
		for ids := range slices.Chunk(r.ids[objectType], maxReported) {
			if len(ids) > room {
				parts, part, room = append(parts, part), nil, maxReported
			}
			part = append(part, api.CreatedObjects{Type: objectType, IDs: ids})
			room -= len(ids)
		}
	}
	return append(parts, part)
}

// endRun makes the report of a run. Without it, the next apply has the conflicts that it
// would have without any run.
func (s *Session) endRun(ctx context.Context) {
	r := s.Run
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.applies > 0 {
		if c := s.opened(); c != nil && c.HasCreated() && !r.failed {
			_, _ = c.ReviewCreates(ctx, api.ReviewCreatesBody{Run: new(c.Origin().Run)})
		}
		return
	}
	c := s.opened()
	switch {
	case s.hasNoUnconfirmed(), c == nil && (r.creates == 0 || !r.MayExist()):
		return
	case c == nil:
		var err error
		if c, err = s.Client(ctx); err != nil {
			return
		}
	}
	if _, known := c.HasUnconfirmed(); !known && r.creates == 0 {
		return // no apply needs it
	}
	parts := r.seen()
	for i, part := range parts {
		isLast := i == len(parts)-1
		if _, err := c.ReviewCreates(ctx, api.ReviewCreatesBody{Objects: part, Complete: isLast && r.plans > 0 && !r.failed && !r.IsPartial()}); err != nil {
			return
		}
	}
}

// Lost returns the ids of objects of a type that an earlier run of the configuration has
// lost. A plan has to say so, because it may be the one that makes them count as lost.
func (s *Session) Lost(ctx context.Context, objectType string, isPlan bool) map[string]bool {
	c := s.opened()
	if s.Run == nil || c == nil || s.hasNoUnconfirmed() {
		return nil
	}
	out, err := c.ReviewCreates(ctx, api.ReviewCreatesBody{})
	if err != nil {
		return nil
	}
	groups := out.Lost
	if isPlan && !s.Run.IsPartial() {
		groups = slices.Concat(groups, out.Objects)
	}
	lost := map[string]bool{}
	for _, group := range groups {
		if group.Type == objectType {
			for _, id := range group.IDs {
				lost[strings.ToLower(id)] = true
			}
		}
	}
	return lost
}
