//go:build !linux

package hdfs

import "errors"

func here() (boot, space string, ok bool) { return "", "", false }

func began(int) (string, error) { return "", errors.ErrUnsupported }

func fateOf(int, string) fate { return unknown }
