// Package mail writes the service's e-mail and sends it: verification messages for
// forwarding rules, out of a queue in the store.
package mail

import (
	"slices"
	"strings"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
)

// redacted returns the text of an error without the link: a mail server may quote the message.
func redacted(m email.Message, err error) string {
	if secret := m.Link[strings.LastIndexByte(m.Link, '/')+1:]; secret != "" {
		return strings.ReplaceAll(err.Error(), secret, "[secret]")
	}
	return err.Error()
}

// outboxSize is how many messages an Outbox holds.
const outboxSize = 1000

// Outbox holds the newest messages of this process. It is safe for concurrent use.
type Outbox struct {
	mu       sync.Mutex
	messages []email.Message
}

// Add adds messages; the oldest are dropped if there are too many.
func (o *Outbox) Add(messages ...email.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = append(o.messages, messages...)
	o.messages = slices.Delete(o.messages, 0, max(0, len(o.messages)-outboxSize))
}

// Messages returns the messages, oldest first.
func (o *Outbox) Messages() []email.Message {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.messages)
}

// Clear empties the outbox.
func (o *Outbox) Clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.messages = nil
}
