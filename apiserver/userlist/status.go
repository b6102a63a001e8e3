package userlist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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
		停止 一時停止 無効 アーカイブ 削除 ブロック 停用 暂停 已暂停 已停用 已删除 禁用 已禁用 정지 일시정지`))
	activeWords = strings.Fields(fold(`activ aktiv actif actie attiv ativ aktyw aktiiv aktif etkin enabl habilit abilit ingeschak geactiv włącz povol käytöss
		allow erlaub zugelass autoris permit toegest tillat tillåt dozwol sallit актив включ
		有効 アクティブ 許可 启用 已启用 正常 활성`))
	unclearWords  = strings.Fields(fold(`pending invit expir ausstehend eingeladen attente attesa pendient pendent wachten oczekuj vent odot čeká 保留 招待`))
	negatingWords = strings.Fields(fold(`not no non nicht kein nie niet geen nej ikke inte ej ei ne nem não`))
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
	result, negated := unclear, false
	for _, word := range words {
		begins := func(beginning string) bool { return strings.HasPrefix(word, beginning) }
		var meaning activity
		switch {
		case slices.ContainsFunc(unclearWords, begins):
			return unclear
		case slices.Contains(negatingWords, word):
			negated = true
			continue
		case slices.ContainsFunc(inactiveWords, begins):
			meaning = inactive
		case slices.ContainsFunc(activeWords, begins):
			meaning = active
		default:
			continue
		}
		if negated {
			meaning, negated = active+inactive-meaning, false
		}
		if result != unclear && result != meaning {
			return unclear
		}
		result = meaning
	}
	return result
}

// UnknownStatus is a status that the list does not understand.
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
	var unknown []int
	known, shared := false, sharedMailbox(r.get(Kind))
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

// isMailbox reports whether a recipient of Exchange can be a person's, a team's or a room's mailbox. Contacts,
// groups, guests, mail users (with a mailbox elsewhere) and Exchange's own mailboxes can't.
func isMailbox(kind string) bool {
	kind = key(kind)
	return !slices.Contains([]string{"user", "disableduser", "linkeduser", "microsoftexchange", "mailboxplan", "roomlist"}, kind) &&
		!slices.ContainsFunc([]string{"contact", "group", "guest", "mailuser", "publicfolder", "system", "discovery", "arbitration", "auditlog", "supervisory", "monitoring"},
			func(part string) bool { return strings.Contains(kind, part) })
}

func sharedMailbox(kind string) bool {
	kind = key(kind)
	return strings.Contains(kind, "shared") || strings.Contains(kind, "room") || strings.Contains(kind, "equipment")
}
