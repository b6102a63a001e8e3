package commands_test

import (
	"net"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
)

// serve responds to queries with records of a zone file, and returns its address. Names under
// broken.example make it fail.
func serve(t *testing.T, zone string) string {
	t.Helper()
	records := map[string][]dns.RR{}
	parser := dns.NewZoneParser(strings.NewReader(zone), "example.com.", "")
	parser.SetDefaultTTL(60)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		key := rr.Header().Name + dns.TypeToString[rr.Header().Rrtype]
		records[key] = append(records[key], rr)
	}
	assert.NilError(t, parser.Err())
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		reply.Answer = records[q.Question[0].Name+dns.TypeToString[q.Question[0].Qtype]]
		switch {
		case strings.HasSuffix(q.Question[0].Name, "broken.example."):
			reply.Rcode = dns.RcodeServerFailure
		case len(reply.Answer) == 0:
			reply.Rcode = dns.RcodeNameError
		}
		if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
			reply.Truncate(dns.MinMsgSize)
		}
		_ = w.WriteMsg(reply)
	})
	var listen net.ListenConfig
	tcp, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	udp, err := listen.ListenPacket(t.Context(), "udp", tcp.Addr().String())
	assert.NilError(t, err)
	for _, s := range []*dns.Server{{Listener: tcp, Handler: handler}, {PacketConn: udp, Handler: handler}} {
		begun := make(chan struct{})
		s.NotifyStartedFunc = func() { close(begun) }
		go func() { _ = s.ActivateAndServe() }()
		<-begun
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return tcp.Addr().String()
}

// TestCheck checks a domain with a resolver, including a response that requires TCP.
func TestCheck(t *testing.T) {
	t.Parallel()
	resolver := serve(t, `
@ MX 10 MX1.example.com.
mx1 A 192.0.2.1
@ TXT "v=spf1 include:spf.broken.example include:_spf.example.com " "-all"
_spf TXT "v=spf1 `+strings.Repeat("ip4:192.0.2.100 ", 15)+`" "`+strings.Repeat("ip4:192.0.2.100 ", 15)+`" "`+strings.Repeat("ip4:192.0.2.100 ", 15)+`mx -all"
_spf MX 10 mx1.example.com.
_dmarc TXT "v=DMARC1; p=reject; rua=mailto:a@example.com"
s1._domainkey TXT "v=DKIM1; k=ed25519; p=MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w="
`)
	code, stdout, stderr := mailhostdtest.Run(t, "check", "Example.com", "--resolver", resolver, "--selector", "s1", "--no-json")
	for _, want := range []string{
		"mx            ok       mail is received by 10 mx1.example.com", "spf           ok       3 of at most 10 lookups, beside those of include:spf.broken.example",
		"dkim          failed   s1: this is not a public key", "dmarc         ok       ", "mta_sts       warning  ", "apex          ok",
	} {
		assert.Check(t, strings.Contains(stdout, want), "there is no %q in\n%s", want, stdout)
	}
	assert.Check(t, code == cli.ExitFailure && stderr == "mailhostd: 2 checks of example.com failed\n", "exit code %d, %q", code, stderr)
	code, stdout, _ = mailhostdtest.Run(t, "check", "broken.example", "--resolver", resolver)
	assert.Check(t, code == cli.ExitOK && strings.Count(stdout, `"status": "`+mailcheck.Skipped) >= 5, "exit code %d of a server that fails:\n%s", code, stdout)
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "is no domain", "check", "localhost")
}
