/** Message of the commands for the embedded database if the operator uses their own server. */

/** Names the tools to use instead of a verb, each with an example that contains no password. */
export function ownServerWords(verb: 'backup' | 'restore', databaseUrl: string): string {
  const at = placeOf(databaseUrl)
  const lines =
    verb === 'backup'
      ? [
          'Back it up with its own tools:',
          '',
          `  pg_dump ${at} --format=custom --file=keyway.dump    # this database`,
          `  pg_basebackup ${at.replace(/ --dbname=\S+/, '')} --pgdata=keyway-base --wal-method=stream    # the whole server`,
        ]
      : [
          'Restore it with its own tools, while no host runs:',
          '',
          `  pg_restore ${at} --clean --if-exists --single-transaction keyway.dump`,
        ]
  return [
    `DATABASE_URL is set: the database is your own PostgreSQL, which \`keyway ${verb}\` does not touch.`,
    ...lines,
    '',
    'They ask for the password, or take it from ~/.pgpass. Keep KEYWAY_SECRET apart from the dump: the data needs it.',
    'For the embedded database, run this without DATABASE_URL.',
  ].join('\n')
}

/** Converts the address to options. */
function placeOf(databaseUrl: string): string {
  const placeholders = '--host=HOST --username=USER --dbname=DATABASE'
  if (!URL.canParse(databaseUrl)) return placeholders
  const { hostname, port, username, pathname, searchParams } = new URL(databaseUrl)
  const host = hostname || searchParams.get('host')
  const options = [
    ['host', host ?? 'HOST'],
    ['port', port],
    ['username', username || 'USER'],
    ['dbname', pathname.slice(1) || 'DATABASE'],
  ]
  // Values with a special meaning in a shell are not shown, because the lines are meant to be copied.
  if (options.some(([, value]) => !/^[\w./:[\]%-]*$/.test(value ?? ''))) return placeholders
  return options.flatMap(([name, value]) => (value ? [`--${name}=${value}`] : [])).join(' ')
}
