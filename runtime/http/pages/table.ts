/** PAGES: all pages and forms for people. The functions of the core check who sees what in them. */
export const PAGES = {
  start: { path: '/', shows: 'the console of an operator; else the inbox, or what one has' },
  sign_in: { path: '/sign-in', shows: 'the way to sign in' },
  begin: { path: '/sign-in/:provider', shows: 'the way to a provider of sign-in' },
  callback: { path: '/sign-in/:provider/callback', shows: 'the way on from a provider' },
  access: { path: '/access', shows: 'what one has, waits for and may ask for' },
  ask: { path: '/access/request', shows: 'the form to ask for access' },
  break_glass: { path: '/access/break-glass', shows: 'the form to take break-glass access' },
  one_request: { path: '/access/requests/:id', shows: 'one access request' },
  inbox: { path: '/inbox', shows: 'the tasks that wait for one' },
  task: { path: '/inbox/:id', shows: 'one of those, with grounds' },
  my_data: { path: '/settings/my-data', shows: 'what is kept of one' },
  personal: {
    path: '/settings/personal',
    shows: 'how mail comes, the language, and how pages look',
  },
  delegates: {
    path: '/settings/delegates',
    shows: 'who decides in one’s place, and in whose place one decides',
  },
} as const satisfies Record<string, { path: string; shows: string }>

/**
 * FORMS: forms that pages send. Each is answered by a redirect to a page, or by the page again with the
 * problem.
 */
export const FORMS = {
  sign_out: { path: '/sign-out', does: 'ends the session' },
  sign_out_everywhere: { path: '/sign-out/everywhere', does: 'ends all sessions of the person' },
  send_request: { path: '/access/request', does: 'asks for access' },
  take_break_glass: { path: '/access/break-glass', does: 'takes break-glass access' },
  withdraw: { path: '/access/requests/:id/withdraw', does: 'takes a request back' },
  remind: { path: '/access/requests/:id/remind', does: 'reminds those who decide' },
  give_back: { path: '/access/requests/:id/give-back', does: 'gives access back' },
  act: { path: '/inbox/:id', does: 'does one of the actions of a task' },
  comment: { path: '/inbox/:id/comment', does: 'writes a comment on a task' },
  reassign: { path: '/inbox/:id/reassign', does: 'gives a decision to another person' },
  show_my_data: { path: '/settings/my-data', does: 'shows what is kept of one' },
  download_my_data: {
    path: '/settings/my-data/download',
    does: 'gives out what is kept of one, as a file',
  },
  save_personal: {
    path: '/settings/personal',
    does: 'chooses how mail comes, the language, and how pages look',
  },
  name_delegate: { path: '/settings/delegates', does: 'names a delegate' },
  withdraw_delegate: { path: '/settings/delegates/:id/end', does: 'ends a delegation' },
} as const satisfies Record<string, { path: string; does: string }>

/** Paths below which only pages are served, so an unknown one is answered by a page. */
export const WHOLE = ['/access/*', '/inbox/*', '/sign-in/*', '/sign-out/*'] as const
