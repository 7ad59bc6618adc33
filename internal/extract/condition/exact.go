package condition

import (
	"math"
	"math/big"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// exact replaces decimals without a fraction by whole numbers if they are compared with whole numbers.
// The library would compare doubles, which are exact only up to 2^53.
func (x *expression) exact() {
	ast.Walk(&x.root, visitor(func(n ast.Node) {
		b, ok := n.(*ast.BinaryNode)
		if !ok || !compares(b) {
			return
		}
		if whole(b.Left) {
			b.Right = x.exactly(b.Right)
		}
		if whole(b.Right) {
			b.Left = x.exactly(b.Left)
		}
	}))
}

// exactly returns n, a decimal or a list, with whole numbers for decimals without a fraction.
func (x *expression) exactly(n ast.Node) ast.Node {
	if list, ok := n.(*ast.ArrayNode); ok {
		for i, v := range list.Nodes {
			list.Nodes[i] = x.exactly(v)
		}
		return list
	}
	v, ok := x.decimal(n)
	if !ok || !v.IsInt() || !v.Num().IsInt64() {
		return n
	}
	out := located(&ast.IntegerNode{Value: int(v.Num().Int64())}, n.Location())
	out.SetType(typeOf[int]())
	return out
}

// decimal returns the value of a decimal. It reads the text, because a double has lost digits.
func (x *expression) decimal(n ast.Node) (*big.Rat, bool) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		v, ok := x.decimal(n.Node)
		if !ok || n.Operator != "-" {
			return nil, false
		}
		return v.Neg(v), true
	case *ast.FloatNode:
		if math.Abs(n.Value) < 1<<53 {
			return new(big.Rat).SetFloat64(n.Value), true
		}
		at := n.Location()
		return new(big.Rat).SetString(strings.ReplaceAll(string([]rune(x.text)[at.From:at.To]), "_", ""))
	}
	return nil, false
}
