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
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// idempotencyTTL is how long the response to a keyed request is replayed.
const idempotencyTTL = 24 * time.Hour

// requestKey is derived from a request's Idempotency-Key. The key itself is not
// stored, so that only a caller that resends it can decrypt the response.
type requestKey struct {
	hash        []byte // identifies the caller and the key
	fingerprint []byte // identifies the request, and reveals no secret in it
	cipher      cipher.AEAD
}

// newRequestKey derives a requestKey from the key and the request's parameters.
func (c *call) newRequestKey(key string, in any) (*requestKey, error) {
	request, err := json.Marshal(in)
	if err != nil {
		return nil, err
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
	return &requestKey{hash: c.hash(key), fingerprint: mac.Sum(nil), cipher: aead}, nil
}

// hash identifies the caller and some text.
func (c *call) hash(text ...string) []byte {
	hash := sha256.New()
	for _, part := range append([]string{c.caller.accountID, c.caller.subjects[0].Type, c.caller.subjects[0].ID}, text...) {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return hash.Sum(nil)
}

// keyed runs an operation under the request's Idempotency-Key, if it has one.
func keyed[Req, Resp any](c *call, in *Req, fn func(*call, *Req) (*Resp, error)) (*Resp, error) {
	p := progressOf(c.ctx)
	p.asked = in
	if p.looksUp != "" {
		p.delivery = c.deliveries.begin(c.hash(p.looksUp), false)
	}
	field := reflect.ValueOf(in).Elem().FieldByName("IdempotencyKey")
	if !field.IsValid() || field.String() == "" {
		return fn(c, in)
	}
	var err error
	if c.key, err = c.newRequestKey(field.String(), in); err != nil {
		return nil, err
	}
	of := c.deliveries.begin(c.key.hash, true)
	if of == nil {
		return nil, api.Conflict("a request with this Idempotency-Key is still running").At("header", api.IdempotencyKeyHeader).RetryAfter(1)
	}
	defer c.deliveries.ran(of)
	p.delivery = of

	out, err := view(c, func(r store.Reader) (*Resp, error) { return replay[Resp](c, r) })
	if err != nil || out != nil {
		return out, err
	}
	if err := c.caller.mayChange(c.spec); err != nil {
		return nil, err
	}
	return fn(c, in)
}

// transact makes the changes of a request and stores its idempotency record, in
// one transaction: either both are durable or none. An error, and a response that
// changed nothing, leave no record: the same request is evaluated again. Package
// audit has logged the changes by then.
//
// The caller is authorized in the transaction, so that nothing changes after a
// revocation that was committed before. fn may run more than once, and finds in
// c.caller the grants that hold in its transaction.
func transact[Resp any](c *call, fn func(store.Tx) (*Resp, error)) (*Resp, error) {
	var out *Resp
	uses := c.lastUses.pending()
	err := c.updatePaid(func(tx store.Tx) (err error) {
		out, c.replayed, c.unchanged, c.resumed, c.created = nil, false, false, false, nil
		if err := c.authorize(tx); err != nil {
			return err
		}
		// Another process may have stored the key's record since it was looked up.
		if out, err = replay[Resp](c, tx); err != nil || out != nil {
			return err
		}
		if err := c.caller.mayChange(c.spec); err != nil {
			return err
		}
		if err := c.checkOverdue(tx, c.caller.accountID, ""); err != nil {
			return err
		}
		if out, err = fn(tx); err != nil {
			return err
		}
		// Last uses cost no transaction of their own.
		if err := uses.write(tx); err != nil || c.key == nil || c.unchanged {
			return err
		}
		return c.record(tx, out)
	})
	if err != nil {
		return nil, err
	}
	c.outage.over(c.log)
	if !c.replayed {
		c.lastUses.written(uses)
		progressOf(c.ctx).created = c.created
	}
	return out, nil
}

// replay returns the response that is stored under the call's key, or nil.
func replay[Resp any](c *call, r store.Reader) (*Resp, error) {
	if c.key == nil {
		return nil, nil
	}
	record, err := r.IdempotencyRecord(c.key.hash, c.at)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(record.Fingerprint, c.key.fingerprint) {
		return nil, api.Unprocessable(api.Invalid("this Idempotency-Key was used for another request; use a new one").At("header", api.IdempotencyKeyHeader))
	}
	response, err := c.key.open(record.Response)
	if err != nil {
		return nil, err
	}
	c.replayed, progressOf(c.ctx).interrupted = true, record.InterruptedRequest != nil
	out := new(Resp)
	return out, json.Unmarshal(response, out)
}

// record stores the response under the call's key, and deletes expired records
// about once an hour.
func (c *call) record(tx store.Tx, response any) error {
	plain, err := json.Marshal(response)
	if err != nil {
		return err
	}
	if last := c.forgotAt.Load(); c.at.Unix()-last > int64(time.Hour/time.Second) && c.forgotAt.CompareAndSwap(last, c.at.Unix()) {
		if err := tx.DeleteExpiredIdempotencyRecords(c.at); err != nil {
			return err
		}
	}
	record := store.IdempotencyRecord{
		KeyHash: c.key.hash, Fingerprint: c.key.fingerprint, ExpiresAt: c.at.Add(idempotencyTTL),
		Response: c.key.seal(plain, c.random.Bytes(c.key.cipher.NonceSize())),
	}
	if c.created != nil && c.ctx.Err() != nil {
		record.InterruptedRequest, record.InterruptedID = c.created.requestHash, c.created.id
	}
	return tx.PutIdempotencyRecord(record)
}

func (k *requestKey) seal(plain, nonce []byte) []byte {
	return k.cipher.Seal(nonce, nonce, plain, k.fingerprint)
}

func (k *requestKey) open(sealed []byte) ([]byte, error) {
	n := k.cipher.NonceSize()
	if len(sealed) < n {
		return nil, errors.New("an idempotency record is truncated")
	}
	plain, err := k.cipher.Open(nil, sealed[:n], sealed[n:], k.fingerprint)
	if err != nil {
		return nil, fmt.Errorf("decrypt an idempotency record: %w", err)
	}
	return plain, nil
}

// statusOf maps what the store says of a change to what the caller is told.
func statusOf(err error, param, kind string) error {
	if errors.Is(err, store.ErrNotFound) {
		return api.NotFound(param, kind)
	}
	return err
}
