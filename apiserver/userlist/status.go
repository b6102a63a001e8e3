package userlist

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// activity is the meaning of a status.
type activity int

const (
	unclear activity = iota
	active
	inactive
)

// The beginnings of words in the statuses of mail hosts, folded, in their languages. Beginnings, because most of
// the languages inflect the words.
var (
	inactiveWords = strings.Fields(fold(`suspen archiv arkiv arquiv gearchiv zarchiv inactiv inaktiv inattiv inativ inactie nieakt neakt passiv
		bloc blok bloq geblok zablok deact deakt desact desativ disatt dezakt gedeact disab deshab inhab desab
		delet deprovision terminat gelösch supprim elimin borrad exclui verwijd usunię smaz slett radera borttag pois torolt silin
		gesperr sperr spærr spärr sospes geschors opgeschor zawiesz avstäng stans jäädyt keskeyt estet pozastav zakáz odstran wyłącz uitgeschak
		felfüggeszt letilt askıya devre pasif inactif заблок приостан неактив удал архив отключ призупин
		停止 一時停止 無効 アーカイブ 削除 ブロック 停用 暂停 已暂停 已停用 已删除 禁用 已禁用 无效 失效 已失效 未激活 未启用 非活动 不活跃 非アクティブ 정지 일시정지 비활성`))
	activeWords = strings.Fields(fold(`activ aktiv actif actie attiv ativ aktyw aktiiv aktif etkin enabl habilit abilit ingeschak geactiv włącz povol käytöss
		allow erlaub zugelass autoris permit toegest tillat tillåt dozwol sallit актив включ
		有効 アクティブ 許可 启用 已启用 激活 已激活 有效 正常 활성`))
	unclearWords  = strings.Fields(fold(`pending invit expir former previous ehemal früher ausstehend eingeladen attente attesa pendient pendent wachten oczekuj vent odot čeká 保留 招待`))
	negatingWords = strings.Fields(fold(`not t cannot no non never without neither nor nicht weder kein keine keinen nie niemals ohne pas n aucun aucune jamais sans ni sin nunca ningún ninguna não nem nunca sem nenhum nenhuma mai senza nessun nessuna
		niet geen nooit zonder nej ikke inte aldrig aldri uden utan uten ingen inget ej ei eivät ilman ne není nikdy bez žádný brak nigdy nem soha nélkül değil не нет ни никогда без 아님 아니요 않음 없음`))
	// Words between a negation and the word that it negates.
	bridgingWords = strings.Fields(fold(`longer currently is are was been be mehr ist sind war wurde plus est été a está es fue más é foi mais è stato stata più meer is jest został längre är er var længere lenger ole enää je už był является больше`))
	// Parts of words in languages that negate at the end, or without blanks.
	negatingParts = strings.Fields(fold(`ない ません なし 않 아님 없 未 非 不 没`))
	trueWords     = strings.Fields(fold(`true yes y 1 x on wahr ja vrai oui verdadero sí vero verdadeiro sim waar prawda tak sant sand sandt sann tosi kyllä pravda ano igaz igen doğru evet истина да はい 是 예`))
	falseWords    = strings.Fields(fold(`false no n 0 off falsch nein faux non falso não onwaar nee fałsz nie falskt falsk nej usann nei epätosi ei nepravda ne hamis nem yanlış hayır ложь нет いいえ 否 아니요`))
)

// statusOf returns the meaning of a status such as "Suspended (admin)" or "nicht aktiv", or of a flag such as
// TRUE, which means ifTrue. Contradictions are unclear.
func statusOf(text string, ifTrue activity) activity {
	words := strings.Fields(fold(text))
	if len(words) == 1 && ifTrue != unclear {
		switch {
		case slices.Contains(trueWords, words[0]):
			return ifTrue
		case slices.Contains(falseWords, words[0]):
			return active + inactive - ifTrue
		}
	}
	result := unclear
	for _, clause := range clauseEnds.Split(splitPrefix.ReplaceAllString(text, "$1"), -1) {
		meaning, clear := clauseMeaning(strings.Fields(fold(clause)))
		switch {
		case !clear, result != unclear && meaning != unclear && result != meaning:
			return unclear
		case meaning != unclear:
			result = meaning
		}
	}
	return result
}

var (
	clauseEnds  = regexp.MustCompile(`[;,.()\[\]/|!?\n；，（）、。・–—]|\s-\s`)
	splitPrefix = regexp.MustCompile(`(?i)\b(in|de|des|dis|un|re)-`) // "in-active"
)

// clauseMeaning returns the meaning of the words between two punctuation marks, or unclear if they are about something
// else. It reports false if they contradict each other, or if it can't know which word a negation is about.
func clauseMeaning(words []string) (result activity, clear bool) {
	negated, negatesOther := false, false
	for _, word := range words {
		begins := func(beginning string) bool { return strings.HasPrefix(word, beginning) }
		var meaning activity
		switch {
		case slices.ContainsFunc(unclearWords, begins):
			return unclear, false
		case slices.Contains(negatingWords, word), slices.Contains(falseWords, word):
			negated = true
			continue
		case slices.ContainsFunc(inactiveWords, begins):
			meaning = inactive
		case slices.ContainsFunc(activeWords, begins):
			meaning = active
		case negated && !slices.Contains(bridgingWords, word):
			negated, negatesOther = false, true
			continue
		default:
			continue
		}
		if negatesOther || slices.ContainsFunc(negatingParts, func(part string) bool { return strings.Index(word, part) > 0 }) {
			return unclear, false
		}
		if negated {
			meaning, negated = active+inactive-meaning, false
		}
		if result != unclear && result != meaning {
			return unclear, false
		}
		result = meaning
	}
	return result, !negated
}

// unknownCounts counts cells that are not understood.
type unknownCounts map[UnknownStatus]int

func (counts unknownCounts) add(r row, columns ...int) {
	for _, i := range columns {
		counts[UnknownStatus{Column: clean(r.header.cells[i]), Value: r.cell(i)}]++
	}
}

// list returns the cells by column, the most frequent first.
func (counts unknownCounts) list() (all []UnknownStatus) {
	for status, n := range counts {
		status.Rows = n
		all = append(all, status)
	}
	slices.SortFunc(all, func(a, b UnknownStatus) int {
		return cmp.Or(strings.Compare(a.Column, b.Column), cmp.Compare(b.Rows, a.Rows), strings.Compare(a.Value, b.Value))
	})
	return all
}

// UnknownStatus is a status, or a kind of recipient, that the list does not understand.
type UnknownStatus struct {
	Column string `json:"column"`
	Value  string `json:"value"`
	Rows   int    `json:"rows"`
}

// UnknownStatusError reports statuses that are not understood, if only active people are wanted.
type UnknownStatusError struct{ Statuses []UnknownStatus }

func (e *UnknownStatusError) Error() string {
	return "these statuses are not understood: " + DescribeStatuses(e.Statuses)
}

// DescribeStatuses lists up to ten statuses with their numbers of rows.
func DescribeStatuses(statuses []UnknownStatus) string {
	const most = 10
	var parts []string
	for i, s := range statuses {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d others", len(statuses)-most))
			break
		}
		value := "an empty cell"
		if s.Value != "" {
			value = fmt.Sprintf("%.60q", s.Value)
		}
		parts = append(parts, fmt.Sprintf("%s in %.60q (%d)", value, s.Column, s.Rows))
	}
	return strings.Join(parts, ", ")
}

// accountControl is the key of Active Directory's userAccountControl, a number whose second bit disables the account.
const accountControl = "useraccountcontrol"

// activity returns the meaning of all status columns of a row: inactive if any of them says so. Otherwise it
// returns the positions of the columns that are not understood.
func (r row) activity() (activity, []int) {
	if slices.ContainsFunc(r.header.index[deletion], func(i int) bool { return strings.ContainsAny(r.cell(i), "123456789") }) {
		return inactive, nil
	}
	var unknown []int
	known, shared := false, containsPart(r.get(Kind), sharedParts)
	for _, field := range []Field{Status, Blocked, Enabled} {
		ifTrue := map[Field]activity{Blocked: inactive, Enabled: active}[field]
		if shared && field != Status { // nobody signs in to a shared mailbox
			known = true
			continue
		}
		for _, i := range r.header.index[field] {
			text := r.cell(i)
			meaning := statusOf(text, ifTrue)
			if flags, err := strconv.Atoi(text); err == nil && key(r.header.cells[i]) == accountControl {
				meaning = active
				if flags&2 != 0 {
					meaning = inactive
				}
			}
			switch {
			case meaning == inactive:
				return inactive, nil
			case meaning == active, text == "" && field == Blocked:
				known = true
			default:
				unknown = append(unknown, i)
			}
		}
	}
	unknown = slices.DeleteFunc(unknown, func(i int) bool { return known && r.cell(i) == "" })
	return active, unknown
}

// Parts of the kinds of recipients, folded and without blanks, in the languages of Exchange. Contacts, groups, guests,
// mail users (with a mailbox elsewhere) and Exchange's own mailboxes can't be a person's, a team's or a room's mailbox.
var (
	noMailboxParts = keysIn(`contact kontakt contatt contato yhteystieto контакт 連絡先 联系人 聯絡人 연락처
		group grupp grupo groep grupa ryhmä skupin csoport групп グループ 组 組 그룹 verteiler distribu dystryb jakelu рассыл 配布 通讯组 배포
		guest gast gäst gæst gjest invité invitado ospite convidado vieras гость ゲスト 来宾 게스트
		mailuser mailbenutzer utilisateurdemessagerie usuariodecorreo utentediposta usuáriodeemail mailgebruiker
		roomlist raumliste listedesalles listadesalas publicfolder öffentlicherordner dossierpublic carpetapública cartellapubblica pastapública
		system discovery arbitration auditlog supervisory monitoring mailboxplan microsoftexchange computer organizationalunit`)
	mailboxParts = keysIn(`mailbox postfach boîteauxlettres buzón casella cassettapostale caixadecorreio caixapostal postvak skrzynk postlåd brevlåd postkass postbo postilaatik schránk postafiók postakutu ящик メールボックス 邮箱 信箱 사서함`)
	// Nobody signs in to these mailboxes.
	sharedParts = keysIn(`shared room equipment freigegeben gemeinsam raum gerät partagé salle équipement compartid sala equip condivis attrezzatur compartilhad partilhad gedeeld ruimte apparatuur
		udostępnion współdziel pokój sprzęt delad delt rum utrust udstyr utstyr jaett huone laite sdílen místnost zařízení общ комнат помещен оборуд 共有 会議室 備品 共享 会议室 设备 공유`)
)

// noMailboxClasses are classes in a directory of persons and others without a mailbox.
var noMailboxClasses = []string{"contact", "group", "computer"}

func keysIn(text string) []string {
	keys := strings.Fields(text)
	for i, word := range keys {
		keys[i] = key(word)
	}
	return keys
}

func containsPart(kind string, parts []string) bool {
	kind = key(kind)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(kind, part) })
}

// kind returns the kind of recipient and its column, or "" and -1.
func (r row) kind() (string, int) {
	for _, i := range r.header.index[Kind] {
		if cell := r.cell(i); cell != "" {
			return cell, i
		}
	}
	return "", -1
}

// isMailbox reports whether a kind of recipient can be a mailbox, and whether the kind is known. The class of a
// person in a directory, such as "top;person;user", can be one; Exchange's recipient "User" is none.
func isMailbox(kind, header string) (mailbox, known bool) {
	isRecipient := strings.HasPrefix(key(header), "recipient")
	classes := strings.FieldsFunc(kind, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(";,|", c) })
	switch {
	case !isRecipient && slices.ContainsFunc(classes, func(class string) bool { return strings.HasSuffix(key(class), "person") }): // with an LDAP server's own classes
		return !slices.ContainsFunc(classes, func(class string) bool { return slices.Contains(noMailboxClasses, key(class)) }), true
	case containsPart(kind, noMailboxParts) && (isRecipient || key(kind) != "mailuser"), isRecipient && slices.Contains([]string{"user", "disableduser", "linkeduser"}, key(kind)):
		return false, true
	case containsPart(kind, mailboxParts), containsPart(kind, sharedParts), !isRecipient && containsPart(kind, []string{"user", "person", "account"}):
		return true, true
	}
	return true, false
}
