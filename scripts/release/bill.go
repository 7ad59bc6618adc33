package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBill writes the bill of materials of the programs in a directory. It lists Go's
// standard library, and each module of a program with its hash in go.sum. The source is the
// build information that the Go toolchain writes into a program.
func (r *release) writeBill(name, programs string) (err error) {
	modules := map[string]*debug.Module{}
	needs := []cdx.Dependency{{Ref: "usertrail"}}
	var toolchain string
	for _, program := range names {
		info, err := buildinfo.ReadFile(filepath.Join(programs, program))
		if err != nil {
			return err
		}
		toolchain = strings.Fields(strings.TrimPrefix(info.GoVersion, "go"))[0]
		refs := []string{standardLibrary(toolchain).BOMRef}
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules[packageURL(m)] = m
			refs = append(refs, packageURL(m))
		}
		needs = append(needs, cdx.Dependency{Ref: program, Dependencies: &refs})
	}
	bill, err := r.bill(toolchain, modules, needs)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill, cdx.SpecVersion1_6)
}

// bill returns the bill of materials of modules. The serial number is a hash of the list,
// so the same programs have the same number.
func (r *release) bill(toolchain string, modules map[string]*debug.Module, needs []cdx.Dependency) (*cdx.BOM, error) {
	license := cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	components := []cdx.Component{standardLibrary(toolchain)}
	sum := sha256.New()
	fmt.Fprintln(sum, r.version, toolchain)
	for _, program := range names {
		components = append(components, cdx.Component{BOMRef: program, Type: cdx.ComponentTypeApplication, Name: program, Version: r.version, Licenses: &license})
	}
	for url, m := range modules {
		c, err := component(url, m)
		if err != nil {
			return nil, err
		}
		components = append(components, c)
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	for _, c := range components {
		fmt.Fprintln(sum, c.BOMRef)
	}
	bill := cdx.NewBOM()
	bill.SerialNumber = serialNumber(sum.Sum(nil))
	bill.Metadata = &cdx.Metadata{
		Timestamp: r.when.Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{BOMRef: "usertrail", Type: cdx.ComponentTypeApplication, Name: "usertrail", Version: r.version, Licenses: &license},
	}
	programs := slices.Clone(names)
	needs[0].Dependencies = &programs
	bill.Components, bill.Dependencies = &components, &needs
	return bill, nil
}

// component describes a module. go.sum has the hash h1: of a module, which is the SHA-256 of
// the list of its files and their hashes: golang.org/x/mod/sumdb/dirhash.
func component(url string, m *debug.Module) (cdx.Component, error) {
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, Scope: cdx.ScopeRequired, PackageURL: url}
	hash, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
	if err != nil || len(hash) != sha256.Size {
		return c, fmt.Errorf("module %s@%s has the sum %q, want h1: and a hash", m.Path, m.Version, m.Sum)
	}
	c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(hash)}}
	return c, nil
}

// standardLibrary describes Go's standard library, under the name that vulnerability
// databases use.
func standardLibrary(version string) cdx.Component {
	url := "pkg:golang/std@" + version
	return cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: "std", Version: version, Scope: cdx.ScopeRequired, PackageURL: url}
}

// packageURL returns the package URL of a module: github.com/package-url/purl-spec. A plus
// sign in a version is escaped.
func packageURL(m *debug.Module) string {
	return "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
}

// serialNumber returns the first 16 bytes of a hash as a UUID of version 8, which RFC 9562
// leaves to the program.
func serialNumber(hash []byte) string {
	b := slices.Clone(hash[:16])
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
