package userlist

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Headers whose meaning depends on the other columns; see header.resolve.
const (
	bareName   Field = "bare name"   // a first name, a last name or both
	bareAddr   Field = "bare addr"   // a mail address, or a street
	bareStatus Field = "bare status" // a status, or a part of a country
	deletion   Field = "deletion"    // the time of a deletion; not a status, because everybody else may be blocked
)

// usualHeaders lists the headers of each field, separated by semicolons, the preferred ones first and
// a language in each line. Case, accents, spaces, punctuation and additions in brackets don't count.
//
// Sources: the exports and templates of Google Workspace, Microsoft 365, Entra and Zoho, the columns of
// GAM, Microsoft Graph and PowerShell (Get-Mailbox, Get-Recipient, Get-ADUser), and the words that Google's
// and Microsoft's administration pages use in other languages. A recovery, secondary, home or manager's
// address is no mailbox, and Exchange's Alias is neither a list of aliases nor always the local part.
var usualHeaders = parseHeaders(map[Field]string{
	Address: `
		primary email; primary email address; primary SMTP address; email address; email; mail; mail address; SMTP address; mailbox; mail ID; email ID; Windows email address; emails.0.address; primary SMTP; primary mail; SMTP; work email; work email address; work mail; business email; business email address; business mail; company email; company email address; corporate email; corporate email address; office email; organization email; official email; professional email; email work; email business; email primary
		primäre E-Mail-Adresse; primäre SMTP-Adresse; E-Mail-Adresse; Mailadresse; primäre E-Mail; primäre Mailadresse; primäre SMTP; Haupt-E-Mail-Adresse; Haupt-E-Mail; E-Mail (geschäftlich); E-Mail-Adresse (geschäftlich); geschäftliche E-Mail; geschäftliche E-Mail-Adresse; E-Mail (dienstlich); dienstliche E-Mail; dienstliche E-Mail-Adresse; Firmen-E-Mail; E-Mail (Arbeit)
		adresse e-mail principale; adresse SMTP principale; adresse e-mail; adresse électronique; adresse mail; adresse de messagerie; adresse courriel; courriel; e-mail principal; adresse de messagerie principale; SMTP principal; e-mail professionnel; adresse e-mail professionnelle; adresse professionnelle; e-mail (professionnel); courriel professionnel; messagerie professionnelle
		dirección de correo electrónico principal; dirección SMTP principal; correo electrónico principal; dirección de correo electrónico; correo electrónico; dirección de correo; dirección de email; correo; correo principal; email principal; correo electrónico corporativo; correo corporativo; correo electrónico de trabajo; correo de trabajo; correo electrónico (trabajo); correo profesional; correo electrónico empresarial; correo laboral; email corporativo
		indirizzo email principale; indirizzo SMTP primario; email principale; indirizzo email; indirizzo di posta elettronica; posta elettronica; email aziendale; e-mail di lavoro; indirizzo email aziendale; email (lavoro); email lavorativa
		endereço de e-mail principal; endereço SMTP principal; endereço SMTP primário; e-mail principal; endereço de e-mail; endereço de correio eletrónico; endereço de correio eletrônico; correio eletrónico; correio eletrônico; e-mail corporativo; e-mail comercial; e-mail de trabalho; e-mail (trabalho); e-mail profissional; endereço de e-mail comercial
		primair e-mailadres; primair SMTP-adres; e-mailadres; primaire e-mail; zakelijk e-mailadres; zakelijke e-mail; e-mail (zakelijk); e-mail (werk); e-mail werk; werkmail
		podstawowy adres e-mail; podstawowy adres SMTP; adres e-mail; adres poczty elektronicznej; podstawowy e-mail; służbowy e-mail; służbowy adres e-mail; e-mail służbowy; e-mail (służbowy)
		primär e-postadress; primär SMTP-adress; e-postadress; e-post; e-post (arbete); e-postadress (arbete)
		primær e-mailadresse; primær SMTP-adresse; e-mailadresse; e-mail (arbejde); arbejdsmail
		primær e-postadresse; e-postadresse; e-post (jobb); e-post (arbeid)
		ensisijainen sähköpostiosoite; ensisijainen SMTP-osoite; sähköpostiosoite; sähköposti; työsähköposti; sähköposti (työ)
		primární e-mailová adresa; primární adresa SMTP; e-mailová adresa; pracovní e-mail; e-mail (práce)
		elsődleges e-mail-cím; e-mail-cím; birincil e-posta adresi; e-posta adresi; e-posta; adresă de e-mail
		основной адрес электронной почты; адрес электронной почты; электронная почта; рабочая почта; рабочий e-mail; адреса електронної пошти; електронна пошта
		メインのメールアドレス; プライマリ SMTP アドレス; 勤務先メール; 勤務先メールアドレス; メールアドレス; 電子メール アドレス; 電子メール; メール; 主要电子邮件地址; 工作邮箱; 电子邮件地址; 电子邮件; 電子郵件地址; 電子郵件; 이메일 주소; 전자 메일 주소; 이메일`,
	bareAddr: `address`,
	SignIn: `
		user principal name; UPN; user name; sign-in name; login name; logon name; login; Microsoft Online Services ID; Windows Live ID
		Benutzerprinzipalname; Benutzername; Anmeldename
		nom d'utilisateur principal; nom principal de l'utilisateur; nom d'utilisateur; nom de connexion; identifiant
		nombre principal de usuario; nombre principal del usuario; nombre de usuario; usuario
		nome dell'entità utente; nome entità utente; nome principale utente; nome utente
		nome principal do usuário; nome principal do utilizador; nome principal de utilizador; nome UPN; nome de usuário; nome de utilizador; nome do usuário; nome do utilizador
		user principal-naam; principal-naam van gebruiker; gebruikersnaam
		główna nazwa użytkownika; nazwa główna użytkownika; nazwa użytkownika
		användarens huvudnamn; användarnamn
		brugerens hovednavn; brugernavn
		brukerhovednavn; brukernavn
		täydellinen käyttäjätunnus; käyttäjätunnus; käyttäjänimi
		hlavní název uživatele; uživatelské jméno
		egyszerű felhasználónév; felhasználónév; kullanıcı asıl adı; kullanıcı adı
		имя участника-пользователя; имя пользователя
		ユーザー プリンシパル名; ユーザー名; 用户主体名称; 用户名; 사용자 이름`,
	LocalPart: `local part`,
	Domain: `
		domain; domain name
		Domäne; domaine; dominio; domínio; domein; domena; domän; domæne; domene; doména; домен; ドメイン; 域`,
	FirstName: `
		first name; given name; name.givenName; forename
		Vorname; prénom; nombre de pila; primer nombre; nome proprio; nome próprio; primeiro nome; voornaam; imię
		förnamn; fornavn; etunimi; křestní jméno; utónév; keresztnév; prenume; adı; 名; 名字`,
	LastName: `
		last name; surname; family name; name.familyName; sn
		Nachname; Familienname; nom de famille; apellidos; apellido; cognome; sobrenome; apelido; último nome; achternaam; nazwisko
		efternamn; efternavn; etternavn; sukunimi; příjmení; vezetéknév; családnév; soyadı; soyad; фамилия; прізвище; επώνυμο; 姓; 姓氏; 성`,
	DisplayName: `
		display name; full name; name.fullName
		Anzeigename; vollständiger Name; nom d'affichage; nom complet; nombre para mostrar; nombre completo; nome visualizzato; nome completo
		nome de exibição; nome a apresentar; weergavenaam; volledige naam; nazwa wyświetlana; imię i nazwisko; visningsnamn; fullständigt namn
		vist navn; visningsnavn; fulde navn; fullt navn; näyttönimi; koko nimi; zobrazované jméno; zobrazovaný název; celé jméno
		megjelenítendő név; teljes név; görünen ad; отображаемое имя; полное имя; 表示名; 氏名; 显示名称; 姓名; 표시 이름`,
	bareName: `name; nom; nombre; nome; naam; namn; navn; nimi; jméno; név; nume; ad; имя; ім'я; όνομα; 名前; 이름`,
	Status: `
		status; account status; user status; sign-in status; login status
		Kontostatus; Benutzerstatus; Anmeldestatus; statut; statut du compte; estado de la cuenta; estado del usuario; stato account; stato utente; status da conta; status do usuário
		accountstatus; status konta; stan konta; kontostatus; tilin tila; stav účtu; durum; статус; ステータス; 状态; 상태`,
	bareStatus: `estado; stato; état; stan; stav; tila; situação; állapot; состояние; 状態`,
	Blocked: `
		suspended; archived; disabled; blocked; deleted; deactivated; inactive; account disabled; is suspended; is archived; is disabled; is blocked; suspended login; userAccountControl
		block credential; block credentials; block sign-in; block sign in (yes/no); sign-in blocked; blocked sign-in
		Anmeldeinformationen blockieren; Anmeldeinformationen blockiert; Anmeldung blockieren; Anmeldung blockiert; gesperrt; blockiert; archiviert; deaktiviert; inaktiv
		bloquer les informations d'identification; informations d'identification bloquées; bloquer la connexion; connexion bloquée; bloqué; suspendu; archivé; désactivé; inactif
		bloquear credencial; bloquear credenciales; bloquear inicio de sesión; inicio de sesión bloqueado; bloqueado; suspendido; archivado; desactivado; deshabilitado; inactivo
		blocca credenziali; blocca accesso; accesso bloccato; bloccato; sospeso; archiviato; disattivato; disabilitato; inattivo
		bloquear credenciais; bloquear entrada; entrada bloqueada; suspenso; arquivado; desativado; inativo
		referentie blokkeren; aanmelden blokkeren; aanmelding blokkeren; geblokkeerd; geschorst; opgeschort; gearchiveerd; uitgeschakeld; inactief
		blokuj poświadczenia; zablokuj poświadczenia; zablokuj logowanie; zablokowany; zawieszony; zarchiwizowany; wyłączony; nieaktywny
		blockera autentiseringsuppgifter; blockera inloggning; blockerad; avstängd; arkiverad; inaktiverad
		bloker legitimationsoplysninger; bloker logon; blokeret; suspenderet; arkiveret; deaktiveret
		blokker legitimasjon; blokker pålogging; blokkert; suspendert; arkivert; deaktivert
		estä tunnistetiedot; estä sisäänkirjautuminen; estetty; jäädytetty; arkistoitu
		blokovat přihlašovací údaje; blokovat přihlášení; blokováno; pozastaveno; archivováno; zakázáno
		資格情報のブロック; サインインのブロック; ブロック; 停止; アーカイブ済み; 無効`,
	Enabled: `
		account enabled; enabled; active; is active; is enabled; sign-in allowed
		Konto aktiviert; aktiviert; aktiv; compte activé; activé; actif; cuenta habilitada; habilitado; activo; account abilitato; abilitato; attivo
		conta habilitada; conta ativada; ativo; ativado; account ingeschakeld; ingeschakeld; actief; konto włączone; włączone; aktywny; aktywne
		kontot aktiverat; aktiverad; konto aktiveret; aktiveret; konto aktivert; aktivert; tili käytössä; aktiivinen; účet povolen; aktivní; アカウントの有効化; 有効`,
	Kind: `
		recipient type details; recipient type; mailbox type; recipient display type; object class; object type
		Empfängertypdetails; Empfängertyp; Postfachtyp; Objektklasse; Objekttyp; type de destinataire; type de boîte aux lettres; classe d'objet; tipo de destinatario; tipo de buzón; clase de objeto
		tipo di destinatario; tipo destinatario; tipo di cassetta postale; tipo de destinatário; tipo de caixa de correio; type ontvanger; ontvangerstype; ontvangertype; typ odbiorcy; typ adresata; mottagartyp
		modtagertype; mottakertype; vastaanottajan tyyppi; vastaanottajatyyppi; typ příjemce; címzett típusa; alıcı türü; тип получателя; 受信者の種類; 收件人类型; 收件者類型; 받는 사람 유형`,
	deletion: `deleted date time; deletion time; deletion date; deleted on; deleted at; soft deletion time stamp; when soft deleted`,
	Aliases: `
		proxy addresses; proxy address; email addresses; mail addresses; SMTP addresses; smtp proxy addresses; all email addresses; emails; aliases; email aliases; mail aliases; alias addresses; email alias; mail alias; alias address
		Proxyadressen; E-Mail-Adressen; Aliasse; E-Mail-Aliasse; adresses proxy; adresses de proxy; adresses e-mail; direcciones proxy; direcciones de proxy; direcciones de correo electrónico
		indirizzi proxy; indirizzi e-mail; indirizzi di posta elettronica; endereços proxy; endereços de proxy; endereços de e-mail; e-mailadressen; adresy proxy; adresy serwera proxy; adresy e-mail
		proxyadresser; e-postadresser; e-mailadresser; välityspalvelinosoitteet; sähköpostiosoitteet; proxy adresy; e-mailové adresy; プロキシ アドレス`,
})

func parseHeaders(table map[Field]string) map[Field][]string {
	keys := make(map[Field][]string, len(table))
	for field, text := range table {
		for header := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
			if k := key(header); k != "" {
				keys[field] = append(keys[field], k)
			}
		}
	}
	return keys
}

// fold returns text in lower case and without accents, so that "Prénom" equals "PRENOM". It replaces all but
// letters and digits by spaces.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return ' '
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))
}

// key returns a header without everything that differs between products: "First Name [Required]" is
// "firstname".
func key(header string) string {
	header, _, _ = strings.Cut(norm.NFKD.String(header), "[")
	return strings.ReplaceAll(fold(header), " ", "")
}

// headerKeys are the keys of a header's cells, and the keys of the properties in brackets in Entra's templates, whose
// text is translated: "Benutzername [userPrincipalName] Erforderlich".
type headerKeys struct{ keys, properties []string }

func keysOf(cells []string) headerKeys {
	k := headerKeys{make([]string, len(cells)), make([]string, len(cells))}
	for i, cell := range cells {
		k.keys[i] = key(cell)
		if k.keys[i] == "archive" && !strings.Contains(strings.ToLower(norm.NFC.String(cell)), "é") {
			k.keys[i] = "" // Exchange's archive of a mailbox, not the French "archivé"
		}
		if _, rest, ok := strings.Cut(cell, "["); ok {
			property, _, _ := strings.Cut(rest, "]")
			k.properties[i] = key(property)
		}
	}
	return k
}

// columns returns the positions of a field's usual headers, the preferred ones first.
func (k headerKeys) columns(field Field) []int {
	var found []int
	add := func(keys []string, matches func(key string) bool) {
		for i, key := range keys {
			if key != "" && !slices.Contains(found, i) && matches(key) {
				found = append(found, i)
			}
		}
	}
	for _, usual := range usualHeaders[field] {
		add(k.keys, func(key string) bool { return key == usual })
	}
	switch field {
	case Aliases: // GAM's aliases.0, aliases.1 …, proxyAddresses[0]
		add(k.keys, func(key string) bool {
			return slices.Contains(usualHeaders[Aliases], strings.TrimRight(key, "0123456789"))
		})
	case Blocked: // The template asks "Block sign in (Yes/No) [accountEnabled]".
		add(k.properties, func(property string) bool { return property == "accountenabled" })
	case Enabled, bareName, bareAddr, bareStatus:
	default:
		add(k.properties, func(property string) bool { return slices.Contains(usualHeaders[field], property) })
	}
	return found
}

// listsAll reports whether a column of addresses contains also the mail address of the person, and not only aliases.
func listsAll(header string) bool {
	k := strings.TrimRight(key(header), "0123456789")
	return slices.Contains(usualHeaders[Aliases], k) && !strings.Contains(k, "alias")
}

// Parts of the keys of headers that can be about mail addresses, and of those about other addresses of a person or another
// person's.
var (
	mailWords      = strings.Fields(fold(`mail smtp courriel correo correio messagerie posta epost sähköposti почт пошт メール 邮 郵 메일`))
	otherMailWords = strings.Fields(`alternat recover second manager`)
)

// isAboutMail reports whether a header that is not understood may be about the mail address of a person.
func isAboutMail(header string) bool {
	contains := func(part string) bool { return strings.Contains(key(header), part) }
	return slices.ContainsFunc(mailWords, contains) && !slices.ContainsFunc(otherMailWords, contains)
}
