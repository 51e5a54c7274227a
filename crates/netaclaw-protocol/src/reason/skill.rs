//! What is wrong with a skill.

use super::reasons;

reasons! {
    /// Why a skill cannot be used, or what its author should correct.
    SkillProblem {
        // Another choice was made.
        Shadowed => {
            zh("另一个同名技能优先"),
            en("another skill with the same name takes precedence"),
        }
        NotSelected => {
            zh("该智能体没有选用此技能（见智能体的 skills 字段）"),
            en("the agent does not select it (see `skills` of the agent)"),
        }

        // What it requires is missing.
        ProgramMissing { program: String } => {
            zh("需要程序 {program}，但没有找到"),
            en("it needs the program `{program}`, which was not found"),
        }
        /// One of them is enough.
        AllProgramsMissing { programs: Vec<String> } => {
            zh("需要以下程序之一，但都没有找到：{}", programs.join(", ")),
            en("it needs one of these programs, and none was found: {}", programs.join(", ")),
        }
        /// The program that its entry runs with.
        InterpreterMissing { program: String } => {
            zh("运行此技能需要程序 {program}，但没有找到"),
            en("the program `{program}`, which it needs to run, was not found"),
        }
        VariableMissing { name: String } => {
            zh("需要环境变量 {name}，但没有设置"),
            en("it needs the environment variable `{name}`, which is not set"),
        }

        // Its files are not valid.
        /// `error` is a kind of error of the operating system, in English.
        NotReadable { error: String } => {
            zh("SKILL.md 无法读取（{error}）"),
            en("SKILL.md cannot be read ({error})"),
        }
        FrontMatterMissing => {
            zh("SKILL.md 开头缺少 YAML 头（以 --- 开始和结束）"),
            en("SKILL.md does not start with YAML between two lines of ---"),
        }
        /// `error` is the message of the parser, in English.
        FrontMatterNotValid { error: String } => {
            zh("YAML 头无法读取：{error}"),
            en("the YAML cannot be parsed: {error}"),
        }
        DescriptionMissing => {
            zh("缺少 description：模型无从知道何时使用它"),
            en("it has no description, so models cannot know when to use it"),
        }
        EntryNotInFolder => {
            zh("entry 必须是技能文件夹内的相对路径"),
            en("`entry` must be a relative path inside of the folder"),
        }
        EntryMissing { entry: String } => {
            zh("entry 指向的文件不存在：{entry}"),
            en("`entry` names a file that does not exist: {entry}"),
        }
        /// `error` is the message of the validator, in English.
        InputNotValid { error: String } => {
            zh("input 不是有效的 JSON Schema：{error}"),
            en("`input` is not a valid JSON Schema: {error}"),
        }

        // Warnings: it can be used.
        DescriptionTooLong { max_chars: usize } => {
            zh("description 超过 {max_chars} 个字符，模型只会看到开头"),
            en("the description is longer than {max_chars} characters; models see only its beginning"),
        }
        NameMissing => {
            zh("缺少 name，改用文件夹名"),
            en("it has no name; the name of the folder is used"),
        }
        NameNotValid { name: String } => {
            zh("名称 {name:?} 无效（只能用小写字母、数字和连字符），改用文件夹名"),
            en("its name {name:?} is not valid (use lower-case letters, digits and hyphens); the name of the folder is used"),
        }
        NameDiffers { name: String, folder: String } => {
            zh("名称 {name} 与文件夹名 {folder} 不同"),
            en("its name `{name}` differs from that of its folder, `{folder}`"),
        }
        TimeoutNotValid { max_seconds: u64 } => {
            zh("timeoutSeconds 必须是 1 到 {max_seconds} 之间的整数"),
            en("`timeoutSeconds` must be a whole number from 1 to {max_seconds}"),
        }
        VariablesRefused { names: Vec<String> } => {
            zh("以下环境变量不会传给此技能：{}", names.join(", ")),
            en("these environment variables are not passed to it: {}", names.join(", ")),
        }
    }
}
