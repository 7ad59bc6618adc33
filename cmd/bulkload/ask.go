package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"usertrail/cmd/internal/cli"
	"usertrail/internal/bulkload/jobdraft"
	"usertrail/internal/run/visible"
)

// errNoAnswer is wrapped if standard input ends before a question is answered.
var errNoAnswer = fmt.Errorf("%w: standard input ended before the question was answered: answer it, or leave --ask out", cli.ErrUsage)

// An asker asks the questions of a draft on standard error, and reads the answers from
// standard input.
type asker struct {
	in  *bufio.Reader
	out io.Writer
}

func newAsker(env *cli.Env) *asker {
	return &asker{in: bufio.NewReader(env.Stdin), out: env.Stderr}
}

// ask prints a question and returns the answer. The number of a choice means the choice.
func (a *asker) ask(q jobdraft.Question) (string, error) {
	if q.Wrong != "" {
		fmt.Fprintf(a.out, "%s\n", visible.Text(q.Wrong))
	} else {
		fmt.Fprintf(a.out, "%s\n", visible.Text(q.Text))
		for i, c := range q.Choices {
			fmt.Fprintf(a.out, "  %d  %s: %s\n", i+1, visible.Text(c.Value), visible.Text(c.Text))
		}
	}
	if q.Default != "" {
		fmt.Fprintf(a.out, "%s [%s]: ", q.Key, visible.Text(q.Default))
	} else {
		fmt.Fprintf(a.out, "%s: ", q.Key)
	}
	line, err := a.in.ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		fmt.Fprintln(a.out)
		if errors.Is(err, io.EOF) {
			err = errNoAnswer
		}
		return "", err
	}
	answer := strings.TrimSpace(line)
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(q.Choices) {
		answer = q.Choices[n-1].Value
	}
	return answer, nil
}
