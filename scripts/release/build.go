package main

import (
	"context"
	"os"
	"path/filepath"
)

// names are the programs of a release.
var names = []string{"bulkload", "extract"}

// programs builds the programs for p, static and without paths of this machine, with the
// flags of make build. It returns their directory. It builds the programs of a platform once.
func (r *release) programs(ctx context.Context, p platform) (string, error) {
	if dir, ok := r.built[p]; ok {
		return dir, nil
	}
	dir := filepath.Join(r.scratch, "programs-"+p.String())
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch, "GOFLAGS=", "GOWORK=off"}
	args := []string{"build", "-tags", "arrow_json_stdlib", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X usertrail/cmd/internal/cli.version=" + r.version, "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "./cmd/"+name)
	}
	if _, err := command(ctx, r.root, env, "go", args...); err != nil {
		return "", err
	}
	if r.built == nil {
		r.built = map[platform]string{}
	}
	r.built[p] = dir
	return dir, nil
}

// shells are the shells that have completions, and where each looks for them.
var shells = []struct{ name, dir, prefix, suffix string }{
	{"bash", "share/bash-completion/completions", "", ""},
	{"zsh", "share/zsh/site-functions", "_", ""},
	{"fish", "share/fish/vendor_completions.d", "", ".fish"},
}

// texts writes the man pages and the completions, which are the same for all platforms, as
// they are below /usr. It returns their directory.
func (r *release) texts(ctx context.Context) (string, error) {
	dir := filepath.Join(r.scratch, "texts")
	man, err := filepath.Abs(filepath.Join(dir, "share/man/man1"))
	if err != nil {
		return "", err
	}
	// The page of a program has its version, so the test that writes it is linked with it.
	_, err = command(ctx, r.root, []string{"CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"}, "go", "test", "-count=1", "-vet=off", "-trimpath", "-tags", "arrow_json_stdlib",
		"-ldflags", "-X usertrail/cmd/internal/cli.version="+r.version, "./cmd/bulkload", "./cmd/extract", "-run", "TestManPages", "-man", man)
	if err != nil {
		return "", err
	}
	programs, err := r.programs(ctx, native)
	if err != nil {
		return "", err
	}
	for _, shell := range shells {
		if err := os.MkdirAll(filepath.Join(dir, shell.dir), 0o777); err != nil {
			return "", err
		}
		for _, name := range names {
			script, err := command(ctx, dir, nil, filepath.Join(programs, name), "completion", shell.name)
			if err != nil {
				return "", err
			}
			if err := os.WriteFile(filepath.Join(dir, shell.dir, shell.prefix+name+shell.suffix), script, 0o666); err != nil {
				return "", err
			}
		}
	}
	return dir, nil
}
