package maildns

import "github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"

// TXTChunks splits the value of a TXT record into character-strings of at most
// 255 octets (RFC 1035, section 3.3). The value is the text itself, or quoted
// strings as in a zone file, which are joined first. Receivers join the strings
// again without a space between them (RFC 7208, section 3.3; RFC 6376, section
// 3.6.2.2).
func TXTChunks(value string) ([]string, error) {
	text, err := dnsdata.Text(value)
	if err != nil {
		return nil, err
	}
	return dnsdata.Chunks(text), nil
}

// TXTValue returns the value of a TXT record in the presentation format of zone
// files (RFC 1035, section 5.1). It takes what [TXTChunks] takes.
func TXTValue(value string) (string, error) {
	text, err := dnsdata.Text(value)
	if err != nil {
		return "", err
	}
	return dnsdata.Quote(text), nil
}
