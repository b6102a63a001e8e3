package maildns

import (
	"reflect"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

func TestTXT(t *testing.T) {
	t.Parallel()
	a255, b255 := strings.Repeat("a", 255), strings.Repeat("b", 255)
	tests := map[string]struct {
		in     string
		chunks []string
		value  string
	}{
		"short":        {"v=spf1 -all", []string{"v=spf1 -all"}, `"v=spf1 -all"`},
		"of RFC 7208":  {`"v=spf1 .... first" "second string..."`, []string{"v=spf1 .... firstsecond string..."}, `"v=spf1 .... firstsecond string..."`},
		"just fits":    {a255, []string{a255}, `"` + a255 + `"`},
		"one more":     {a255 + "b", []string{a255, "b"}, `"` + a255 + `" "b"`},
		"three":        {a255 + b255 + "c", []string{a255, b255, "c"}, `"` + a255 + `" "` + b255 + `" "c"`},
		"quoted":       {`"` + a255 + `" "` + b255 + `"`, []string{a255, b255}, `"` + a255 + `" "` + b255 + `"`},
		"badly split":  {`"a" "` + a255 + `"`, []string{"a" + a255[1:], "a"}, `"a` + a255[1:] + `" "a"`},
		"UTF-8":        {a255[1:] + "ü", []string{a255[1:], "ü"}, `"` + a255[1:] + `" "\195\188"`},
		"quote inside": {`a"b\`, []string{`a"b\`}, `"a\"b\\"`},
		"quote first":  {`"\"a"`, []string{`"a`}, `"\"a"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks, err := TXTChunks(tt.in)
			if err != nil || !reflect.DeepEqual(chunks, tt.chunks) {
				t.Errorf("chunks %q, %v", chunks, err)
			}
			value, err := TXTValue(tt.in)
			if err != nil || value != tt.value {
				t.Errorf("value %q, %v", value, err)
			}
			checkZone(t, value, chunks)
		})
	}
	for _, in := range []string{"", `"a`, "a\nb", "\xff", strings.Repeat("a", 65536)} {
		if got, err := TXTChunks(in); err == nil {
			t.Errorf("chunks of %.20q: %d", in, len(got))
		}
		if got, err := TXTValue(in); err == nil || got != "" {
			t.Errorf("value of %.20q: %.20q", in, got)
		}
	}
}

// checkZone checks that the DNS library reads a value as the chunks.
func checkZone(t *testing.T, value string, chunks []string) {
	t.Helper()
	rr, err := dns.NewRR("x.example. 3600 IN TXT " + value)
	if err != nil {
		t.Fatalf("the DNS library refuses %.200q: %v", value, err)
	}
	buf := make([]byte, 1<<17)
	end, err := dns.PackRR(rr, buf, 0, nil, false)
	if err != nil {
		t.Fatalf("the DNS library does not pack %.200q: %v", value, err)
	}
	var want strings.Builder
	for _, chunk := range chunks {
		want.WriteByte(byte(len(chunk)))
		want.WriteString(chunk)
	}
	const header = len("\x01x\x07example\x00") + 10
	if got := string(buf[header:end]); got != want.String() {
		t.Errorf("sent as %.200q; want %.200q", got, want.String())
	}
}
