package apiserver

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// answersKeptFor is how long the answer of a keyed request can be had again.
const answersKeptFor = 24 * time.Hour

// requestKey is what is kept of a request's Idempotency-Key. The key itself is
// not kept: the answer can be read only by who sends it again.
type requestKey struct {
	hash        []byte // names the caller and the key
	fingerprint []byte // names the request, and reveals no secret in it
	cipher      cipher.AEAD
}

// newRequestKey derives what is kept from the key and the request's parameters.
func (c *call) newRequestKey(key string, in any) (*requestKey, error) {
	request, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	name := sha256.New()
	for _, part := range []string{c.caller.accountID, c.caller.subjects[0].Type, c.caller.subjects[0].ID, key} {
		fmt.Fprintf(name, "%d:%s", len(part), part)
	}
	secret, err := hkdf.Key(sha256.New, []byte(key), nil, "answer", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(mac, "%s %s", c.spec.ID, request)
	return &requestKey{hash: name.Sum(nil), fingerprint: mac.Sum(nil), cipher: aead}, nil
}

// keptAnswer is an answer as it is encrypted: a body, or an error's status and
// problems.
type keptAnswer struct {
	Body   json.RawMessage `json:"body,omitempty"`
	Status int             `json:"status,omitempty"`
	Error  *api.Error      `json:"error,omitempty"`
}

// keyed runs an operation under the request's Idempotency-Key, if it has one.
func keyed[Req, Resp any](c *call, in *Req, fn func(*call, *Req) (*Resp, error)) (*Resp, error) {
	progressOf(c.ctx).asked = in
	field := reflect.ValueOf(in).Elem().FieldByName("IdempotencyKey")
	if !field.IsValid() || field.String() == "" {
		return fn(c, in)
	}
	var err error
	if c.key, err = c.newRequestKey(field.String(), in); err != nil {
		return nil, err
	}
	if !c.underWay.begin(c.key.hash) {
		return nil, api.Conflict("a request with this Idempotency-Key is still running").At("header", api.IdempotencyKeyHeader).RetryAfter(1)
	}
	defer c.underWay.end(c.key.hash)
	progressOf(c.ctx).answerKey = c.key.hash

	kept, err := view(c, func(r store.Reader) (*Resp, error) { return replay[Resp](c, r) })
	if err != nil || kept != nil {
		return kept, err
	}
	if err := c.caller.mayChange(c.spec); err != nil {
		return nil, err
	}
	out, err := fn(c, in)
	var refusal *api.Error
	if errors.As(err, &refusal) && !c.replayed {
		if keepErr := c.store.Update(c.ctx, func(tx store.Tx) error {
			// Another process may have answered the key since: that answer stays.
			if _, err := tx.IdempotentAnswer(c.key.hash, c.at); !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return c.keep(tx, keptAnswer{Status: refusal.GetStatus(), Error: refusal})
		}); keepErr != nil {
			return nil, keepErr
		}
	}
	return out, err
}

// transact makes the changes of a request and keeps the answer, in one
// transaction: either both are durable or none. What it changed is in the audit
// log by then, see package audit.
func transact[Resp any](c *call, fn func(store.Tx) (*Resp, error)) (*Resp, error) {
	var out *Resp
	delivered := c.delivered.list()
	err := c.store.Update(c.ctx, func(tx store.Tx) (err error) {
		out, c.replayed = nil, false
		// Another process may have answered the key since it was looked up.
		if out, err = replay[Resp](c, tx); err != nil || out != nil {
			return err
		}
		if out, err = fn(tx); err != nil {
			return err
		}
		// What earlier answers became of is written with this one, at no cost.
		if err := tx.MarkDelivered(delivered); err != nil || c.key == nil {
			return err
		}
		body, err := json.Marshal(out)
		if err != nil {
			return err
		}
		return c.keep(tx, keptAnswer{Body: body})
	})
	if err != nil {
		return nil, err
	}
	c.outage.over(c.log)
	if !c.replayed {
		c.delivered.noted(delivered)
	}
	return out, nil
}

// replay returns the kept answer of the call's key, or neither.
func replay[Resp any](c *call, r store.Reader) (*Resp, error) {
	if c.key == nil {
		return nil, nil
	}
	kept, err := r.IdempotentAnswer(c.key.hash, c.at)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(kept.Fingerprint, c.key.fingerprint) {
		c.replayed = true // this refusal is not the key's answer
		return nil, api.Unprocessable(api.Invalid("this Idempotency-Key was used for another request; use a new one").At("header", api.IdempotencyKeyHeader))
	}
	answer, err := c.key.open(kept.Answer)
	if err != nil {
		return nil, err
	}
	c.replayed, c.deliveredBefore = true, kept.Delivered || c.delivered.has(c.key.hash)
	if answer.Error != nil {
		return nil, answer.Error.WithStatus(answer.Status).With(api.IdempotencyReplayedHeader, "true")
	}
	out := new(Resp)
	return out, json.Unmarshal(answer.Body, out)
}

// keep stores the answer of the call's key, and now and then forgets old ones.
func (c *call) keep(tx store.Tx, answer keptAnswer) error {
	sealed, err := c.key.seal(answer, c.randomBytes(c.key.cipher.NonceSize()))
	if err != nil {
		return err
	}
	if last := c.forgotAt.Load(); c.at.Unix()-last > int64(time.Hour/time.Second) && c.forgotAt.CompareAndSwap(last, c.at.Unix()) {
		if err := tx.ForgetIdempotentAnswers(c.at); err != nil {
			return err
		}
	}
	return tx.KeepIdempotentAnswer(store.IdempotentAnswer{
		KeyHash: c.key.hash, Fingerprint: c.key.fingerprint, Answer: sealed, ExpiresAt: c.at.Add(answersKeptFor),
	})
}

func (k *requestKey) seal(answer keptAnswer, nonce []byte) ([]byte, error) {
	plain, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return k.cipher.Seal(nonce, nonce, plain, k.fingerprint), nil
}

func (k *requestKey) open(sealed []byte) (answer keptAnswer, err error) {
	n := k.cipher.NonceSize()
	if len(sealed) < n {
		return answer, errors.New("a kept answer is truncated")
	}
	plain, err := k.cipher.Open(nil, sealed[:n], sealed[n:], k.fingerprint)
	if err != nil {
		return answer, fmt.Errorf("a kept answer can't be opened: %w", err)
	}
	return answer, json.Unmarshal(plain, &answer)
}

// keysUnderWay are the keys of the requests that this process is answering.
type keysUnderWay struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (k *keysUnderWay) begin(hash []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys[string(hash)] {
		return false
	}
	if k.keys == nil {
		k.keys = map[string]bool{}
	}
	k.keys[string(hash)] = true
	return true
}

func (k *keysUnderWay) end(hash []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, string(hash))
}

// statusOf maps what the store says of a change to what the caller is told.
func statusOf(err error, param, kind string) error {
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound(param, kind)
	}
	return err
}
