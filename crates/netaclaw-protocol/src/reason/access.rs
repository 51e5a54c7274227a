//! Authentication and authorization.

use super::reasons;

reasons! {
    /// Why a credential is not accepted.
    Unauthorized {
        NoCredential => {
            zh("未提供凭据；请使用访问令牌或登录"),
            en("the request has no credential; use the access token or log in"),
        }
        CredentialUnknown => {
            zh("凭据无效"),
            en("the credential is not valid"),
        }
        TokenExpired => {
            zh("令牌已过期"),
            en("the token has expired"),
        }
        TokenRevoked => {
            zh("令牌已吊销"),
            en("the token has been revoked"),
        }
        UserDisabled => {
            zh("该用户已停用"),
            en("the user is disabled"),
        }
        WrongLogin => {
            zh("用户名或密码错误"),
            en("wrong name or password"),
        }
    }
}

reasons! {
    /// Why a valid credential is not sufficient.
    Forbidden {
        /// The scope of the token is `read`.
        OnlyReads => {
            zh("此令牌为只读"),
            en("this token is read-only"),
        }
        FullScopeNeeded => {
            zh("须使用完全权限的凭据"),
            en("this requires a credential with full scope"),
        }
        AdministratorSees => {
            zh("只有管理员可以查看"),
            en("only administrators can view this"),
        }
        AdministratorChanges => {
            zh("只有使用完全权限凭据的管理员可以修改"),
            en("only administrators with a full-scope credential can change this"),
        }
        TokenOfAnotherUser => {
            zh("只有管理员可以为其他用户创建令牌"),
            en("only administrators can create tokens for other users"),
        }
        /// Changing a password requires an existing one and a credential with full scope.
        PasswordNotYours => {
            zh("只有已设置密码的用户才能修改密码，且须使用完全权限的凭据；可请管理员设置密码"),
            en("only users who have a password can change it, with a full-scope credential; ask an administrator to set one"),
        }
        /// A page of another site made the request.
        OtherOrigin => {
            zh("不允许来自此来源的请求"),
            en("requests from this origin are not allowed"),
        }
        /// The `Host` header names a host that is not configured.
        OtherHost { host: String } => {
            zh("此服务器未配置主机名 {host}；如需使用此地址，请在配置文件的 [server] 中设置 public_url（或 NETACLAW_PUBLIC_URL）"),
            en("the host {host} is not configured for this server; to use this name, set public_url in [server] of the configuration, or NETACLAW_PUBLIC_URL"),
        }
        /// A standing approval for an agent is valid in the sessions of the user who grants it.
        ApprovalOfAnotherUser => {
            zh("只有会话的用户本人可以为智能体设置长期审批；您可以只在此会话内允许"),
            en("only the user of the session can grant an approval for the agent; you can allow it for this session"),
        }
    }
}
