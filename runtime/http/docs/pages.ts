/**
 * PAGES: the pages below /docs, in the order of the table of contents. Their texts are Markdown files of this
 * package, which are read on first use.
 */
import path from 'node:path'
import { PICTURE_FILES, PICTURE_TYPE } from './pictures.ts'

/** Folder of the package. It is at the same distance from the sources as from the build. */
export const PACKAGE: string = path.join(import.meta.dirname, '..', '..', '..')

export type DocsPage = {
  /** Address below /docs; empty for /docs itself. */
  slug: string
  /** Markdown file, relative to the package. */
  file: string
  /** Whether the table of contents lists the page. */
  isListed: boolean
}

type Part = { title: string; pages: readonly DocsPage[] }

const page = (slug: string, file = `runtime/docs/${slug}.md`): DocsPage => ({
  slug,
  file,
  isListed: true,
})
const unlisted = (slug: string, file: string): DocsPage => ({ slug, file, isListed: false })
const below = (folder: string, names: readonly string[]): DocsPage[] =>
  names.map((name) => page(`${folder}/${name}`))
const CONNECTORS = [
  ...['scim', 'github', 'okta', 'slack', 'google-workspace', 'rabbitmq', 'keystone', 'ldap'],
  ...['active-directory', 'postgresql', 'mariadb', 'redmine', 'influxdb', 'wordpress'],
]

export const DOCS_PARTS: readonly Part[] = [
  { title: 'Begin', pages: [page('', 'runtime/docs/README.md'), page('start')] },
  {
    title: 'Write connectors',
    pages: below('authors', [
      ...['guide', 'conventions', 'manifest', 'sdk', 'cases', 'recipes', 'ldap', 'sql'],
    ]),
  },
  {
    title: 'Operate',
    pages: below('operate', [
      ...['install', 'deploy', 'tls', 'several-hosts', 'connectors'],
      ...['registry', 'secrets'],
      ...['sign-in', 'mail', 'backup'],
      ...['upgrade', 'monitoring', 'troubleshooting', 'containment'],
    ]),
  },
  {
    title: 'Administer',
    pages: below('administer', [
      ...[
        'people',
        'scim',
        'apps',
        'sync',
        'store',
        'requests',
        'policies',
        'reviews',
        'findings',
        'webhooks',
      ],
    ]),
  },
  {
    title: 'Reference',
    pages: below('reference', [
      ...['settings', 'commands', 'endpoints', 'access', 'capabilities', 'errors', 'limits'],
      ...['events', 'metrics', 'evidence'],
    ]),
  },
  {
    title: 'Built-in connectors',
    pages: [
      page('connectors', 'plugins/README.md'),
      ...CONNECTORS.map((id) => page(`connectors/${id}`, `plugins/${id}/README.md`)),
    ],
  },
  {
    title: 'Design',
    pages: below('design', ['architecture', 'sandbox', 'decisions', 'measurements']),
  },
  {
    title: 'Specification',
    pages: ['service', 'connector-interface', 'core-interface'].map((name) =>
      page(`specification/${name}`, `runtime/spec/${name}.md`),
    ),
  },
  {
    title: 'More',
    pages: [
      page('changelog', 'CHANGELOG.md'),
      unlisted('attacks', 'test/hostile/README.md'),
      unlisted('results', 'test/bench/RESULTS.md'),
      unlisted('template', 'plugin-template/README.md'),
      unlisted('template-sql-tables', 'plugin-template/sql-tables/README.md'),
    ],
  },
]

export const DOCS_PAGES: readonly DocsPage[] = DOCS_PARTS.flatMap(({ pages }) => pages)

/** Files that pages link to and that are served unchanged: address below /docs -> media type. */
export const FILES: Readonly<Record<string, string>> = {
  'runtime/docs/picture.svg': 'image/svg+xml',
  'runtime/docs/picture-dark.svg': 'image/svg+xml',
  ...Object.fromEntries(PICTURE_FILES.map((file) => [file, PICTURE_TYPE])),
  'runtime/docs/reference/verify_evidence.py': 'text/plain; charset=utf-8',
  'scripts/deploy/Containerfile': 'text/plain; charset=utf-8',
  'scripts/deploy/haproxy.cfg': 'text/plain; charset=utf-8',
  'scripts/deploy/keyway-backup.service': 'text/plain; charset=utf-8',
  'scripts/deploy/keyway-backup.timer': 'text/plain; charset=utf-8',
  'scripts/deploy/keyway.rules.yml': 'text/plain; charset=utf-8',
  'scripts/deploy/keyway.service': 'text/plain; charset=utf-8',
  'scripts/deploy/nginx.conf': 'text/plain; charset=utf-8',
  'test/fixtures/readme/people.csv': 'text/plain; charset=utf-8',
}

/** Returns the address of a page. */
export const docsAddressOf = ({ slug }: Pick<DocsPage, 'slug'>): string =>
  slug === '' ? '/docs' : `/docs/${slug}`

const bySource = new Map(DOCS_PAGES.map((one) => [one.file, one]))

/**
 * Returns the address in the browser to which a link of a page leads.
 *
 * @param from The Markdown file that contains the link, relative to the package.
 * @param target The link as written: relative, with or without a fragment, or absolute.
 * @returns null if the target is not served
 */
export function resolveLink(from: string, target: string): string | null {
  if (/^https:\/\//.test(target) || /^http:\/\/127\.0\.0\.1[:/]/.test(target)) return target
  if (/^[a-z][a-z0-9+.-]*:|^\/|\\/i.test(target)) return null
  const [file = '', fragment] = target.split('#')
  const hash = fragment === undefined ? '' : `#${fragment}`
  if (file === '') return hash
  const full = path.posix.join(path.posix.dirname(from), file).replace(/\/$/, '')
  const found = bySource.get(full) ?? bySource.get(`${full}/README.md`)
  if (found) return docsAddressOf(found) + hash
  return Object.hasOwn(FILES, full) ? `/docs/files/${full}` : null
}
