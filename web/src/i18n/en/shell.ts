/** The frame around every page. */
export default {
  app: 'NetaClaw',
  notFound: 'There is no page at this address.',
  toChat: 'To the chat',
}
