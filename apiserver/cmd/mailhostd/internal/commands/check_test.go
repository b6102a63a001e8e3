package commands_test

import (
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailcheck"
)

// node is a name of a zone. Its children are names with one label more.
type node struct {
	children map[string]*node
	records  []dns.RR
}

// add inserts a record at a name below the node.
func (n *node) add(labels []string, rr dns.RR) {
	if len(labels) == 0 {
		n.records = append(n.records, rr)
		return
	}
	last := labels[len(labels)-1]
	if n.children[last] == nil {
		n.children[last] = &node{children: map[string]*node{}}
	}
	n.children[last].add(labels[:len(labels)-1], rr)
}

// of returns the records of a type, for a name.
func (n *node) of(recordType uint16, name string) (found []dns.RR) {
	for _, rr := range n.records {
		if rr.Header().Rrtype == recordType {
			rr = dns.Copy(rr)
			rr.Header().Name = name
			found = append(found, rr)
		}
	}
	return found
}

// nameServer is an authoritative server of example.com.
type nameServer struct {
	address string

	mu   sync.Mutex
	apex *node
}

// load replaces the zone by a zone file.
func (s *nameServer) load(zone string) error {
	apex := &node{children: map[string]*node{}}
	parser := dns.NewZoneParser(strings.NewReader(zone), "example.com.", "")
	parser.SetDefaultTTL(60)
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		labels := dns.SplitDomainName(rr.Header().Name)
		apex.add(labels[:len(labels)-2], rr)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apex = apex
	return parser.Err()
}

// respond adds the response to a question, by the steps of RFC 1034, section 4.3.2.
func (s *nameServer) respond(reply *dns.Msg, name string, recordType uint16) {
	soa := &dns.SOA{Hdr: dns.RR_Header{Name: "example.com.", Rrtype: dns.TypeSOA, Class: dns.ClassINET}, Ns: "ns.example.com.", Mbox: "a.example.com."}
	for range 100 { // ends a loop of aliases
		labels := dns.SplitDomainName(name)
		if !dns.IsSubDomain("example.com.", name) {
			if len(reply.Answer) == 0 {
				reply.Rcode = dns.RcodeRefused
			}
			return
		}
		n := s.apex
		for i := len(labels) - 3; i >= 0; i-- {
			child := n.children[labels[i]]
			if child == nil {
				if n = n.children["*"]; n == nil {
					reply.Rcode, reply.Ns = dns.RcodeNameError, []dns.RR{soa}
					return
				}
				break
			}
			n = child
			if cut := n.of(dns.TypeNS, name); len(cut) > 0 {
				reply.Ns = cut
				return
			}
		}
		aliases := n.of(dns.TypeCNAME, name)
		if recordType == dns.TypeCNAME || len(aliases) == 0 {
			found := n.of(recordType, name)
			reply.Answer = append(reply.Answer, found...)
			if len(found) == 0 {
				reply.Ns = []dns.RR{soa}
			}
			return
		}
		reply.Answer = append(reply.Answer, aliases[0])
		name = strings.ToLower(aliases[0].(*dns.CNAME).Target)
	}
}

// serve starts a server of a zone. Names under broken.example make it fail. It knows no EDNS for
// names that begin with old.
func serve(t *testing.T, zone string) *nameServer {
	t.Helper()
	s := &nameServer{}
	assert.NilError(t, s.load(zone))
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		reply := new(dns.Msg).SetReply(q)
		if name := strings.ToLower(q.Question[0].Name); strings.HasSuffix(name, "broken.example.") {
			reply.Rcode = dns.RcodeServerFailure
		} else if q.IsEdns0() != nil && strings.HasPrefix(name, "old") {
			reply.Rcode = dns.RcodeFormatError
		} else {
			s.respond(reply, name, q.Question[0].Qtype)
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
	for _, server := range []*dns.Server{{Listener: tcp, Handler: handler}, {PacketConn: udp, Handler: handler}} {
		begun := make(chan struct{})
		server.NotifyStartedFunc = func() { close(begun) }
		go func() { _ = server.ActivateAndServe() }()
		<-begun
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	s.address = tcp.Addr().String()
	return s
}

// TestCheck checks a domain with a resolver, including a response that requires TCP.
func TestCheck(t *testing.T) {
	t.Parallel()
	server := serve(t, `
@ MX 10 MX1.example.com.
mx1 A 192.0.2.1
@ TXT "v=spf1 include:spf.broken.example include:_spf.example.com " "-all"
_spf TXT "v=spf1 `+strings.Repeat("ip4:192.0.2.100 ", 15)+`" "`+strings.Repeat("ip4:192.0.2.100 ", 15)+`" "`+strings.Repeat("ip4:192.0.2.100 ", 15)+`mx -all"
_spf MX 10 mx1.example.com.
_dmarc TXT "v=DMARC1; p=reject; rua=mailto:a@example.com"
s1._domainkey TXT "v=DKIM1; k=ed25519; p=MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w="
`)
	code, stdout, stderr := mailhostdtest.Run(t, "check", "Example.com", "--resolver", server.address, "--selector", "s1", "--no-json")
	for _, want := range []string{
		"mx            ok       mail is received by 10 mx1.example.com", "spf           warning  include:spf.broken.example can't be looked up: the resolver " + server.address + " answers SERVFAIL (",
		"dkim          failed   s1: this is not a public key", "dmarc         ok       ", "mta_sts       warning  ", "apex          ok",
	} {
		assert.Check(t, strings.Contains(stdout, want), "there is no %q in\n%s", want, stdout)
	}
	assert.Check(t, code == cli.ExitFailure && stderr == "mailhostd: 2 checks of example.com failed\n", "exit code %d, %q", code, stderr)
	code, stdout, _ = mailhostdtest.Run(t, "check", "broken.example", "--resolver", server.address)
	assert.Check(t, code == cli.ExitFailure && strings.Count(stdout, `"status": "`+mailcheck.Skipped) == 8, "exit code %d of a server that fails:\n%s", code, stdout)
	code, stdout, _ = mailhostdtest.Run(t, "check", "refused.example", "--resolver", server.address)
	assert.Check(t, code == cli.ExitFailure && strings.Count(stdout, `"status": "`+mailcheck.Skipped) == 8, "exit code %d of a server that refuses:\n%s", code, stdout)
	mailhostdtest.Fails(t, nil, cli.ExitUsage, "is no domain", "check", "localhost")
	for _, s := range []string{"x..y", "s5.", ".s5", "s 5", "*", strings.Repeat("a", 64)} {
		mailhostdtest.Fails(t, nil, cli.ExitUsage, "is no selector", "check", "example.com", "--resolver", server.address, "--selector="+s)
	}
	for _, resolver := range []string{
		"https://dns.example/dns-query", "tls://192.0.2.53", "192.0.2.53#53", "192.0.2.300", "a b", ":53", "192.0.2.53:abc", "192.0.2.53:99999", "192.0.2.53:0", "[2001:db8::53]:", "ns.example.com:-1",
	} {
		mailhostdtest.Fails(t, nil, cli.ExitUsage, "must be an address or host name", "check", "example.com", "--resolver="+resolver)
	}
}

// TestCheckFailures checks that a name server's failure for one name is a finding about this name,
// and that a server may not know EDNS.
func TestCheckFailures(t *testing.T) {
	t.Parallel()
	server := serve(t, `
@ MX 10 mx.broken.example.
@ MX 20 mx.refused.example.
@ TXT "v=spf1 a:a.broken.example a:a.refused.example include:oldspf.example.com -all"
oldspf TXT "v=spf1 -all"
s1._domainkey CNAME s1.refused.example.
s2._domainkey CNAME s2.broken.example.
_dmarc TXT "v=DMARC1; p=reject; rua=mailto:a@broken.example,mailto:a@refused.example"
_mta-sts TXT "v=STSv1; id=1;"
mta-sts CNAME mta-sts.broken.example.
`)
	_, stdout, stderr := mailhostdtest.Run(t, "check", "example.com", "--resolver", server.address, "--selector", "s1", "--selector", "s2", "--no-json")
	for _, want := range []string{
		"mx            warning  mx.broken.example can't be looked up: the resolver " + server.address + " answers SERVFAIL (",
		"spf           warning  a:a.broken.example can't be looked up: the resolver " + server.address + " answers SERVFAIL (",
		"dkim          skipped  s2._domainkey.example.com: the resolver " + server.address + " answers SERVFAIL (",
		"dmarc         warning  example.com._report._dmarc.broken.example can't be looked up: the resolver " + server.address + " answers SERVFAIL (",
		"mta_sts       warning  mta-sts.example.com, the host of the policy, can't be looked up: ",
	} {
		assert.Check(t, strings.Contains(stdout, want), "there is no %q in\n%s%s", want, stdout, stderr)
	}
}

// TestCheckSilent checks a resolver that does not answer.
func TestCheckSilent(t *testing.T) {
	t.Parallel()
	var listen net.ListenConfig
	udp, err := listen.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	assert.NilError(t, err)
	assert.NilError(t, udp.Close())
	code, stdout, stderr := mailhostdtest.Run(t, "check", "example.com", "--resolver", udp.LocalAddr().String(), "--no-json")
	assert.Check(t, code == cli.ExitFailure && strings.Contains(stderr, "every check of example.com was skipped") && !strings.Contains(stdout, "elsewhere"), "exit code %d\n%s%s", code, stdout, stderr)
}

// TestCheckSubdomain checks subdomains with the DMARC record of their organization, on a name server
// without recursion, and a record with an octet that is not UTF-8.
func TestCheckSubdomain(t *testing.T) {
	t.Parallel()
	server := serve(t, `
_dmarc TXT "v=DMARC1; p=none; sp=quarantine; np=reject; rua=mailto:a@example.com"
news TXT "v=spf1\160-all"
s1._domainkey.news CNAME s1.host.example.
child NS ns.example.net.
`)
	for domain, want := range map[string]string{
		"news.example.com": "dmarc         ok       forged mail is treated by sp=quarantine in the record of example.com", "none.example.com": "dmarc         ok       forged mail is treated by np=reject in the record of example.com",
		"example.com": "dmarc         warning  with p=none, forged mail is delivered", "child.example.com": "dmarc         skipped  _dmarc.child.example.com: it can't be seen from here",
	} {
		_, stdout, stderr := mailhostdtest.Run(t, "check", domain, "--resolver", server.address, "--selector", "s1", "--no-json")
		assert.Check(t, strings.Contains(stdout, want), "there is no %q in\n%s%s", want, stdout, stderr)
		if domain == "news.example.com" {
			for _, want := range []string{`spf           failed   the record contains the octet 0xA0 after "v=spf1"`, "dkim          ok       there are keys for s1 (elsewhere)"} {
				assert.Check(t, strings.Contains(stdout, want), "there is no %q in\n%s%s", want, stdout, stderr)
			}
		}
	}
}

// The parts of the zones of [TestCheckOfZone]: each name that a check looks up, names below it, so
// that it exists without records, and wildcards beside it.
var (
	ownerNames = []string{
		"@", "*", "mx1", "mx2", "a.mx2", "*.mx2", "sub", "*.sub", "a.sub", "spf1", "spf2", "a.spf2", "*.spf2", "alias1", "alias2", "alias3", "*.alias3",
		"_dmarc", "a._dmarc", "_dmarc.sub", "_domainkey", "*._domainkey", "s1._domainkey", "s2._domainkey", "a.s2._domainkey", "_adsp._domainkey",
		"_mta-sts", "a._mta-sts", "mta-sts", "a.mta-sts", "*.mta-sts", "_tls", "_smtp._tls", "*._tls", "_report._dmarc", "*._report._dmarc",
	}
	targets  = []string{"mx1", "mx2", "sub", "a.sub", "b.sub", "c.b.sub", "spf1", "spf2", "alias1", "alias2", "alias3", "x.alias3", "none", "MX1.Example.COM.", "host.example.net.", "@"}
	mailText = []string{
		"v=spf1 mx a:mx1.example.com include:spf1.example.com -all", "v=spf1 redirect=spf2.example.com", "v=spf1 a:b.sub.example.com a:c.b.sub.example.com mx:alias1.example.com a:none.example.com ~all",
		"v=spf1 -all", "v=spf1 include:alias3.example.com include:spf.example.net -all", "v=spf1 a:x.alias3.example.com exists:%{i}.example.com exists:none.example.com -include:spf2.example.com exists:alias2.example.com",
		"v=DMARC1; p=reject; rua=mailto:a@example.com", "v=DMARC1; p=none; rua=mailto:a@example.net", "v=DMARC1; p=quarantine; sp=none; np=reject; rua=mailto:a@sub.example.com", "v=DMARC1; p=reject; psd=n",
		"v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", "v=DKIM1; p=", "v=STSv1; id=1;", "v=STSv1; id=1; foo", "v=TLSRPTv1; rua=mailto:a@example.com", "v=TLSRPTv1; rua=mailto:a@x mailto:b@x", "v=spf1\u00a0-all", "unrelated",
	}
)

// drawnZone is a zone as records and as the lines of a zone file.
type drawnZone struct {
	records []mailcheck.Record
	lines   []string
}

func (z *drawnZone) add(name, recordType, value string) {
	z.records = append(z.records, mailcheck.Record{Name: name, Type: recordType, Value: value})
	z.lines = append(z.lines, name+" "+recordType+" "+value)
}

func drawZone(t *rapid.T) *drawnZone {
	z := &drawnZone{}
	for _, name := range ownerNames {
		target := rapid.SampledFrom(targets).Draw(t, "target")
		full := target
		switch {
		case target == "@":
			full = "example.com."
		case !strings.HasSuffix(target, "."):
			full = target + ".example.com."
		}
		switch kind := rapid.IntRange(0, 9).Draw(t, name); {
		case kind < 4: // absent
		case kind == 4:
			z.add(name, "CNAME", full)
		case kind == 5 && name != "@" && !strings.HasPrefix(name, "*"):
			z.add(name, "NS", "ns.example.net.")
		default:
			if rapid.Bool().Draw(t, "A") {
				z.add(name, "A", "192.0.2.1")
			}
			if rapid.Bool().Draw(t, "MX") {
				z.add(name, "MX", rapid.SampledFrom([]string{"10 " + full, "5 mx1.example.com.", "0 ."}).Draw(t, "MX value"))
			}
			for range rapid.IntRange(0, 2).Draw(t, "TXT") {
				z.add(name, "TXT", dnsdata.Quote(rapid.SampledFrom(mailText).Draw(t, "text")))
			}
		}
	}
	return z
}

// TestCheckOfZone checks that the records of a zone give the same findings alone and served over
// the DNS, by a server with another implementation of the rules.
func TestCheckOfZone(t *testing.T) {
	t.Parallel()
	server := serve(t, "")
	rapid.Check(t, func(r *rapid.T) {
		drawn := drawZone(r)
		domain := rapid.SampledFrom([]string{"example.com", "sub.example.com", "b.sub.example.com"}).Draw(r, "domain")
		zone, err := mailcheck.NewZone("example.com", drawn.records)
		assert.NilError(r, err)
		assert.NilError(r, server.load(strings.Join(drawn.lines, "\n")+"\n"))
		selectors := append(zone.Selectors(), "s1", "none")
		arguments := []string{"check", domain, "--resolver", server.address}
		for _, s := range selectors {
			arguments = append(arguments, "--selector", s)
		}
		_, stdout, stderr := mailhostdtest.Run(t, arguments...)
		var served []mailcheck.Result
		assert.NilError(r, json.Unmarshal([]byte(stdout), &served), stderr)
		alone := mailcheck.Check(t.Context(), domain, selectors, zone)
		for i := range alone {
			if alone[i].Status == mailcheck.Skipped {
				served[i].Message = alone[i].Message // the reason differs
			}
		}
		assert.DeepEqual(r, served, alone)
	})
}
