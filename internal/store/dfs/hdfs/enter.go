package hdfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"usertrail/internal/store/dfs"
)

// enter is the right of other users to enter a directory, in its mode.
const enter = 0o001

// LetEnter implements dfs.Enterer.
func (s *system) LetEnter(ctx context.Context, top, dir string) error {
	for dir == top || strings.HasPrefix(dir, top+"/") {
		p, err := s.change(ctx, "change the mode of", dir)
		if err != nil {
			return err
		}
		err = p.call(ctx, replacing, func(client *hdfs.Client) error { return letEnter(client, p.path) })
		if err != nil && !errors.Is(p.meaning(err), fs.ErrPermission) && !errors.Is(p.meaning(err), fs.ErrNotExist) {
			return p.named("change the mode of", dir, err)
		}
		dir = dfs.Dir(dir)
	}
	return nil
}

func letEnter(client *hdfs.Client, path string) error {
	fi, err := client.Stat(path)
	if err != nil {
		return err
	}
	mode := fi.Mode() &^ os.ModeDir // HDFS's bits, which differ from the bits of package os
	if mode&enter != 0 {
		return nil
	}
	return client.Chmod(path, mode|enter)
}
