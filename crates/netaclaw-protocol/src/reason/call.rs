//! How a tool call ended, where it is more than its result.

use super::reasons;

reasons! {
    /// The last step of a tool call. Models read the English text.
    CallEnd {
        Done => {
            zh("完成。"),
            en("Done."),
        }
        Failed => {
            zh("失败。"),
            en("It failed."),
        }
        Stopped => {
            zh("已停止。"),
            en("Stopped."),
        }
        Interrupted => {
            zh("已中断。"),
            en("Interrupted."),
        }
        TimedOut => {
            zh("超时，已结束。"),
            en("It timed out and was ended."),
        }
        Internal => {
            zh("因内部错误而失败。"),
            en("It failed because of an internal error."),
        }
        NotRun => {
            zh("没有运行。"),
            en("It did not run."),
        }

        // Programs of skills. `said` is the error that the program reported.
        /// `error` is in English.
        ProgramNotStarted { error: String } => {
            zh("程序没有启动：`{error}`。"),
            en("The program was not started: {error}."),
        }
        ProgramTimedOut { limit_ms: u64 } => {
            zh("程序运行超过 {limit_ms} 毫秒，已终止。"),
            en("Execution timed out after {limit_ms} ms, and the program was killed."),
        }
        TooManyProcesses { max: u64 } => {
            zh("程序启动的进程和线程超过 {max} 个，已终止。"),
            en("It was killed because it started more than {max} processes and threads."),
        }
        TemporaryFilesTooLarge { max_mib: u64 } => {
            zh("临时文件超过 {max_mib} MiB，已删除；仍在运行的程序已终止。"),
            en("Its temporary files exceeded {max_mib} MiB. The program was killed if it still ran, and these files were removed."),
        }
        ProgramKilled { signal: i32, said: Option<String> } => {
            zh("程序被信号 {signal} 终止。{}", said.as_deref().unwrap_or_default()),
            en("The program was killed by signal {signal}.{}", after_space(said)),
        }
        ProgramFailed { exit_code: i32, said: Option<String> } => {
            zh("程序失败，退出码为 {exit_code}。{}", said.as_deref().unwrap_or_default()),
            en("The program failed with exit code {exit_code}.{}", after_space(said)),
        }
        ExitStatusUnknown => {
            zh("程序的退出状态未知。"),
            en("The exit status of the program is unknown."),
        }
        ResultTooLarge { max_mib: usize } => {
            zh("结果超过 {max_mib} MiB。"),
            en("The result is longer than {max_mib} MiB."),
        }
        ResultMissing => {
            zh("程序结束时没有写出结果。"),
            en("The program ended without writing a result."),
        }
        ResultNotJson => {
            zh("结果不是有效的 JSON。"),
            en("The result is not valid JSON."),
        }
        FailureReported => {
            zh("程序报告了失败。"),
            en("The program reported a failure."),
        }
    }
}

fn after_space(said: &Option<String>) -> String {
    said.as_deref()
        .map_or_else(String::new, |said| format!(" {said}"))
}
