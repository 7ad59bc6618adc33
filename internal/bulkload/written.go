package bulkload

import (
	"log/slog"
	"strings"
)

// The words for folders of the logs that are left out because they are a table or a result of extract.
const (
	WrittenText   = "folders of the logs that are a table or a result of extract are left out"
	WrittenAdvice = "move these folders out of the logs"
)

// WarnWritten logs the folders, below the root of the logs, that are left out because they are a table or a result of extract.
func WarnWritten(log *slog.Logger, folders []string, root string) {
	if len(folders) > 0 {
		log.Warn(WrittenText, "folders", strings.Join(folders, ", "), "below", root, "advice", WrittenAdvice)
	}
}
