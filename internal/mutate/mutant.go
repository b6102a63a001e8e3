package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is a change at one place of the code.
type mutant struct {
	id                     int
	file                   *ast.File
	pos                    token.Pos
	position, change, code string
	// apply puts the change into the syntax tree of the file.
	apply func(m mutant)
}

// call returns a call of a function of switches with the mutant's number.
func (m mutant) call(function string, args ...ast.Expr) ast.Expr {
	id := &ast.BasicLit{Kind: token.INT, Value: strconv.Itoa(m.id)}
	return &ast.CallExpr{Fun: ast.NewIdent(function), Args: append([]ast.Expr{id}, args...)}
}

// on and off are conditions for a mutant that is on, or not.
func (m mutant) on() ast.Expr  { return m.call("mutant") }
func (m mutant) off() ast.Expr { return &ast.UnaryExpr{Op: token.NOT, X: m.on()} }

// finder collects the mutants of a package.
type finder struct {
	pkg   *packages.Package
	file  *ast.File
	found []mutant
}

// findMutants returns all mutants of a package, numbered in the order of its code.
func findMutants(pkg *packages.Package) []mutant {
	f := &finder{pkg: pkg}
	for _, f.file = range pkg.Syntax {
		if !ast.IsGenerated(f.file) {
			first := len(f.found)
			ast.Inspect(f.file, f.visit)
			// Positions in different files depend on which was read first.
			slices.SortStableFunc(f.found[first:], func(a, b mutant) int { return int(a.pos - b.pos) })
		}
	}
	for i := range f.found {
		f.found[i].id = i
	}
	return f.found
}

func (f *finder) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.FuncDecl:
		if n.Body != nil {
			f.function(n.Type.Results, n.Body)
		}
	case *ast.FuncLit:
		f.function(n.Type.Results, n.Body)
	case *ast.IfStmt:
		f.condition(&n.Cond, "always true", token.LOR)
		f.condition(&n.Cond, "always false", token.LAND)
	case *ast.ForStmt:
		if n.Cond != nil {
			f.condition(&n.Cond, "always false", token.LAND)
		}
	case *ast.BinaryExpr:
		f.binary(n)
	}
	return true
}

func (f *finder) add(n ast.Node, change string, apply func(m mutant)) {
	p := f.pkg.Fset.Position(n.Pos())
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, p.Filename); err == nil {
			p.Filename = rel
		}
	}
	var text bytes.Buffer
	_ = format.Node(&text, f.pkg.Fset, n) // the code of a package that compiles
	code, _, more := strings.Cut(text.String(), "\n")
	if more {
		code += " …"
	}
	f.found = append(f.found, mutant{file: f.file, pos: n.Pos(), position: p.String(), change: change, code: code, apply: apply})
}

// condition makes a Boolean expression constant: true by an "or", false by an "and". A named
// Boolean type could not be mixed with the switch's.
func (f *finder) condition(cond *ast.Expr, change string, op token.Token) {
	if basic, ok := f.pkg.TypesInfo.TypeOf(*cond).(*types.Basic); !ok || basic.Info()&types.IsBoolean == 0 {
		return
	}
	f.add(*cond, change, func(m mutant) {
		constant := m.on()
		if op == token.LAND {
			constant = m.off()
		}
		*cond = &ast.ParenExpr{X: &ast.BinaryExpr{X: constant, Op: op, Y: &ast.ParenExpr{X: *cond}}}
	})
}

// binary changes an operation that is no constant.
func (f *finder) binary(n *ast.BinaryExpr) {
	if f.pkg.TypesInfo.Types[n].Value != nil {
		return
	}
	// call replaces the operation, and result completes the expression.
	call := func(change, function string, op token.Token, result ast.Expr) {
		f.add(n, change, func(m mutant) { n.X, n.Op, n.Y = m.call(function, n.X, n.Y), op, result })
	}
	switch n.Op {
	case token.LAND, token.LOR:
		neutral := map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}[n.Op]
		f.condition(&n.X, "operand of "+n.Op.String()+" dropped", neutral)
		f.condition(&n.Y, "operand of "+n.Op.String()+" dropped", neutral)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		function := map[token.Token]string{token.LSS: "mutantLess", token.LEQ: "mutantAtMost", token.GTR: "mutantGreater", token.GEQ: "mutantAtLeast"}[n.Op]
		call("boundary of "+n.Op.String(), function, token.EQL, ast.NewIdent("true"))
	case token.ADD, token.SUB:
		if literal, ok := n.Y.(*ast.BasicLit); ok && literal.Kind == token.INT {
			function := map[token.Token]string{token.ADD: "mutantPlus", token.SUB: "mutantMinus"}[n.Op]
			call(n.Op.String()+" "+literal.Value+" dropped", function, n.Op, &ast.BasicLit{Kind: token.INT, Value: "0"})
		}
	}
}

// function changes the statements of a function, without those of functions in it.
func (f *finder) function(results *ast.FieldList, body *ast.BlockStmt) {
	ast.Inspect(body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			f.statements(n.List, results)
		case *ast.CaseClause:
			f.statements(n.Body, results)
		case *ast.CommClause:
			f.statements(n.Body, results)
		}
		return true
	})
}

// statements leaves out the calls and assignments of a block, and makes it return zero values.
func (f *finder) statements(list []ast.Stmt, results *ast.FieldList) {
	for i := range list {
		at := &list[i]
		drop := func(change string) {
			f.add(*at, change, func(m mutant) { *at = when(m.off(), *at) })
		}
		switch s := (*at).(type) {
		case *ast.ExprStmt:
			// The function could lack a return without a panic.
			if call, ok := s.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) != "panic" {
				drop("call dropped")
			}
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && (s.Tok != token.ASSIGN || !isBlank(s.Lhs)) {
				drop("assignment dropped")
			}
		case *ast.IncDecStmt:
			drop("assignment dropped")
		case *ast.ReturnStmt:
			if zeros := f.zeros(results, s.Pos()); zeros != nil && !f.allZero(s.Results) {
				f.add(s, "zero values returned", func(m mutant) {
					*at = &ast.BlockStmt{List: []ast.Stmt{when(m.on(), &ast.ReturnStmt{Results: zeros}), s}}
				})
			}
		}
	}
}

func when(cond ast.Expr, s ast.Stmt) ast.Stmt {
	return &ast.IfStmt{Cond: cond, Body: &ast.BlockStmt{List: []ast.Stmt{s}}}
}

func isBlank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { return types.ExprString(e) != "_" })
}

// zeros returns zero values of the types of results, or nil if one can't be written where a return
// statement is: a variable can have the name of a package.
func (f *finder) zeros(results *ast.FieldList, at token.Pos) (zeros []ast.Expr) {
	if results == nil {
		return nil
	}
	for _, field := range results.List {
		got, err := types.Eval(f.pkg.Fset, f.pkg.Types, at, "*new("+types.ExprString(field.Type)+")")
		if err != nil || !types.Identical(got.Type, f.pkg.TypesInfo.TypeOf(field.Type)) {
			return nil
		}
		zero := &ast.StarExpr{X: &ast.CallExpr{Fun: ast.NewIdent("new"), Args: []ast.Expr{field.Type}}}
		zeros = append(zeros, slices.Repeat([]ast.Expr{zero}, max(1, len(field.Names)))...)
	}
	return zeros
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

// writeOverlay writes the files of a package with its mutants, and the switches, and adds
// them to the overlay.
func writeOverlay(overlay map[string]string, scratch string, pkg *packages.Package, mutants []mutant) error {
	files := map[*ast.File]bool{}
	for _, m := range mutants {
		m.apply(m)
		files[m.file] = true
	}
	write := func(path string, text []byte) error {
		overlay[path] = filepath.Join(scratch, fmt.Sprintf("%d.go", len(overlay)))
		return os.WriteFile(overlay[path], text, 0o600)
	}
	for file := range files {
		// Others could end up within a changed expression.
		file.Comments = slices.DeleteFunc(file.Comments, func(g *ast.CommentGroup) bool {
			return !slices.ContainsFunc(g.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:") })
		})
		var text bytes.Buffer
		if err := format.Node(&text, pkg.Fset, file); err != nil {
			return err
		}
		if err := write(pkg.Fset.Position(file.Package).Filename, text.Bytes()); err != nil {
			return err
		}
	}
	return write(filepath.Join(pkg.Dir, "mutant_switches.go"), []byte("package "+pkg.Name+switches))
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
