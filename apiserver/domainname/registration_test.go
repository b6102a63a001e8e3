package domainname

import (
	"errors"
	"testing"
)

func TestCheckRegistration(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"example.com", "EXAMPLE.com.", "bücher.de", "straße.de", "xn--bcher-kva.de", "пример.com", "δοκιμή.gr", "例え.jp", "東京タワー.jp", "ひらがなカタカナ漢字.jp", "한글漢字.kr",
		"漢字ㄅ.tw", "col·lega.cat", "לעו״ז.com", "カ・ラ.jp", "اختبار٣.com", "1-2.com", "café-2.fr", "नेपाली.com", "пример.bücher.com", "ไทย.com", "a-1.com", "ǧ.com", "〇一.com",
	} {
		if err := CheckRegistration(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{
		"i❤.ws", "xn--i-7iq.ws", "☃.com", "👍.com", "pаypal.com", "xn--pypal-4ve.com", "аpple.com", "bücherж.de", "tokyo東京.jp", "αбв.com", "ひらがな한글.com", "ㄅ한.com",
		"a·b.com", "l·.com", "·l.com", "カ·ラ.jp", "a・b.com", "ab--cd.com", "٣۳.com", "ـا.com", "½½.com․", "a⃝.com", "㈱.a․", "", "a b.com", "〱.jp",
	} {
		if CheckRegistration(name) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	// Names that can't be registered are still valid for lookup.
	if _, err := Normalize("i❤.ws"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"pаypal.com", "i❤.com"} {
		if err := Registrable(name); err == nil || errors.Is(err, ErrUnsupportedTLD) {
			t.Errorf("Registrable(%s) = %v", name, err)
		}
	}
}
