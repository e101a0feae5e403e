/** Templates of `keyway new`, by what the system speaks. */

/** What those for other systems take from the one for the web. */
const SHARED: readonly string[] = ['package.json', 'tsconfig.json']

const NONE: readonly string[] = []

/** Where the files of each are, below `plugin-template`; which it shares; and its page for authors. */
export const TEMPLATES = {
  web: { folder: '.', shares: NONE, page: 'guide.md' },
  ldap: { folder: 'ldap', shares: SHARED, page: 'ldap.md' },
  sql: { folder: 'sql', shares: SHARED, page: 'sql.md' },
}

export type TemplateName = keyof typeof TEMPLATES
