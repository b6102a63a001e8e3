package serve

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestLoopbackByDefault(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"9000": "127.0.0.1:9000", ":9000": "127.0.0.1:9000", "127.0.0.1:9": "127.0.0.1:9",
		"0.0.0.0:9000": "0.0.0.0:9000", "[::1]:9000": "[::1]:9000",
	} {
		assert.Check(t, is.Equal(loopbackByDefault(address), want), "loopbackByDefault(%q)", address)
	}
	l, err := listen(t.Context(), "--listen", ":0")
	assert.NilError(t, err)
	defer l.Close()
	for _, address := range []string{"192.0.2.1:0", "[fe80::1%nope]:0", "none.invalid:0"} {
		_, err = listen(t.Context(), "--listen", address)
		assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "--listen: "+address+" is no address of this machine; use ") && strings.HasSuffix(err.Error(), "or a port alone"), "%v", err)
	}
	u := urlOf(l.Addr().String())
	assert.Check(t, strings.HasPrefix(u, "http://localhost:") && !isLocal(l.Addr().String()), "all addresses: %s", u)
}

func TestLoopbackForPort(t *testing.T) {
	for address, want := range map[string]string{
		"8080": "127.0.0.1:8080", "0": "127.0.0.1:0", ":8080": ":8080", "0.0.0.0:80": "0.0.0.0:80", "[::1]:80": "[::1]:80", "99999": "99999", "host": "host",
	} {
		assert.Check(t, is.Equal(loopbackForPort(address), want), "%q", address)
	}
}

// TestCheckAddress checks that an error says how to write the address.
func TestCheckAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"8080": "", "0": "", ":8080": "", "127.0.0.1:0": "", "[::1]:8080": "", "[::]:8080": "", "[fe80::1%eth0]:80": "", "localhost:8080": "", "mail.example.com:https": "",
		"unix:/run/mailhostd.sock": "Unix sockets", "unix:///run/mailhostd.sock": "Unix sockets", "/run/mailhostd.sock": "Unix sockets", "./mail.sock": "Unix sockets", "@mail": "Unix sockets",
		"http://127.0.0.1:8080": "leave out the scheme", "https://mail.example.com": "leave out the scheme", "tcp://:8080": "leave out the scheme", "127.0.0.1:8080/": "leave out the scheme",
		"::1": "as in [::1]:8080", "[::1]": "as in [::1]:8080", "::": "as in [::]:8080", "2001:db8::1": "as in [2001:db8::1]:8080", "127.0.0.1": "as in 127.0.0.1:8080",
		"::1:8080": "as in [::1]:8080", "::1:0": "as in [::1]:0", "2001:db8::1:443": "as in [2001:db8::1]:443", "::8080": "as in [::]:8080", ":::8080": "as in [::]:8080", "fe80::1%eth0:8080": "as in [fe80::1%eth0]:8080",
		"2001:db8::5:1": "as in [2001:db8::5:1]:8080", "1:2:3:4:5:6:7:8:80": "as in [1:2:3:4:5:6:7:8]:80",
		"fe80:1:2:3:4:5:6:7:8080": "stands in brackets", "1:2:3": "stands in brackets",
		"localhost": "as in localhost:8080", "localhost:": "as in localhost:8080", "": "as in 127.0.0.1:8080", ":": "as in 127.0.0.1:8080",
		"99999": "between 0 and 65535", "127.0.0.1:65536": "between 0 and 65535", ":-1": "between 0 and 65535", "localhost:80a": "between 0 and 65535", "*:8080": "all addresses are 0.0.0.0:8080",
	} {
		err := checkAddress("--listen", address)
		if want == "" {
			assert.Check(t, err, "%q", address)
			continue
		}
		assert.Check(t, is.ErrorContains(err, want), "%q", address)
	}
}

// TestFullName checks that only a domain name with a dot is taken from the public URL.
func TestFullName(t *testing.T) {
	t.Parallel()
	system := fullName("")
	host, _ := os.Hostname()
	assert.Check(t, system == "" || strings.EqualFold(system, strings.TrimSuffix(host, ".")) && strings.Contains(system, "."), "%q of the host %q", system, host)
	for url, want := range map[string]string{
		"https://Mail.Example.com:8443/x": "mail.example.com", "https://b\u00fccher.example": "xn--bcher-kva.example",
		"http://localhost:8080": system, "https://192.0.2.1": system, "https://[2001:db8::1]:8443": system, "http://my_host.example.com": system,
	} {
		assert.Check(t, is.Equal(fullName(url), want), "%s", url)
	}
}

// TestFullDisk checks that doctor fails on a full disk, and warns earlier.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for free, want := range map[uint64]string{0: checkFailed, 32 << 20: checkFailed, 512 << 20: checkWarning, 2 << 30: checkOK} {
		got := describeSpace(free, 1<<30)
		assert.Check(t, got.State == want, "%d bytes free: %+v, want %s", free, got, want)
	}
}
