/** The login page. */
export default {
  text: 'Log in to continue.',
  linkRefused: 'This link has expired: its token is no longer valid. Log in with another token.',
  way: 'Login method',
  by: { token: 'Token', password: 'Username and password' },
  token: 'Access token',
  tokenHint:
    'The server prints it as a link when it starts in a terminal. To print it again, run `netaclaw link`. You can paste the whole link.',
  name: 'Username',
  password: 'Password',
  enter: 'Log in',
  wait: 'Too many attempts. Try again in {time}.',
  wrong: {
    token: 'Invalid token. It may have expired or been revoked.',
    password: 'Wrong username or password.',
  },
  again: 'Log in again',
  againText: 'Your login has expired. Nothing on this page is lost: log in to continue.',
}
