package sqlstore

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBlockRows is the most rows of a block.
const maxBlockRows = 2048

// rowSet is a set of rows of a block, by their positions.
type rowSet [maxBlockRows / 64]uint64

// firstRows returns the first n rows.
func firstRows(n int) (s rowSet) {
	for i := range s {
		switch {
		case n >= 64*(i+1):
			s[i] = ^uint64(0)
		case n > 64*i:
			s[i] = 1<<(n-64*i) - 1
		}
	}
	return s
}

func (s *rowSet) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *rowSet) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s *rowSet) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s *rowSet) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// intersect removes the rows that are not in other.
func (s *rowSet) intersect(other *rowSet) {
	for i := range s {
		s[i] &= other[i]
	}
}

// unite adds the rows of other.
func (s *rowSet) unite(other *rowSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// subtract removes the rows of other.
func (s *rowSet) subtract(other *rowSet) {
	for i := range s {
		s[i] &^= other[i]
	}
}

// positions returns the rows in order.
func (s *rowSet) positions() []int {
	found := make([]int, 0, maxBlockRows)
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			found = append(found, i*64+bits.TrailingZeros64(word))
		}
	}
	return found
}

// encode returns the distances between the positions, or all bits if that is shorter.
func (s *rowSet) encode() []byte {
	encoded, last := make([]byte, 0, 64), -1
	for _, i := range s.positions() {
		encoded = binary.AppendUvarint(encoded, uint64(i-last))
		last = i
	}
	if len(encoded) < maxBlockRows/8 {
		return encoded
	}
	encoded = encoded[:0]
	for _, word := range s {
		encoded = binary.LittleEndian.AppendUint64(encoded, word)
	}
	return encoded
}

func decodeRowSet(encoded []byte) (s rowSet) {
	if len(encoded) == maxBlockRows/8 {
		for i := range s {
			s[i] = binary.LittleEndian.Uint64(encoded[8*i:])
		}
		return s
	}
	for at := -1; len(encoded) > 0; {
		distance, n := binary.Uvarint(encoded)
		at += int(distance)
		s.add(at)
		encoded = encoded[n:]
	}
	return s
}

// bucket has the rows of some facets of a block, by the facets' values.
type bucket map[string]*rowSet

// at returns the rows of a value, which can be changed.
func (b bucket) at(value string) *rowSet {
	s := b[value]
	if s == nil {
		s = new(rowSet)
		b[value] = s
	}
	return s
}

// encode returns each value and its rows, both with their length before them.
func (b bucket) encode() []byte {
	encoded := []byte{} // not NULL
	for _, value := range slices.Sorted(maps.Keys(b)) {
		rows := b[value].encode()
		if len(rows) == 0 {
			continue
		}
		encoded = binary.AppendUvarint(encoded, uint64(len(value)))
		encoded = append(encoded, value...)
		encoded = binary.AppendUvarint(encoded, uint64(len(rows)))
		encoded = append(encoded, rows...)
	}
	return encoded
}

// eachFacet calls fn for each value of an encoded bucket. The slices are valid during
// the call.
func eachFacet(encoded []byte, fn func(value, rows []byte)) {
	next := func() []byte {
		length, n := binary.Uvarint(encoded)
		part := encoded[n : n+int(length)]
		encoded = encoded[n+int(length):]
		return part
	}
	for len(encoded) > 0 {
		value := next()
		fn(value, next())
	}
}

func decodeBucket(encoded []byte) bucket {
	b := bucket{}
	eachFacet(encoded, func(value, rows []byte) { b[string(value)] = new(decodeRowSet(rows)) })
	return b
}

// encodeTimes returns the distances between ascending times.
func encodeTimes(times []int64) (encoded []byte) {
	var last int64
	for _, at := range times {
		encoded = binary.AppendVarint(encoded, at-last)
		last = at
	}
	return encoded
}

func decodeTimes(encoded []byte) []int64 {
	times := make([]int64, 0, maxBlockRows)
	for at := int64(0); len(encoded) > 0; {
		distance, n := binary.Varint(encoded)
		at += distance
		times = append(times, at)
		encoded = encoded[n:]
	}
	return times
}

// endOfText is in no text.
const endOfText = "\x00"

func encodeTexts(texts []string) []byte { return []byte(strings.Join(texts, endOfText) + endOfText) }

// replaceText replaces the text of a row.
func replaceText(texts []byte, row int, text string) []byte {
	start := 0
	for range row {
		start += bytes.IndexByte(texts[start:], endOfText[0]) + 1
	}
	end := start + bytes.IndexByte(texts[start:], endOfText[0])
	return slices.Replace(texts, start, end, []byte(text)...)
}

// rowsContaining returns the rows whose texts contain a term.
func rowsContaining(texts []byte, term string) (s rowSet) {
	for row := 0; ; row++ {
		found := bytes.Index(texts, []byte(term))
		if found < 0 {
			return s
		}
		row += bytes.Count(texts[:found], []byte(endOfText))
		s.add(row)
		texts = texts[found:]
		texts = texts[bytes.IndexByte(texts, endOfText[0])+1:]
	}
}

// gramRunes is the length of the longest part of a text that blocks index.
const gramRunes = 3

// eachGram calls fn for each part of a text with one to gramRunes characters. A part
// that occurs twice is passed twice.
func eachGram(text string, fn func(string)) {
	var starts [gramRunes]int // of the last characters, the latest first
	known := 0
	for start := range text {
		copy(starts[1:], starts[:])
		starts[0] = start
		known = min(known+1, gramRunes)
		_, size := utf8.DecodeRuneInString(text[start:])
		end := start + size
		for _, from := range starts[:known] {
			fn(text[from:end])
		}
	}
}

// gramsOf returns the parts of a term that a text must have to contain the term, and
// whether a text that has them contains it.
func gramsOf(term string) (grams []string, sufficient bool) {
	if n := len([]rune(term)); n <= gramRunes {
		return []string{term}, true
	}
	eachGram(term, func(gram string) {
		if len([]rune(gram)) == gramRunes {
			grams = append(grams, strings.Clone(gram))
		}
	})
	slices.Sort(grams)
	return slices.Compact(grams), false
}
