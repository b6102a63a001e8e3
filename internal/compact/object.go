package compact

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// attribute is one attribute of an object in the encoding of the plugin protocol, a
// MessagePack map.
type attribute struct {
	name string
	raw  msgpack.RawMessage
}

// split returns the attributes of an object, or nil for one that is null or unknown.
func split(object []byte) ([]attribute, error) {
	if len(object) == 0 || isNull(object) || isUnknown(object) {
		return nil, nil
	}
	dec := msgpack.NewDecoder(bytes.NewReader(object))
	n, err := dec.DecodeMapLen()
	if err != nil {
		return nil, fmt.Errorf("not an object: %w", err)
	}
	all := make([]attribute, n)
	for i := range all {
		if all[i].name, err = dec.DecodeString(); err != nil {
			return nil, err
		}
		if all[i].raw, err = dec.DecodeRaw(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// join returns the object with these attributes.
func join(all []attribute) ([]byte, error) {
	var b bytes.Buffer
	enc := msgpack.NewEncoder(&b)
	if err := enc.EncodeMapLen(len(all)); err != nil {
		return nil, err
	}
	for _, a := range all {
		if err := enc.EncodeString(a.name); err != nil {
			return nil, err
		}
		if err := enc.Encode(a.raw); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
