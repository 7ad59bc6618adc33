package tabletest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestEveryAbilityIsChecked reads abilities.go of package table. Abilities checks each interface
// there that is an ability of a table.
func TestEveryAbilityIsChecked(t *testing.T) {
	others := map[string]bool{"Wrapper": true, "Daily": true, "Proving": true} // of decorators, Users and Stores
	f, err := parser.ParseFile(token.NewFileSet(), "../abilities.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if _, checked := abilities[spec.Name.Name]; checked == others[spec.Name.Name] {
			t.Errorf("%s: checked: %t", spec.Name.Name, checked)
		}
		return false
	})
}
