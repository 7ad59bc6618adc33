//go:build !linux && !darwin

package local

import "errors"

func free(string) (int64, error) { return 0, errors.ErrUnsupported }
