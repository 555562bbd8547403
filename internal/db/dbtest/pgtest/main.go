// Command pgtest runs a command while a private PostgreSQL server is running:
//
//	go run ./internal/db/dbtest/pgtest [-durable] -- go test ./...
//
// It starts one throw-away cluster and sets KOBO_TEST_POSTGRES for the command. After the command
// it stops the cluster, and ends with the command's exit code. Without a command it prints the URL
// and runs the cluster until Ctrl-C. A developer's tests can then share this cluster and need not
// start one themselves.
//
// It installs a missing PostgreSQL if that is possible. If not, the command runs only with SQLite,
// and the last line of output reports this. With CI=true the program fails instead.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/kobo-waas/kobo/internal/db/cluster"
)

const variable = "KOBO_TEST_POSTGRES"

func main() {
	durable := flag.Bool("durable", false, "commit to the disk as in production, for benchmarks")
	flag.Parse()
	code, err := run(*durable, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(durable bool, command []string) (code int, err error) {
	// The command receives Ctrl-C too. This program ends after the command, because it must stop
	// the server.
	interrupted, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()

	if url := os.Getenv(variable); url != "" {
		return execute(interrupted, command, url)
	}
	if !durable {
		remove, e := inFastFolder()
		if e != nil {
			return 1, e
		}
		defer func() { err = errors.Join(err, remove()) }()
	}
	c, err := start(interrupted, durable)
	if err != nil {
		return withoutPostgres(interrupted, command, err)
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	return execute(interrupted, command, c.URL)
}

// inFastFolder makes the folder of temporary files one in memory, for the server, the command and this program.
// Go's own files stay where they are, because those of all test programs are large. The function that it returns
// removes the folder.
func inFastFolder() (remove func() error, err error) {
	dir := fast()
	if dir == "" {
		return func() error { return nil }, nil
	}
	if os.Getenv("GOTMPDIR") == "" {
		err = os.Setenv("GOTMPDIR", os.TempDir())
	}
	return func() error { return os.RemoveAll(dir) }, errors.Join(err, os.Setenv("TMPDIR", dir))
}

func start(ctx context.Context, durable bool) (*cluster.Cluster, error) {
	if _, err := cluster.Binaries(); err != nil {
		if err := install(ctx); err != nil {
			return nil, err
		}
	}
	return cluster.Start(ctx, cluster.Options{Durable: durable})
}

// install installs PostgreSQL when the user is root on a Debian system, for example in a CI
// container.
func install(ctx context.Context) error {
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		return cluster.ErrAbsent
	}
	fmt.Fprintln(os.Stderr, "pgtest: installing PostgreSQL")
	for _, arguments := range [][]string{
		{"update", "-q"},
		{"install", "-q", "-y", "--no-install-recommends", "postgresql"},
	} {
		// Another installation may hold the lock of apt-get for minutes.
		c := exec.CommandContext(ctx, "apt-get", append([]string{"-o", "DPkg::Lock::Timeout=600"}, arguments...)...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%w; %v: %w", cluster.ErrAbsent, c.Args, err)
		}
	}
	return nil
}

func withoutPostgres(ctx context.Context, command []string, cause error) (int, error) {
	if os.Getenv("CI") == "true" || len(command) == 0 {
		return 1, cause
	}
	code, err := execute(ctx, command, "")
	fmt.Fprintf(os.Stderr, "\n*** NOT RUN: every test on PostgreSQL. Only SQLite was tested. ***\n*** %v ***\n", cause)
	return code, err
}

// execute runs the command. If there is no command, it prints the URL and waits for Ctrl-C.
func execute(ctx context.Context, command []string, url string) (int, error) {
	if len(command) == 0 {
		fmt.Printf("export %s='%s'\n", variable, url)
		<-ctx.Done()
		return 0, nil
	}
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), variable+"="+url)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil // ExitCode returns -1 after a signal
	}
	return 0, err
}
