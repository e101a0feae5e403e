/** Templates of `keyway new`, by the kind of system. */

/** Files that the other templates take from the one for the web. */
const SHARED: readonly string[] = ['package.json', 'tsconfig.json']

const NONE: readonly string[] = []

/**
 * For each template: its folder below `plugin-template`, the files that it shares, and its page for authors.
 */
export const TEMPLATES = {
  web: { folder: '.', shares: NONE, page: 'guide.md' },
  ldap: { folder: 'ldap', shares: SHARED, page: 'ldap.md' },
  sql: { folder: 'sql', shares: SHARED, page: 'sql.md' },
  'sql-tables': { folder: 'sql-tables', shares: SHARED, page: 'sql.md' },
}

export type TemplateName = keyof typeof TEMPLATES
