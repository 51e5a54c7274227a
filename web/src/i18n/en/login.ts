/** The way in. */
export default {
  text: 'Log in to go on.',
  linkRefused: 'The link lets nobody in any more: its token has expired or was revoked. Log in with another one.',
  way: 'How to log in',
  by: { token: 'Token', password: 'Name and password' },
  token: 'Access token',
  tokenHint:
    'A server that starts in a terminal prints it as a link; `netaclaw link` prints it again. The whole link works, too.',
  name: 'Name',
  password: 'Password',
  enter: 'Log in',
  wait: 'Too many attempts. Please wait {time}.',
  wrong: {
    token: 'The server does not know this token; it may have expired or been revoked.',
    password: 'The name or the password is wrong.',
  },
  again: 'Log in again',
  againText: 'Your login has ended. Nothing on this page is lost: log in, and go on where you are.',
}
