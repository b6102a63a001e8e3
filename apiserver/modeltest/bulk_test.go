package modeltest

import (
	"slices"
	"strings"
)

// createMailboxes creates many mailboxes; each item succeeds or fails separately.
func (m *machine) createMailboxes() {
	var items []any
	for range draw(m, "items", 2, 1, 3, 5) {
		local, _ := m.local()
		item := obj{"local_part": local, "first_name": m.personName(), "last_name": m.personName()}
		if m.rarely(8, "bad name") {
			item["last_name"] = draw(m, "bad name", "", tooLong)
		}
		items = append(items, item)
	}
	body := obj{"domain": m.domainRef("domain"), "items": items}
	m.do(m.caller(), operation{
		method: "POST", path: "/mailboxes/bulk", body: body, capability: "mailbox.create", narrowable: true, keyed: true,
		then: func(who *caller) want { return m.bulk(who, body) },
	})
}

// tooLong is a name above the maximum length.
var tooLong = strings.Repeat("ü", 101)

func (m *machine) bulk(who *caller, body obj) want {
	d, refusal := m.usableDomain(who, "mailbox.create", body)
	if refusal != nil {
		return *refusal
	}
	left, requested := m.mailboxesLeft(), map[string]bool{}
	done, failed := []any{}, []any{}
	for i, item := range body["items"].([]any) {
		b := m.newMailbox(d, item.(obj))
		code := ""
		other := m.mailboxAt(b.address())
		switch {
		case !isLocal(b.local):
			code = "invalid_local_part"
		case !isName(b.first) || !isName(b.last):
			code = "invalid_name"
		case requested[b.local]:
			code = "duplicate_in_request"
		case other != nil:
			code = "already_exists"
		case len(done) >= left:
			code = "quota_exceeded"
		}
		if code == "" || code == "quota_exceeded" || code == "already_exists" {
			requested[b.local] = true
		}
		if code != "" {
			var message any
			failed = append(failed, obj{"index": i, "code": code, "message": learnAny(&message)})
			continue
		}
		m.mailboxes = append(m.mailboxes, b)
		done = append(done, obj{"index": i, "mailbox": m.mailboxObject(b)})
	}
	return ok(obj{"created": done, "failed": failed})
}

func isName(s string) bool {
	return s != "" && len([]rune(s)) <= 100 && !slices.Contains(badNames, s)
}

// isLocal reports whether a drawn local part is valid.
func isLocal(s string) bool { return !slices.Contains(badLocals, s) }
