//! A guard alone, for tests: the product's is in the `netaclaw` binary.

fn main() -> std::process::ExitCode {
    netaclaw_tools::spawn::guard_main()
}
