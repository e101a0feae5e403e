/** PAGES: all pages and forms for people. The functions of the core check who sees what in them. */
export const PAGES = {
  start: { path: '/', shows: 'the console for operators; otherwise the inbox or My access' },
  sign_in: { path: '/sign-in', shows: 'the sign-in page' },
  begin: { path: '/sign-in/:provider', shows: 'the redirect to a sign-in provider' },
  callback: { path: '/sign-in/:provider/callback', shows: 'the return from a sign-in provider' },
  access: { path: '/access', shows: 'the user’s access, open requests and what they may request' },
  ask: { path: '/access/request', shows: 'the form to request access' },
  break_glass: { path: '/access/break-glass', shows: 'the form to take break-glass access' },
  one_request: { path: '/access/requests/:id', shows: 'one access request' },
  inbox: { path: '/inbox', shows: 'the user’s open tasks' },
  task: { path: '/inbox/:id', shows: 'one task, with grounds for a decision' },
  my_data: { path: '/settings/my-data', shows: 'the data stored about the user' },
  personal: {
    path: '/settings/personal',
    shows: 'how mail comes, the language, and how pages look',
  },
  delegates: {
    path: '/settings/delegates',
    shows: 'the user’s delegates, and the people the user stands in for',
  },
} as const satisfies Record<string, { path: string; shows: string }>

/**
 * FORMS: forms that pages send. Each is answered by a redirect to a page, or by the page again with the
 * problem.
 */
export const FORMS = {
  sign_out: { path: '/sign-out', does: 'ends the session' },
  sign_out_everywhere: { path: '/sign-out/everywhere', does: 'ends all sessions of the person' },
  send_request: { path: '/access/request', does: 'requests access' },
  take_break_glass: { path: '/access/break-glass', does: 'takes break-glass access' },
  withdraw: { path: '/access/requests/:id/withdraw', does: 'withdraws a request' },
  remind: { path: '/access/requests/:id/remind', does: 'reminds the approvers' },
  give_back: { path: '/access/requests/:id/give-back', does: 'gives access back' },
  act: { path: '/inbox/:id', does: 'performs an action of a task' },
  comment: { path: '/inbox/:id/comment', does: 'writes a comment on a task' },
  reassign: { path: '/inbox/:id/reassign', does: 'reassigns a decision to another person' },
  show_my_data: { path: '/settings/my-data', does: 'shows the data stored about the user' },
  download_my_data: {
    path: '/settings/my-data/download',
    does: 'downloads the data stored about the user',
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
