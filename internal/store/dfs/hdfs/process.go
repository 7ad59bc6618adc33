package hdfs

import (
	"fmt"
	"os"
)

// A fate is the state of a process as another process sees it.
type fate int

const (
	unknown fate = iota // it ran on another machine, or its state cannot be determined
	running
	dead
)

// A process identifies one process of one machine: by the boot of the system,
// the namespace of its number, and its start time.
type process struct {
	client string // under which HDFS knows it
	id     int
	began  string
	boot   string
	space  string
}

func (p *process) String() string {
	return fmt.Sprintf("%s %d %s %s %s", p.client, p.id, p.began, p.boot, p.space)
}

// parseProcess parses the text that String returns.
func parseProcess(s string) (p process, ok bool) {
	n, err := fmt.Sscanf(s, "%s %d %s %s %s", &p.client, &p.id, &p.began, &p.boot, &p.space)
	return p, err == nil && n == 5 && p.id > 0 && p.String() == s
}

// processOf returns this process, which HDFS calls client. It returns nil if the system does
// not provide the data.
func processOf(client string) *process {
	boot, space, ok := here()
	if !ok || client == "" {
		return nil
	}
	began, err := began(os.Getpid())
	if err != nil {
		return nil
	}
	return &process{client: client, id: os.Getpid(), began: began, boot: boot, space: space}
}

// fate returns the state of p, as far as this process can see it.
func (p *process) fate() fate {
	boot, space, ok := here()
	if !ok || boot != p.boot || space != p.space {
		return unknown
	}
	return fateOf(p.id, p.began)
}
