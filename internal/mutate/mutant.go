package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is a change at one place of the code.
type mutant struct {
	id, order              int
	file                   string
	position, change, code string
	edits                  []edit
}

// edit replaces the text between two offsets of a file. A %d in the text stands for the
// mutant's number.
type edit struct {
	from, to int
	text     string
	rank     int // the order at one offset: ends of inner nodes, ends, beginnings, those of inner nodes
}

// finder collects the mutants of a file.
type finder struct {
	pkg   *packages.Package
	path  string
	text  []byte
	found []mutant
}

// findMutants returns all mutants of a package, in the order of its code.
func findMutants(pkg *packages.Package) (found []mutant) {
	for i, file := range pkg.Syntax {
		path := pkg.CompiledGoFiles[i]
		text, err := os.ReadFile(path)
		if err != nil || ast.IsGenerated(file) {
			continue
		}
		f := &finder{pkg: pkg, path: path, text: text}
		ast.Inspect(file, f.visit)
		found = append(found, f.found...)
	}
	for i := range found {
		found[i].order = i
	}
	return found
}

func (f *finder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.FuncDecl:
		if n.Body != nil {
			f.returns(n.Type.Results, n.Body)
		}
	case *ast.FuncLit:
		f.returns(n.Type.Results, n.Body)
	case *ast.IfStmt:
		f.condition(n.Cond, "always true", "(mutant(%d) || (")
		f.condition(n.Cond, "always false", "(!mutant(%d) && (")
	case *ast.ForStmt:
		if n.Cond != nil {
			f.condition(n.Cond, "always false", "(!mutant(%d) && (")
		}
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	}
	return true
}

func (f *finder) offset(p token.Pos) int { return f.pkg.Fset.Position(p).Offset }

// wrap is the edits that put a node between two texts.
func (f *finder) wrap(n ast.Node, before, after string) []edit {
	from, to := f.offset(n.Pos()), f.offset(n.End())
	return []edit{{from: from, to: from, text: before}, {from: to, to: to, text: after, rank: -1}}
}

func (f *finder) add(n ast.Node, change string, edits ...edit) {
	p := f.pkg.Fset.Position(n.Pos())
	path := p.Filename
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, path); err == nil {
			path = rel
		}
	}
	code, _, more := strings.Cut(string(f.text[f.offset(n.Pos()):f.offset(n.End())]), "\n")
	if more {
		code += " …"
	}
	for i := range edits { // an outer node is visited before an inner one
		if edits[i].rank < 0 {
			edits[i].rank = -1 - len(f.found)
		} else {
			edits[i].rank = 1 + len(f.found)
		}
	}
	f.found = append(f.found, mutant{
		file: f.path, position: fmt.Sprintf("%s:%d:%d", path, p.Line, p.Column), change: change, code: code, edits: edits,
	})
}

// condition makes a Boolean expression constant. A named Boolean type could not be mixed
// with the switch's.
func (f *finder) condition(cond ast.Expr, change, before string) {
	if basic, ok := f.pkg.TypesInfo.TypeOf(cond).(*types.Basic); ok && basic.Info()&types.IsBoolean != 0 {
		f.add(cond, change, f.wrap(cond, before, "))")...)
	}
}

// binary changes an operation that is no constant.
func (f *finder) binary(n *ast.BinaryExpr) {
	info := f.pkg.TypesInfo
	if info.Types[n].Value != nil {
		return
	}
	// call turns the operation into a call of a function of switches.go.
	call := func(change, function string) {
		edits := f.wrap(n, function+"(%d, ", ")")
		from := f.offset(n.OpPos)
		f.add(n, change, append(edits, edit{from: from, to: from + len(n.Op.String()), text: ","})...)
	}
	switch n.Op {
	case token.LAND, token.LOR:
		before := map[token.Token]string{token.LAND: "(mutant(%d) || (", token.LOR: "(!mutant(%d) && ("}[n.Op]
		for _, operand := range []ast.Expr{n.X, n.Y} {
			f.condition(operand, "operand of "+n.Op.String()+" dropped", before)
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		function := map[token.Token]string{token.LSS: "mutantLess", token.LEQ: "mutantAtMost", token.GTR: "mutantGreater", token.GEQ: "mutantAtLeast"}[n.Op]
		call("boundary of "+n.Op.String(), function)
	case token.ADD, token.SUB:
		literal, ok := n.Y.(*ast.BasicLit)
		if ok && literal.Kind == token.INT {
			call(n.Op.String()+" "+literal.Value+" dropped", map[token.Token]string{token.ADD: "mutantPlus", token.SUB: "mutantMinus"}[n.Op])
		}
	}
}

// statements leaves out the calls and assignments of a block.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		change := "assignment dropped"
		switch s := s.(type) {
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok {
				continue
			}
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "panic" {
				continue // the function could lack a return without it
			}
			change = "call dropped"
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || s.Tok == token.ASSIGN && isBlank(s.Lhs) {
				continue
			}
		case *ast.IncDecStmt:
		default:
			continue
		}
		f.add(s, change, f.wrap(s, "if !mutant(%d) { ", " }")...)
	}
}

func isBlank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		name, ok := e.(*ast.Ident)
		return !ok || name.Name != "_"
	})
}

// returns makes a function return zero values at each of its return statements.
func (f *finder) returns(results *ast.FieldList, body *ast.BlockStmt) {
	if results == nil {
		return
	}
	var zeros []string
	for _, field := range results.List {
		zero := "*new(" + string(f.text[f.offset(field.Type.Pos()):f.offset(field.Type.End())]) + ")"
		zeros = append(zeros, slices.Repeat([]string{zero}, max(1, len(field.Names)))...)
	}
	ast.Inspect(body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if !f.allZero(n.Results) && f.isZero(results, zeros, n.Pos()) {
				at := f.offset(n.Pos())
				f.add(n, "zero values returned", edit{from: at, to: at, text: "if mutant(%d) { return " + strings.Join(zeros, ", ") + " }; "})
			}
		}
		return true
	})
}

// allZero reports whether expressions are written as zero values, or there are none.
func (f *finder) allZero(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool {
		tv := f.pkg.TypesInfo.Types[e]
		if lit, ok := e.(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
			_, isStruct := tv.Type.Underlying().(*types.Struct)
			return !isStruct
		}
		return !tv.IsNil() && (tv.Value == nil || !slices.Contains([]string{"0", `""`, "false"}, tv.Value.String()))
	})
}

// isZero reports whether expressions are zero values of the types of results where a return
// statement is: a variable can have the name of a package.
func (f *finder) isZero(results *ast.FieldList, zeros []string, at token.Pos) bool {
	n := 0
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			got, err := types.Eval(f.pkg.Fset, f.pkg.Types, at, zeros[n])
			if err != nil || !types.Identical(got.Type, f.pkg.TypesInfo.TypeOf(field.Type)) {
				return false
			}
			n++
		}
	}
	return true
}

// writeOverlay writes the files of a package with its mutants, and the switches, and adds
// them to the overlay.
func writeOverlay(overlay map[string]string, scratch string, pkg *packages.Package, mutants []mutant) error {
	edits := map[string][]edit{}
	for _, m := range mutants {
		for _, e := range m.edits {
			e.text = strings.ReplaceAll(e.text, "%d", fmt.Sprint(m.id))
			edits[m.file] = append(edits[m.file], e)
		}
	}
	write := func(path string, text []byte) error {
		overlay[path] = filepath.Join(scratch, fmt.Sprintf("%d.go", len(overlay)))
		return os.WriteFile(overlay[path], text, 0o600)
	}
	for path, list := range edits {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := write(path, apply(text, list)); err != nil {
			return err
		}
	}
	return write(filepath.Join(pkg.Dir, "mutant_switches.go"), []byte("package "+pkg.Name+switches))
}

func apply(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.rank, b.rank)) })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// switches is the source of the functions that mutants call.
const switches = `

import (
	mutantcmp "cmp"
	mutantos "os"
	mutantatomic "sync/atomic"
	mutantstrconv "strconv"
)

var (
	mutantOn, _   = mutantstrconv.Atoi(mutantos.Getenv("MUTANT"))
	mutantLog     = mutantos.Getenv("MUTANT_LOG")
	mutantReached [1 << 16]mutantatomic.Bool
)

// mutant reports whether a mutant is on, and logs that it was reached.
func mutant(id int) bool {
	if mutantLog != "" && !mutantReached[id].Swap(true) {
		if f, err := mutantos.OpenFile(mutantLog, mutantos.O_APPEND|mutantos.O_CREATE|mutantos.O_WRONLY, 0o600); err == nil {
			f.WriteString(mutantstrconv.Itoa(id) + "\n")
			f.Close()
		}
	}
	return id == mutantOn
}

func mutantLess[T mutantcmp.Ordered](id int, a, b T) bool    { return a < b || mutant(id) && a == b }
func mutantGreater[T mutantcmp.Ordered](id int, a, b T) bool { return a > b || mutant(id) && a == b }
func mutantAtMost[T mutantcmp.Ordered](id int, a, b T) bool  { return a < b || !mutant(id) && a == b }
func mutantAtLeast[T mutantcmp.Ordered](id int, a, b T) bool { return a > b || !mutant(id) && a == b }

type mutantNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func mutantPlus[T mutantNumber](id int, a, n T) T  { if mutant(id) { return a }; return a + n }
func mutantMinus[T mutantNumber](id int, a, n T) T { if mutant(id) { return a }; return a - n }
`
