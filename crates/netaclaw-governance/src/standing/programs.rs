//! What a program may be given so that it starts nothing that the command does not name.
//!
//! A pattern shows the name of a program. It must not cover a command whose arguments name another
//! one. Programs that are not listed here are taken as what they are called: what they do, and what
//! they read from files of the workspace, is what a user allows with their name.

use super::path::is_relative;

/// Words of the shell's grammar, and commands built into shells that run texts, start programs,
/// write files, or change how the next command is found or read. Of the built-in commands, only
/// those in [`is_harmless_builtin`] are covered.
#[rustfmt::skip]
const SHELL_WORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "time", "coproc", "in",
    "alias", "autoload", "bg", "bind", "bindkey", "break", "builtin", "bye", "caller", "chdir",
    "command", "compgen", "complete", "compopt", "continue", "declare", "dirs", "disown", "enable",
    "emulate", "eval", "exec", "exit", "export", "fc", "fg", "getopts", "hash", "history",
    "integer", "jobs", "let", "local", "logout", "mapfile", "nameref", "noglob", "popd", "print",
    "printf", "pushd", "read", "readarray", "readonly", "return", "set", "setopt", "shift", "shopt",
    "source", "suspend", "trap", "typeset", "ulimit", "umask", "unalias", "unset", "wait", "whence",
    "zmodload",
];

/// Programs that run what their arguments, their input or a file named by their arguments say.
#[rustfmt::skip]
const RUN_OTHERS: &[&str] = &[
    // Shells.
    "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "lksh", "loksh", "mksh", "nu",
    "oksh", "osh", "pdksh", "posh", "powershell", "pwsh", "rbash", "rc", "rksh", "sash",
    "sh", "tcsh", "toybox", "xonsh", "yash", "zsh",
    // Interpreters.
    "awk", "bun", "bunx", "bwk", "clisp", "dc", "deno", "dotnet", "elixir", "erl", "escript",
    "expect", "gawk", "ghci", "goawk", "groovy", "gnuplot", "gsed", "guile", "iex", "ipython",
    "irb", "java", "jruby", "jshell", "julia", "jython", "kotlin", "lua", "luajit", "m", "mawk",
    "micropython", "mono", "nawk", "node", "nodejs", "ocaml", "octave", "original", "osascript",
    "perl", "php", "phpdbg", "pypy", "python", "pythonw", "r", "racket", "raku",
    "rscript", "ruby", "runghc", "runhaskell", "sbcl", "scala", "scheme", "sed", "swift", "tclsh",
    "texlua", "tsx", "wasmtime", "wine", "wish",
    // Start a program in another place, under another user, at another time or on another machine.
    "at", "batch", "bwrap", "capsh", "chpst", "choom", "chroot", "chrt", "cgexec", "crontab",
    "daemon", "daemonize", "dbus", "distrobox", "doas", "docker", "entr", "env", "eatmydata",
    "fakechroot", "fakeroot", "find", "fd", "fdfind", "firejail", "flatpak", "flock",
    "gfind", "gtime", "genv", "gtimeout", "gxargs", "i", "inotifywait", "ionice", "ip", "kubectl",
    "ld", "linux", "logsave", "ltrace", "machinectl", "mpirun", "mpiexec", "ncat", "nc", "netcat",
    "newgrp", "nice", "nix", "nohup", "nsenter", "numactl", "open", "parallel", "perf", "pkexec",
    "podman", "prlimit", "proot", "qemu", "rlwrap", "rsh", "rsync", "run", "runcon", "runuser",
    "scp", "screen", "script", "scriptreplay", "setarch", "setpriv", "setsid", "setuidgid", "sftp",
    "sg", "socat", "softlimit", "srun", "ssh", "sshpass", "start", "stdbuf", "strace", "su", "sudo",
    "systemd", "taskset", "telnet", "timeout", "tmux", "torify", "torsocks", "tsocks",
    "tsp", "unbuffer", "unshare", "valgrind", "watch", "watchexec", "x", "xargs", "xdg",
    "xdotool", "xterm", "xvfb", "zargs",
    // Editors, pagers, debuggers and clients with a command that opens a shell.
    "ack", "ag", "bat", "batcat", "cgdb", "ctags", "ed", "emacs", "emacsclient", "ex", "ftp", "gdb",
    "gpg", "gvim", "info", "less", "lldb", "mail", "mailx", "man", "mariadb", "more", "most",
    "mutt", "mysql", "nano", "nvim", "openssl", "pico", "psql", "sqlite", "tcpdump", "vi", "view",
    "vim", "vimdiff", "wget",
    // Archivers and tools with an option that names a program.
    "bsdtar", "cpio", "groff", "gsort", "gsplit", "gtar", "install", "pandoc", "sdiff", "split",
    "svn", "tar", "troff", "zip",
    // Build a project or install packages: what runs is named by options, variables, tasks and
    // packages. Cargo, Make and npm are covered within the limits below.
    "ansible", "ant", "apk", "apt", "bazel", "brew", "buck", "bundle", "bundler", "c", "cc",
    "clang", "cmake", "composer", "conda", "cpan", "dnf", "dpkg", "earthly", "g", "gcc", "gem",
    "gmake", "go", "gradle", "gradlew", "grunt", "gulp", "hatch", "hg", "jest", "just", "latex",
    "lualatex", "mage", "mamba", "meson", "mise", "mocha", "mvn", "mvnw", "ninja", "nox", "npx",
    "nvm", "opam", "pacman", "pdflatex", "pip", "pipenv", "pipx", "pnpm", "pnpx", "poetry",
    "pyenv", "pytest", "rake", "rbenv", "rpm", "rustc", "rustup", "sbt", "scons", "snakemake",
    "snap", "stack", "task", "terraform", "tex", "tox", "ts", "uv", "uvx", "vagrant", "vitest",
    "xelatex", "xmake", "yarn", "yum", "zig", "zypper",
];

/// A program that starts others only with some of its arguments, and what it may be given.
struct Limited {
    program: &'static str,
    /// What the first word has to be; empty if that is not limited.
    subcommands: &'static [&'static str],
    options: Options,
    /// With the name.
    words_max: usize,
}

enum Options {
    /// The options that are covered, without their values.
    Only(&'static [&'static str]),
    /// All but these: the letters of short ones, and long ones without `--`. A beginning of a long
    /// option is taken for it, because most programs do so.
    Except(&'static str, &'static [&'static str]),
}
use Options::{Except, Only};

#[rustfmt::skip]
const LIMITED: &[Limited] = &[
    // Aliases, external commands and `-c` before the command are not in the list. `foreach`,
    // `bisect run` and `config` run or store texts.
    Limited {
        program: "git",
        subcommands: &[
            "add", "blame", "branch", "cat-file", "check-ignore", "checkout", "clean", "commit",
            "count-objects", "describe", "diff", "diff-tree", "for-each-ref", "log", "ls-files",
            "ls-tree", "merge-base", "mv", "name-rev", "reflog", "reset", "restore", "rev-list",
            "rev-parse", "rm", "shortlog", "show", "show-ref", "stash", "status", "switch", "tag",
        ],
        options: Except("", &[]),
        words_max: usize::MAX,
    },
    Limited {
        program: "git",
        subcommands: &["cherry-pick", "merge", "rebase", "revert"],
        options: Except("sx", &["exec", "strategy"]),
        words_max: usize::MAX,
    },
    // Only remotes that have a name: an address or a path chooses a helper or runs hooks there.
    Limited {
        program: "git",
        subcommands: &["fetch", "pull", "push"],
        options: Only(&[
            "--all", "--dry-run", "--ff-only", "--force", "--force-with-lease", "--no-rebase",
            "--prune", "--quiet", "--rebase", "--set-upstream", "--tags", "--verbose", "-f", "-n",
            "-p", "-q", "-u", "-v",
        ]),
        words_max: usize::MAX,
    },
    Limited {
        program: "git",
        subcommands: &["grep"],
        options: Except("O", &["open-files-in-pager"]),
        words_max: usize::MAX,
    },
    Limited {
        program: "rg",
        subcommands: &[],
        options: Except("z", &["hostname-bin", "pre", "search-zip"]),
        words_max: usize::MAX,
    },
    Limited {
        program: "sort",
        subcommands: &[],
        options: Except("", &["compress-program"]),
        words_max: usize::MAX,
    },
    // What follows `--` goes to another program.
    Limited {
        program: "cargo",
        subcommands: &["bench", "build", "check", "clippy", "doc", "fmt", "test", "tree"],
        options: Only(&[
            "--all", "--all-features", "--all-targets", "--bench", "--benches", "--bin", "--bins",
            "--check", "--doc", "--document-private-items", "--example", "--examples", "--features",
            "--frozen", "--jobs", "--keep-going", "--lib", "--locked", "--message-format",
            "--no-default-features", "--no-deps", "--no-fail-fast", "--no-run", "--offline",
            "--package", "--profile", "--quiet", "--release", "--test", "--tests", "--verbose",
            "--workspace", "-F", "-j", "-p", "-q", "-r", "-v", "-vv",
        ]),
        words_max: usize::MAX,
    },
    // Variables and `--eval` are recipes.
    Limited {
        program: "make",
        subcommands: &[],
        options: Only(&[
            "--always-make", "--dry-run", "--jobs", "--keep-going", "--silent", "-B", "-j", "-k",
            "-n", "-s",
        ]),
        words_max: usize::MAX,
    },
    // Further words go to the script, which can be any program.
    Limited { program: "npm", subcommands: &["test"], options: Only(&[]), words_max: 2 },
    Limited { program: "npm", subcommands: &["run"], options: Only(&[]), words_max: 3 },
];

/// Whether this is a name that is looked up among the installed programs and can have a pattern.
pub(super) fn is_program(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
    let is_spelled = word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && word.chars().all(is_name);
    // File systems may ignore case. `perl5.36`, `zsh-5.9` and `busybox.static` are what the letters
    // at their beginning say.
    let word = word.to_ascii_lowercase();
    let stem = word.split(|c: char| !c.is_ascii_alphabetic()).next();
    let stem = stem.unwrap_or_default();
    let runs = |name: &str| RUN_OTHERS.contains(&name) || SHELL_WORDS.contains(&name);
    let is_other_spelling = |row: &Limited| row.program == stem && row.program != word;
    is_spelled && !runs(&word) && !runs(stem) && !LIMITED.iter().any(is_other_spelling)
}

/// Whether a command, whose name [`is_program`], starts nothing but this program.
pub(super) fn runs_itself_only(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    if let Some(is_harmless) = is_harmless_builtin(program, arguments) {
        return is_harmless;
    }
    // File systems may ignore case.
    let name = program.to_ascii_lowercase();
    let mut rows = LIMITED.iter().filter(|row| row.program == name).peekable();
    rows.peek().is_none() || (*program == name && rows.any(|row| row.covers(arguments)))
}

/// For the commands built into shells that can be covered: whether these arguments only print or
/// compare. `None` for anything else.
fn is_harmless_builtin(name: &str, arguments: &[String]) -> Option<bool> {
    match name {
        "echo" | "false" | "help" | "kill" | "pwd" | "times" | "true" | "type" => Some(true),
        "cd" => Some(match arguments {
            [folder] => is_relative(folder) && !folder.starts_with('-'),
            _ => false,
        }),
        // A subscript is an expression, which can contain a command.
        "test" => Some(
            !arguments
                .iter()
                .any(|word| word.contains(['[', '$', '`', '('])),
        ),
        _ => None,
    }
}

impl Limited {
    fn covers(&self, arguments: &[String]) -> bool {
        let Some(first) = arguments.first() else {
            return true;
        };
        let is_named = match self.subcommands {
            [] => true,
            known => known.contains(&first.as_str()),
        };
        is_named
            && arguments.len() < self.words_max
            && arguments.iter().all(|word| self.options.cover(word))
    }
}

impl Options {
    fn cover(&self, word: &str) -> bool {
        match self {
            Only(options) if word.starts_with('-') => {
                let name = word.split_once('=').map_or(word, |(name, _)| name);
                // `-j4` is `-j`.
                options.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit()))
            }
            // Neither a variable, an address nor a path.
            Only(_) => !word.contains(['=', ':', '/', '@']),
            Except(letters, names) => match (word.strip_prefix("--"), word.strip_prefix('-')) {
                (Some(long), _) => {
                    let name = long.split_once('=').map_or(long, |(name, _)| name);
                    name.is_empty() || !names.iter().any(|one| one.starts_with(name))
                }
                (None, Some(short)) => !short.contains(|c| letters.contains(c)),
                (None, None) => true,
            },
        }
    }
}
