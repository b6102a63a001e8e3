package userlist_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/userlist"
)

// TestMailbox checks which address of a row is the mailbox, in the exports of other products.
func TestMailbox(t *testing.T) {
	t.Parallel()
	const entra = "userPrincipalName,displayName,surname,mail,givenName,userType,accountEnabled,alternateEmailAddress\n"
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"Entra: the mail address, not the sign-in name": {
			text: entra + "jdoe@example.com,Jane Doe,Doe,jane.doe@example.com,Jane,Member,True,j@home.example\n",
			want: []string{"2 jane.doe@example.com: Jane|Doe signs in as jdoe@example.com"},
		},
		"Entra: a sign-in name of another domain": {
			text: entra + "joe@corp.onmicrosoft.com,Joe Roe,Roe,joe@example.com,Joe,Member,True,\n",
			want: []string{"2 joe@example.com: Joe|Roe signs in as joe@corp.onmicrosoft.com"},
		},
		"Entra: a mail address of another domain": {
			text: entra + "joe@example.com,Joe Roe,Roe,joe@home.example,Joe,Member,True,\n",
			want: []string{"other: home.example 1", "2 joe@home.example: other domain, although it contains joe@example.com"},
		},
		"Entra: a row without a mail address": {
			text: entra + "joe@example.com,Joe Roe,Roe,,Joe,Member,True,\n",
			want: []string{"2 joe@example.com: Joe|Roe"},
		},
		"Entra: guests": {
			text: entra + "ann_lee_partner.example#EXT#@corp.onmicrosoft.com,Ann,Lee,,Ann,Guest,True,\nbob_partner.example#EXT#@corp.onmicrosoft.com,Bob,Lee,bob@partner.example,Bob,Guest,True,\neve_example.com#EXT#@corp.onmicrosoft.com,Eve,Lee,,Eve,Guest,True,\n",
			want: []string{"4 eve@example.com: Eve|Lee", "other: partner.example 2", "2 ann_lee@partner.example: other domain", "3 bob@partner.example: other domain"},
		},
		"Microsoft 365: the primary proxy address": {
			text: "Block credential,Display name,First name,Last name,Proxy addresses,User principal name,Title\n" +
				"False,Jane Doe,Jane,Doe,SMTP:jane.doe@example.com+smtp:jdoe@example.com+smtp:jdoe@corp.onmicrosoft.com,jdoe@example.com,\n" +
				"False,Joe Roe,Joe,Roe,SPO:SPO_1@SPO_2+SIP:joe@corp.onmicrosoft.com+smtp:joe+news@example.com+SMTP:joe@example.com,joe@corp.onmicrosoft.com,\n" +
				"False,Zoe Low,Zoe,Low,,zoe@example.com,\n" +
				"False,Max Far,Max,Far,SMTP:max@far.example+smtp:max@example.com,max@far.example,\n",
			want: []string{
				"2 jane.doe@example.com: Jane|Doe +2 signs in as jdoe@example.com", "3 joe@example.com: Joe|Roe +1 signs in as joe@corp.onmicrosoft.com", "4 zoe@example.com: Zoe|Low",
				"other: far.example 1", "5 max@far.example: other domain, although it contains max@example.com",
			},
		},
		"PowerShell: Get-Mailbox": {
			text: "#TYPE Selected.Microsoft.Exchange.Data.Directory.Management.Mailbox\n" +
				`"DisplayName","Alias","PrimarySmtpAddress","EmailAddresses","RecipientType","RecipientTypeDetails","UserPrincipalName","WindowsEmailAddress","AccountDisabled","ArchiveStatus"` + "\n" +
				`"Jane Doe","jdoe","jane.doe@example.com","SMTP:jane.doe@example.com smtp:jdoe@example.com X500:/o=ExchangeLabs/cn=Recipients, Jane","UserMailbox","UserMailbox","jdoe@example.com","jane.doe@example.com","False","None"` + "\n" +
				`"Front Office","office","office@example.com","{SMTP:office@example.com}","UserMailbox","SharedMailbox","office@corp.onmicrosoft.com","office@example.com","True","None"` + "\n" +
				`"Old Joe","joe","joe@example.com","System.Collections.ArrayList","UserMailbox","UserMailbox","joe@example.com","joe@example.com","True","None"` + "\n" +
				`"Discovery Search","d","discovery@example.com","","UserMailbox","DiscoveryMailbox","discovery@example.com","","True","None"` + "\n",
			want: []string{
				"3 jane.doe@example.com: Jane|Doe +1 signs in as jdoe@example.com", "4 office@example.com: Front|Office signs in as office@corp.onmicrosoft.com", "5 joe@example.com: Old|Joe inactive",
				"6 discovery@example.com: no mailbox",
			},
		},
		"PowerShell: Get-Recipient": {
			text: "RecipientTypeDetails,PrimarySmtpAddress,FirstName,LastName,DisplayName\nUserMailbox,jane@example.com,Jane,Doe,\nRoomMailbox,room@example.com,,,Room 1\nEquipmentMailbox,car@example.com,,,Car 1\n" +
				"MailContact,c@example.com,C,D,\nMailUser,u@example.com,C,D,\nGuestMailUser,,C,D,\nMailUniversalDistributionGroup,all@example.com,,,All\nGroupMailbox,team@example.com,,,Team A\nRemoteUserMailbox,far@example.com,Far,Off,\n",
			want: []string{
				"2 jane@example.com: Jane|Doe", "3 room@example.com: Room|1", "4 car@example.com: Car|1", "10 far@example.com: Far|Off",
				"5 c@example.com: no mailbox", "6 u@example.com: no mailbox", "7 : no mailbox", "8 all@example.com: no mailbox", "9 team@example.com: no mailbox",
			},
		},
		"PowerShell: Get-ADUser": {
			text: "DistinguishedName,EmailAddress,Enabled,GivenName,Name,proxyAddresses,SamAccountName,Surname,UserPrincipalName\n" +
				"\"CN=Jane,DC=corp\",,True,Jane,Jane Doe,SMTP:jane@example.com;smtp:jd@example.com,jdoe,Doe,jdoe@corp.local\n\"CN=Joe,DC=corp\",joe@example.com,False,Joe,Joe Roe,,joe,Roe,joe@corp.local\n",
			want: []string{"2 jane@example.com: Jane|Doe +1 signs in as jdoe@corp.local", "3 joe@example.com: Joe|Roe inactive signs in as joe@corp.local"},
		},
		"GAM": {
			text: "primaryEmail,aliases,aliases.0,aliases.1,archived,emails.0.address,emails.1.address,name.familyName,name.fullName,name.givenName,nonEditableAliases.0,recoveryEmail,suspended\n" +
				"jane@example.com,2,j@example.com,jd@example.com,False,jane@home.example,jane@example.com,Doe,Jane Doe,Jane,jane@example.com.test-google-a.com,jane@home.example,False\n" +
				"joe@example.com,0,,,True,,,Roe,Joe Roe,Joe,,,False\nmax@example.com,0,,,False,,,Old,Max Old,Max,,,True\n",
			want: []string{"2 jane@example.com: Jane|Doe +2", "3 joe@example.com: Joe|Roe inactive", "4 max@example.com: Max|Old inactive"},
		},
		"Google Workspace: other people's and private addresses": {
			text: "First Name [Required],Last Name [Required],Email Address [Required],Status [READ ONLY],Recovery Email,Home Secondary Email,Work Secondary Email,Manager Email,New Primary Email [UPLOAD ONLY],Work Address\n" +
				"Jane,Doe,jane@example.com,Archived,r@example.com,h@example.com,w@example.com,boss@example.com,new@example.com,Street 1\n",
			want: []string{"2 jane@example.com: Jane|Doe inactive"},
		},
		"Zoho":                          {"Email address,First Name,Last Name,Display Name,Status\njane@example.com,Jane,Doe,Jane,Inactive\n", []string{"2 jane@example.com: Jane|Doe inactive"}},
		"Okta":                          {"login,email,firstName,lastName,secondEmail,status\njdoe@example.com,jane@example.com,Jane,Doe,j@home.example,DEPROVISIONED\n", []string{"2 jane@example.com: Jane|Doe inactive signs in as jdoe@example.com"}},
		"Microsoft's template":          {"User Name,First Name,Last Name,Display Name,Address,Alternate email address\njane@example.com,Jane,Doe,Jane Doe,Street 1,j@example.com\n", []string{"2 jane@example.com: Jane|Doe"}},
		"Entra's template":              {"version:v1.0,,,\nName [displayName] Required,User name [userPrincipalName] Required,Initial password [passwordProfile] Required,Block sign in (Yes/No) [accountEnabled] Required\nJane Doe,jane@example.com,x,Yes\n", []string{"3 jane@example.com: Jane|Doe inactive"}},
		"Entra's template, in German":   {"version:v1.0\nName [displayName] Erforderlich,Benutzername [userPrincipalName] Erforderlich,Anmeldung sperren? (Ja/Nein) [accountEnabled] Erforderlich\nJane Doe,jane@example.com,Nein\n", []string{"3 jane@example.com: Jane|Doe"}},
		"a user name and an address":    {"username,address,name\njdoe,jane@example.com,Jane Doe\n", []string{"2 jane@example.com: Jane|Doe"}},
		"a title, and an empty row":     {"Staff of Nordwind;;\n;;\nName;Vorname;E-Mail\nDoe;Jane;jane@example.com\n;;x\n", []string{"4 jane@example.com: Jane|Doe", "line 5: x: is not an address that a mailbox can have: address must contain an @, as in jane@example.com"}},
		"a quoted line for a separator": {"\"sep=,\"\naddress,name\njane@example.com,Jane Doe\n", []string{"3 jane@example.com: Jane|Doe"}},
		"a quoted line, and semicolons": {"\"sep=;\"\naddress;name\njane@example.com;Jane Doe\nx;y\n", []string{"3 jane@example.com: Jane|Doe", "line 4 (row 3): x: is not an address that a mailbox can have: address must contain an @, as in jane@example.com"}},
		"addresses without SMTP:": {
			text: "Display Name,Email Addresses,User Principal Name\nJane Doe,jane.doe@example.com,jdoe@example.com\nJo Roe,\"jo@corp.example, jo.roe@example.com\",jo@corp.example\nAl Poe,\"al@corp.example, al.poe@example.com\",apoe@example.com\n" +
				"Zoe Low,\"zoe@example.com z@example.com\",zoe@example.com\nBo Fox,bo@far.example b@far.example,bo@far.example\nEd Ray,\"e@example.com;ed@example.com\",ed@example.com\nUma Orr,smtp:u@example.com,uma@example.com\nIan May,SIP:i@example.com,ian@example.com\nEva Kay,none,eva@example.com\n",
			want: []string{
				"2 jane.doe@example.com: Jane|Doe signs in as jdoe@example.com", "4 al.poe@example.com: Al|Poe +1 signs in as apoe@example.com", "5 zoe@example.com: Zoe|Low +1",
				"8 uma@example.com: Uma|Orr +1", "9 ian@example.com: Ian|May", "10 eva@example.com: Eva|Kay",
				`line 7: ed@example.com: "Email Addresses" lists 2 addresses and marks none with SMTP: as the mail address; write SMTP: before it, or remove the others`,
				"other: corp.example 1", "other: far.example 1",
				"3 jo@corp.example: other domain, although it contains jo.roe@example.com", "6 bo@far.example: other domain",
			},
		},
		"aliases beside a user name": {"username,aliases,name\njane@example.com,j@example.com,Jane Doe\n", []string{"2 jane@example.com: Jane|Doe +1"}},
		"lists in JSON, blanks": {
			text: "displayName;proxyAddresses;userPrincipalName\nJane Doe;\"[\"\"smtp:j@example.com\"\",\"\"SMTP:jane.doe@example.com\"\"]\";jdoe@example.com\nJo Roe;['smtp:j2@example.com', 'SMTP:jo.roe@example.com'];jo@example.com\nAl Poe;smtp: a@example.com,SMTP: al.poe@example.com;al@example.com\n",
			want: []string{"2 jane.doe@example.com: Jane|Doe +1 signs in as jdoe@example.com", "3 jo.roe@example.com: Jo|Roe +1 signs in as jo@example.com", "4 al.poe@example.com: Al|Poe +1 signs in as al@example.com"},
		},
		"numbered columns":     {"displayName,proxyAddresses.0,proxyAddresses.1,userPrincipalName\nJane Doe,smtp:j@example.com,SMTP:jane.doe@example.com,jdoe@example.com\n", []string{"2 jane.doe@example.com: Jane|Doe +1 signs in as jdoe@example.com"}},
		"columns with indices": {"displayName,EmailAddresses[0],EmailAddresses[1],userPrincipalName\nJane Doe,smtp:j@example.com,SMTP:jane.doe@example.com,jdoe@example.com\n", []string{"2 jane.doe@example.com: Jane|Doe +1 signs in as jdoe@example.com"}},
		"one proxy address":    {"displayName,ProxyAddress,userPrincipalName\nJane Doe,SMTP:jane.doe@example.com,jdoe@example.com\n", []string{"2 jane.doe@example.com: Jane|Doe signs in as jdoe@example.com"}},
		"names of types": {
			text: "DisplayName,EmailAddresses,ProxyAddresses,UserPrincipalName\nJane Doe,System.Collections.ArrayList,,jdoe@example.com\nJo Roe,,System.Collections.Generic.List`1[System.String],jo@example.com\nAl Poe,System.String[],SMTP:al.poe@example.com,al@example.com\n",
			want: []string{
				"4 al.poe@example.com: Al|Poe signs in as al@example.com",
				`line 2: jdoe@example.com: the cell "System.Collections.ArrayList" in "EmailAddresses" contains no address, so that the mailbox is not known; export the addresses as text, in PowerShell with @{n="EmailAddresses";e={$_.EmailAddresses -join ";"}}`,
				"line 3: jo@example.com: the cell \"System.Collections.Generic.List`1[System.String]\" in \"ProxyAddresses\" contains no address, so that the mailbox is not known; export the addresses as text, in PowerShell with @{n=\"ProxyAddresses\";e={$_.ProxyAddresses -join \";\"}}",
			},
		},
		"Excel's apostrophe":                       {"address,name\n'jim@example.com,Jim Roe\n", []string{"2 jim@example.com: Jim|Roe"}},
		"Slack: a full name":                       {"username,email,status,billing-active,fullname,displayname\njane,jane@example.com,Active,1,Jane Doe,jane\n", []string{"2 jane@example.com: Jane|Doe"}},
		"Exchange's archive is no status":          {"Email,Name,Archive\na@example.com,A B,Yes\n", []string{"2 a@example.com: A|B"}},
		"a French status":                          {"Email;Name;ARCHIVÉ\na@example.com;A B;Oui\n", []string{"2 a@example.com: A|B inactive"}},
		"Graph: the time of a deletion":            {"displayName,mail,deletedDateTime,accountEnabled\nA B,a@example.com,2024-01-01T00:00:00Z,true\nC D,c@example.com,,true\n", []string{"2 a@example.com: A|B inactive", "3 c@example.com: C|D"}},
		"Exchange's kinds, in German":              {"Anzeigename;E-Mail-Adresse;Empfängertyp\nAlle Leute;all@example.com;Verteilergruppe\nKon Takt;kt@example.com;E-Mail-Kontakt\nJane Doe;jane@example.com;Benutzerpostfach\n", []string{"4 jane@example.com: Jane|Doe", "2 all@example.com: no mailbox", "3 kt@example.com: no mailbox"}},
		"a private address and one of the company": {"First Name,Last Name,Email,Company Email\nAnn,Lee,ann@gmail.example,ann@example.com\n", []string{"2 ann@example.com: Ann|Lee"}},
		"a switch in a column named SMTP":          {"First Name,Last Name,User name,SMTP,Mail\nAnn,Lee,a.lee@example.com,Enabled,ann@example.com\nBob,Lee,bob@example.com,Enabled,\n", []string{"2 ann@example.com: Ann|Lee signs in as a.lee@example.com", "3 bob@example.com: Bob|Lee"}},
		"LDAP servers: the objectClass":            {"objectClass,displayName,mail\ntop;person;inetuser;ipasshuser;ipaSshGroupOfPubKeys,Jane Doe,jane@example.com\ntop;person;inetOrgPerson;ipUser;inetMailUser,Joe Roe,joe@example.com\ninetOrgPerson;shadowAccount;amavisAccount;mailUser,Zoe Low,zoe@example.com\n", []string{"2 jane@example.com: Jane|Doe", "3 joe@example.com: Joe|Roe", "4 zoe@example.com: Zoe|Low"}},
		"Active Directory: the objectClass":        {"DN,objectClass,displayName,mail\nx,user,Jane Doe,jane@example.com\nx,top;group,Team X,team@example.com\nx,top;person;organizationalPerson;contact,Con Tact,con@example.com\nx,top;person;organizationalPerson;user,Jo Roe,jo@example.com\n", []string{"2 jane@example.com: Jane|Doe", "5 jo@example.com: Jo|Roe", "3 team@example.com: no mailbox", "4 con@example.com: no mailbox"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := userlist.Parse(tc.text, userlist.Options{Domains: []string{"example.com"}})
			assert.NilError(t, err)
			got := describe(l)
			assert.Check(t, len(l.OtherMail) == 0 && len(l.UnknownKinds) == 0, "%v %v", l.OtherMail, l.UnknownKinds)
			for _, r := range l.Rejected {
				line := fmt.Sprintf("%d %s: %s", r.Line, r.Address, r.Cause)
				if r.Local != "" {
					line += ", although it contains " + r.Local
				}
				if r.Cause != userlist.Invalid {
					got = append(got, line)
				}
			}
			assert.Check(t, len(l.UnknownStatuses) == 0, "%+v", l.UnknownStatuses)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLanguages reads the headers of Google's and Microsoft's exports in other languages: the address or sign-in name,
// the first and the last name, and a status, of somebody who is suspended.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for header, status := range map[string]string{
		"Email Address [Required];First Name [Required];Last Name [Required];Status [READ ONLY]":                           "Suspended",
		"E-Mail-Adresse [Erforderlich];Vorname [Erforderlich];Nachname [Erforderlich];Status [Schreibgeschützt]":           "Gesperrt",
		"Adresse e-mail [Obligatoire];Prénom [Obligatoire];Nom [Obligatoire];État [LECTURE SEULE]":                         "Suspendu",
		"Dirección de correo electrónico [Obligatorio];Nombre [Obligatorio];Apellidos [Obligatorio];Estado [SOLO LECTURA]": "Suspendido",
		"Indirizzo email [Obbligatorio];Nome [Obbligatorio];Cognome [Obbligatorio];Stato [SOLA LETTURA]":                   "Sospeso",
		"Endereço de e-mail [Obrigatório];Nome [Obrigatório];Sobrenome [Obrigatório];Status [SOMENTE LEITURA]":             "Suspenso",
		"E-mailadres [Vereist];Voornaam [Vereist];Achternaam [Vereist];Status [ALLEEN LEZEN]":                              "Opgeschort",
		"Adres e-mail [wymagane];Imię [wymagane];Nazwisko [wymagane];Stan konta [TYLKO DO ODCZYTU]":                        "Zawieszone",
		"E-postadress [Obligatoriskt];Förnamn [Obligatoriskt];Efternamn [Obligatoriskt];Status [SKRIVSKYDDAD]":             "Avstängd",
		"メールアドレス［必須］;名［必須］;姓［必須］;ステータス［読み取り専用］":                                                                            "停止中",
		"Benutzerprinzipalname;Vorname;Nachname;Anmeldung blockiert":                                                       "WAHR",
		"Nom d’utilisateur principal;Prénom;Nom;Connexion bloquée":                                                         "VRAI",
		"Nombre principal de usuario;Nombre;Apellidos;Bloquear credencial":                                                 "VERDADERO",
		"Nome dell'entità utente;Nome;Cognome;Blocca credenziali":                                                          "VERO",
		"Nome principal do usuário;Nome;Sobrenome;Bloquear credencial":                                                     "Verdadeiro",
		"User principal name;Voornaam;Achternaam;Aanmelding blokkeren":                                                     "Ja",
		"Główna nazwa użytkownika;Imię;Nazwisko;Blokuj poświadczenia":                                                      "PRAWDA",
		"Användarens huvudnamn;Förnamn;Efternamn;Blockera autentiseringsuppgifter":                                         "SANT",
		"Brugerens hovednavn;Fornavn;Efternavn;Bloker legitimationsoplysninger":                                            "SAND",
		"Brukerhovednavn;Fornavn;Etternavn;Blokker legitimasjon":                                                           "SANN",
		"Täydellinen käyttäjätunnus;Etunimi;Sukunimi;Estä tunnistetiedot":                                                  "TOSI",
		"Hlavní název uživatele;Jméno;Příjmení;Blokovat přihlašovací údaje":                                                "Ano",
		"ユーザー プリンシパル名;名;姓;資格情報のブロック":                                                                                       "はい",
		"用户主体名称;名字;姓氏;accountEnabled":                                                                                      "否",
		"Имя участника-пользователя;Имя;Фамилия;accountEnabled":                                                            "ложь",
		"E-MAIL-ADRESSE;VORNAME;NAME;aktiv":                                                                                "nein",
		"Courriel;Prenom;Nom de famille;actif":                                                                             "0",
		"Work Email;Primary Email;FirstName;Name;account_enabled":                                                          "",
		"Primäre SMTP-Adresse;Vorname;Name;Kontostatus":                                                                    "Deaktiviert",
		"primary_email;first_name;last_name;status":                                                                        "suspended",
		"Adresse SMTP principale;Prénom;Nom;Statut":                                                                        "Désactivé(e) par l’administrateur",
		"Dirección SMTP principal;Nombre;Apellido;Estado de la cuenta":                                                     "Deshabilitada",
		"Sähköpostiosoite;Etunimi;Sukunimi;Tila":                                                                           "Ei käytössä",
		"E-mailová adresa;Křestní jméno;Příjmení;Stav":                                                                     "Pozastavený",
		"E-posta adresi;Ad;Soyad;Durum":                                                                                    "Pasif",
	} {
		row := "jane@example.com;Jane;Doe;" + status
		if strings.HasPrefix(header, "Work Email") {
			row = "w@example.com;jane@example.com;Jane;Doe;no"
		}
		if strings.HasPrefix(header, "Имя") {
			row = "jane@example.com;Jane;Doe;ложь"
		}
		l, err := userlist.Parse(header+"\n"+row+"\n", userlist.Options{})
		if assert.Check(t, err == nil, "%s: %v", header, err) {
			assert.Check(t, slices.Equal(describe(l), []string{"2 jane@example.com: Jane|Doe inactive"}), "%s: %s %+v", header, describe(l), l.UnknownStatuses)
		}
	}
}

// TestMailHeaders reads the mail address from columns with other headers than the sign-in name.
func TestMailHeaders(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"Primary SMTP", "Primary Mail", "SMTP", "Email Addresses", "ProxyAddresses.0", "emails", "Work email", "Business Email Address", "Company e-mail", "E-Mail (geschäftlich)", "Dienstliche E-Mail-Adresse", "E-mail professionnel", "Correo corporativo", "Email aziendale", "E-mail (zakelijk)"} {
		l, err := userlist.Parse(header+",Display Name,User Principal Name\njane.doe@example.com,Jane Doe,jdoe@example.com\n", userlist.Options{})
		if assert.Check(t, err) {
			assert.Check(t, slices.Equal(describe(l), []string{"2 jane.doe@example.com: Jane|Doe signs in as jdoe@example.com"}), "%s: %s", header, describe(l))
		}
	}
}

// TestOtherMail checks that columns with mail addresses that are not understood are named, unless the row has a mail
// address anyway.
func TestOtherMail(t *testing.T) {
	t.Parallel()
	l, err := userlist.Parse("Mail of the person,Recovery Email,Phone,Display Name,User Principal Name\njane.doe@example.com,j@home.example,jane@example.com,Jane Doe,jdoe@example.com\njo@example.com,,,Jo Roe,jo@example.com\n", userlist.Options{Domains: []string{"example.com"}})
	assert.Check(t, err == nil && maps.Equal(l.OtherMail, map[string]int{"Mail of the person": 1}), "%+v, %v", l, err)
	l, err = userlist.Parse("Work Secondary Email,Display Name,Email\nj@example.com,Jane Doe,jane@example.com\n", userlist.Options{})
	assert.Check(t, err == nil && len(l.OtherMail) == 0, "%+v, %v", l, err)
}

// TestKinds checks which kinds of recipients are mailboxes.
func TestKinds(t *testing.T) {
	t.Parallel()
	const mailbox, none, unknown = "mailbox", "no mailbox", "unknown"
	for want, kinds := range map[string][]string{
		mailbox: {"UserMailbox", "Shared", "User mailbox", "Room", "TeamMailbox", "Boîte aux lettres utilisateur", "Buzón de usuario", "Cassetta postale utente", "Caixa de Correio de Usuário", "Gebruikerspostvak", "Skrzynka pocztowa użytkownika", "Användarpostlåda", "Freigegebenes Postfach", "共有メールボックス"},
		none: {"MailUser", "User", "Distribution list", "DynamicDistributionGroup", "Mail contact", "Verteilerliste", "Verteilergruppe", "E-Mail-Kontakt", "E-Mail-Benutzer", "Sicherheitsgruppe", "Liste de distribution", "Groupe de sécurité", "Contact de messagerie", "Grupo de distribución", "Contacto de correo", "Lista di distribuzione", "Contatto di posta",
			"Lista de Distribuição", "Distributiegroep", "Lista dystrybucyjna", "Distributionslista", "Jakeluryhmä", "Distribuční skupina", "Группа рассылки", "配布グループ", "通讯组", "Raumliste", "Öffentlicher Ordner", "Gastbenutzer", "DiscoveryMailbox"},
		unknown: {"Benutzer", "Robot"},
	} {
		for _, kind := range kinds {
			l, err := userlist.Parse("address,name,Recipient type\njane@example.com,Jane Doe,"+kind+"\n", userlist.Options{})
			assert.NilError(t, err)
			got := mailbox
			if len(l.Users) == 0 {
				got = none
			} else if len(l.UnknownKinds) > 0 {
				got = unknown
			}
			assert.Check(t, got == want, "%s is %s; want %s", kind, got, want)
		}
	}
}

// TestStatuses checks the meanings of statuses and flags.
func TestStatuses(t *testing.T) {
	t.Parallel()
	const inactive, active, unknown = "inactive", "active", "unknown"
	for column, values := range map[string]map[string][]string{
		"Status": {
			inactive: {"Suspended", "SUSPENDED", "Suspended (admin)", "Disabled by admin", "Archived", "Archived user", "Deleted", "inactive", "not active", "Account disabled", "Sign-in blocked", "no longer active", "DEPROVISIONED",
				"Gesperrt", "gesperrt (Administrator)", "Deaktiviert", "nicht aktiv", "Archiviert", "Suspendu", "Suspendue", "Archivé", "Désactivé", "Non actif", "Bloqueado", "Inhabilitado", "Sospeso", "Suspenso", "Inativo", "Excluído",
				"Geblokkeerd", "Inactief", "Zablokowany", "Nieaktywny", "Usunięty", "Spärrad", "Ikke aktiv", "Ei aktiivinen", "Neaktivní", "停止", "無効", "アーカイブ済み", "Заблокирован", "Неактивен",
				"Pas actif", "N'est plus actif", "Не активен", "Ya no está activo", "Não ativo", "Nicht mehr aktiv", "Není aktivní", "In-active", "De-activated", "isn't active", "isn’t active", "cannot be active", "Sospeso; mai attivo", "NOT_ACTIVE", "非アクティブ", "未激活", "无效", "비활성"},
			active: {"Active", "ACTIVE", "active", "Enabled", "Sign-in allowed", "not suspended", "Aktiv", "Actif", "Activo", "Attivo", "Ativo", "Actief", "Aktywny", "Aktivní", "Aktiivinen", "Käytössä", "有効", "アクティブ", "Активен",
				"не заблокирован", "Never suspended", "Neither suspended nor archived", "Not verified; active", "No license, active", "Active (no license)", "Sans licence, actif", "Sin licencia; activo", "Ohne Lizenz, aktiv", "Sem licença - ativo", "Senza licenza (attivo)", "Jamais suspendu", "Nunca suspendido", "nie gesperrt", "有效"},
			unknown: {"", "Pausiert", "Pending", "Activation pending", "Invited", "STAGED", "LOCKED_OUT", "On leave", "no", "TRUE", "active, suspended before", "?", "7",
				"Not verified active", "No license active", "suspended: no", "active: no", "Aktif değil", "有効ではありません", "활성 아님", "Ni actif ni suspendu", "Not pending", "Never logged in", "unsuspended", "Neither active nor suspended", "Enabled=false", "Suspended=False", "Formerly active", "停止していません"},
		},
		"suspended": {
			inactive: {"True", "TRUE", "true", "yes", "Y", "1", "x", "ja", "Oui", "WAHR", "VRAI", "Sí", "verdadero", "VERO", "Sim", "Tak", "Ano", "Kyllä", "はい", "suspended"},
			active:   {"", "False", "FALSE", "no", "N", "0", "nein", "Non", "FALSCH", "FAUX", "não", "Nee", "Nie", "Nej", "Ei", "Ne", "いいえ", "active", "not suspended"},
			unknown:  {"maybe", "2026-01-31"},
		},
		"accountEnabled": {
			inactive: {"False", "false", "no", "0", "FALSCH", "faux", "Nein", "disabled"},
			active:   {"True", "yes", "1", "WAHR", "vrai", "oui", "enabled"},
			unknown:  {"", "maybe"},
		},
		"userAccountControl": {inactive: {"514", "66050"}, active: {"512", "66048", ""}},
		"Block credential":   {inactive: {"True", "Ja", "blocked"}, active: {"False", "allowed", ""}, unknown: {"?"}},
	} {
		for want, texts := range values {
			for _, text := range texts {
				l, err := userlist.Parse(fmt.Sprintf("address,name,%s\njane@example.com,Jane Doe,%q\n", column, text), userlist.Options{})
				assert.NilError(t, err)
				got := active
				if l.Users[0].Inactive {
					got = inactive
				} else if len(l.UnknownStatuses) > 0 {
					got = unknown
				}
				assert.Check(t, got == want, "%s %q is %s; want %s", column, text, got, want)
			}
		}
	}
}

func TestActiveOnlyErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"address,name\na@example.com,A B\n": `the first row has no column with the status (such as "Status", "suspended", "Block credential" or "accountEnabled"); its columns are "address", "name"`,
		"address,name,status\na@example.com,A B,On leave\nb@example.com,A B,On leave\nc@example.com,A B,\nd@example.com,A B,suspended\n": `these statuses are not understood: "On leave" in "status" (2), an empty cell in "status" (1)`,
	} {
		_, err := userlist.Parse(text, userlist.Options{ActiveOnly: true})
		assert.Check(t, err != nil && err.Error() == want, "%v\nwant %s", err, want)
	}
	// Another column says it, or the kind of the mailbox does.
	for _, text := range []string{
		"address,name,status,suspended\na@example.com,A B,,False\n",
		"address,name,status,suspended\na@example.com,A B,On leave,True\n",
		"address,name,accountEnabled,RecipientTypeDetails\na@example.com,A B,False,SharedMailbox\n",
	} {
		l, err := userlist.Parse(text, userlist.Options{ActiveOnly: true})
		assert.Check(t, err == nil && len(l.Users)+len(l.Rejected) == 1, "%s: %v", text, err)
	}
}

func TestSimilarDomain(t *testing.T) {
	t.Parallel()
	wanted := []string{"nordwind.com"}
	for _, name := range []string{"nordwnid.com", "nordwin.com", "nordwindd.com", "nordwimd.com", "nordwind.con", "nordwind.co", "nordwind.cmo", "ordwind.com", "nordwind.comm"} {
		assert.Check(t, userlist.SimilarDomain(name, wanted) == "nordwind.com", "%s", name)
	}
	for _, name := range []string{"nordwind.com", "nordwind.de", "norwdind.cmo", "nord.com", "", "mail.nordwind.com"} {
		assert.Check(t, userlist.SimilarDomain(name, wanted) == "", "%s", name)
	}
}

// TestWriteRejected checks that the file of rejected rows, corrected, can be read again.
func TestWriteRejected(t *testing.T) {
	t.Parallel()
	o := userlist.Options{Domains: []string{"example.com"}, ActiveOnly: true}
	l, err := userlist.Parse("Staff\naddress;name;suspended;note\na@example.com;A B;no;\nb@exmaple.com;A B;no;=1+1\nc@example.com;A B;yes;\nd@example.com;\"A\";no;\"two\nlines\"\na@example.com;A B;no;\n"+
		"e@example.com;E \"Bobby\" B;no;\nf@example.com;A B;no;;more\ng@example.com;\"A B;no;\nh@example.com;A B;no;\n", o)
	assert.NilError(t, err)
	var file strings.Builder
	assert.NilError(t, l.WriteRejected(&file))
	want := `left out because;address;name;suspended;note
line 4: the address is in the domain exmaple.com;b@exmaple.com;A B;no;=1+1
line 5: not active at the old host;c@example.com;A B;yes;
"line 6: the first name is empty, and a mailbox needs one; fill it in, for instance with the team's name";d@example.com;A;no;"two
lines"
"line 8 (row 7): line 3 has this address already (upper and lower case are the same address); remove one of the two rows";a@example.com;A B;no;
"line 9 (row 8): a quotation mark in the middle of a cell; put the whole cell in quotation marks, and double those within it: ""Bob """"Bobby"""" Smith""";e@example.com;"E ""Bobby"" B";no;
"line 10 (row 9): the row has 5 cells and the header 4; put a cell that contains ';' in quotation marks";f@example.com;A B;no;;more
"line 11 (row 10): a quotation mark opens a cell that nothing closes up to line 12, and the rows between are not read; close it";g@example.com;A B;no;
"line 11 (row 10): a quotation mark opens a cell that nothing closes up to line 12, and the rows between are not read; close it";h@example.com;A B;no;
`
	if diff := cmp.Diff(want, file.String()); diff != "" {
		t.Error(diff)
	}
	again, err := userlist.Parse(file.String(), o)
	assert.Check(t, err == nil && len(again.Users) == 4 && len(again.Rejected) == 4, "%+v, %v; want a, e, g and h", again, err)
	var second strings.Builder
	assert.NilError(t, again.WriteRejected(&second))
	assert.Check(t, strings.HasPrefix(second.String(), "left out because;address;name;suspended;note\n") && strings.Contains(second.String(), "\nline 2: the address is in the domain exmaple.com;b@exmaple.com;A B"), "%s", second.String())
}
