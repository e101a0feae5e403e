/** Error text for a name or id that the host does not know: says which command lists the valid ones. */

/** Path pattern -> where its items are listed. */
const LISTED: readonly (readonly [RegExp, string])[] = [
  [/^\/operator\/(connectors|packages)\b|^\/connectors\b/, '`keyway list` shows the connectors'],
  [/^\/operator\/(generations|rollback)\b/, '`keyway history` shows the generations'],
  [/^\/operator\/publishers\b/, '`keyway publishers` shows the keys that are trusted'],
  [/^\/operator\/webhooks\b/, '`keyway webhooks list` shows those that are there, with their ids'],
  [/^\/operator\/syncs\b/, '`keyway syncs` shows the runs'],
  [/^\/operator\/apps\b/, 'GET /apps lists the apps with their ids'],
  [/^\/operator\/login-links\b/, 'GET /users lists the users'],
]

/** The message of a 404, extended by where to look. */
export function notThere(path: string, message: string): string {
  const [, hint] = LISTED.find(([pattern]) => pattern.test(path)) ?? []
  // What begins with a name keeps it as it is.
  const words = message.replace(/^there /, 'There ')
  return hint === undefined || /\bkeyway\b/.test(words) ? words : `${words}; ${hint}`
}
