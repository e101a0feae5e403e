/**
 * Tables that a backup leaves out, and that a restore from the files of a server empties: temporary or
 * single-use sign-ins, and state of hosts that have ended.
 */

/** SHORT_LIVED: table of the schema `public` -> why a restore removes its rows. */
const SHORT_LIVED: Readonly<Record<string, string>> = {
  sessions: 'who has signed out since would be signed in again',
  login_links: 'one that was used since would sign a user in a second time',
  shared_answers: 'the host that was finding the answer is gone',
  nodes: 'hosts of then are not hosts of this database',
}

/** Names of the tables with their schema. */
export const SHORT_LIVED_TABLES: ReadonlySet<string> = new Set(
  Object.keys(SHORT_LIVED).map((name) => `public.${name}`),
)

/** Statement that empties the tables which the version of the backup has. One line, without a line break. */
export const END_SHORT_LIVED: string = [
  'do $$ declare one text; begin',
  `foreach one in array array[${[...SHORT_LIVED_TABLES].map((name) => `'${name}'`).join(', ')}] loop`,
  `if to_regclass(one) is not null then execute 'delete from ' || one; end if;`,
  'end loop; end $$',
].join(' ')
