package main

import (
	"slices"
	"testing"
)

func TestSummarize(t *testing.T) {
	got, err := summarize([]byte(`{"resource_changes": [
		{"mode": "managed", "type": "mailhost_mailbox", "change": {"actions": ["update"]}},
		{"mode": "managed", "type": "mailhost_mailbox", "change": {"actions": ["create"]}},
		{"mode": "managed", "type": "mailhost_mailbox", "change": {"actions": ["create"]}},
		{"mode": "managed", "type": "mailhost_domain", "change": {"actions": ["delete", "create"]}},
		{"mode": "managed", "type": "mailhost_domain", "change": {"actions": ["create", "delete"]}},
		{"mode": "managed", "type": "mailhost_forwarding", "change": {"actions": ["no-op"]}},
		{"mode": "data", "type": "mailhost_account", "change": {"actions": ["read"]}}]}`))
	want := []change{{"mailhost_domain", "replace", 2}, {"mailhost_mailbox", "create", 2}, {"mailhost_mailbox", "update", 1}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("summary is %v (%v), want %v", got, err, want)
	}
	if _, err := summarize([]byte("no JSON")); err == nil {
		t.Error("no error for text that is no JSON")
	}
}

func TestCountTypes(t *testing.T) {
	got := countTypes("data.mailhost_account.this\nmailhost_mailbox.this[\"o'brien@a.example\"]\nmailhost_mailbox.this[\"data.x\"]\nmailhost_dedicated_ip.outbound\n\n")
	if want := []string{"  1  mailhost_dedicated_ip", "  2  mailhost_mailbox"}; !slices.Equal(got, want) {
		t.Errorf("counts are %q, want %q", got, want)
	}
}

func TestLineWriter(t *testing.T) {
	var got []string
	w := &lineWriter{emit: func(line string) { got = append(got, line) }}
	for _, part := range []string{"\x1b[1ma: Crea", "ting...\x1b[0m\n\x1b[3", "3m╷\x1b[0m\nlast"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	w.flush()
	w.flush()
	if want := []string{"a: Creating...", "╷", "last"}; !slices.Equal(got, want) {
		t.Errorf("lines are %q, want %q", got, want)
	}
}

func TestIsOutcome(t *testing.T) {
	for line, want := range map[string]bool{
		"a: Creating...":                                   false,
		"a: Still creating... [10s elapsed]":               false,
		"a: Creation complete after 0s [id=1]":             true,
		"a: Modifications complete after 1m2s [id=1]":      true,
		"Apply complete! Resources: 1 added, 0 changed, 0": true,
		"Destroy complete! Resources: 1 destroyed.":        true,
		"│ Warning: mind the gap":                          true,
		"data.a: Read complete after 0s [id=1]":            false,
		"Outputs:":                                         false,
		"x = 1":                                            false,
	} {
		if got := isOutcome(line); got != want {
			t.Errorf("isOutcome(%q) = %v", line, got)
		}
	}
}

func TestIndent(t *testing.T) {
	if got, want := indent("\na\n\n  b\n\n"), "   a\n\n     b\n"; got != want {
		t.Errorf("indented text is %q, want %q", got, want)
	}
}
