package hdfs

import (
	"fmt"
	"os"
)

// A fate is what became of a process.
type fate int

const (
	unknown fate = iota // it ran on another machine, or that cannot be told
	running
	dead
)

// A process tells one process of one machine from all others: by the boot of the system,
// the namespace of its number, and the time when it began.
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

// parseProcess reads what String wrote.
func parseProcess(s string) (p process, ok bool) {
	n, err := fmt.Sscanf(s, "%s %d %s %s %s", &p.client, &p.id, &p.began, &p.boot, &p.space)
	return p, err == nil && n == 5 && p.id > 0 && p.String() == s
}

// processOf is this process, called client by HDFS. It is nil where the system does not
// tell all that is needed.
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

// fate says what became of p, as far as this process can see it.
func (p *process) fate() fate {
	boot, space, ok := here()
	if !ok || boot != p.boot || space != p.space {
		return unknown
	}
	return fateOf(p.id, p.began)
}
