/**
 * Picture of why a person has their access: reason, permission and app, from left to right. The table next to
 * it has the same content.
 */
import { html } from 'hono/html'
import type { Access, AccessReason } from '../../contract/models/access.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { brief } from './parts.ts'

type ReasonKind = AccessReason['kind'] | 'group'

/** One path from a reason to an app. */
export type GraphLine = {
  kind: ReasonKind
  reason: string
  /** Address with more about the reason, or null. */
  reasonAt: string | null
  /** Address to revoke it, or null if no request granted it. */
  revokeAt: string | null
  permission: string
  /** Id of an account that has a name; null for anything else. */
  accountId: string | null
  app: string
  appAt: string | null
}

/** Converts access to lines, ordered by reason. `names` contains names of accounts by id. */
export const linesOf = (
  t: PageLocale,
  held: readonly Access[],
  names: ReadonlyMap<string, string> = new Map(),
): GraphLine[] =>
  held
    .flatMap((one): GraphLine[] => {
      const w = t.console.person
      const id = one.kind === 'account' ? (one.unique_identifier ?? '') : ''
      const name = names.get(one.account_id ?? '') ?? id
      const permission =
        one.kind === 'account'
          ? w.account(name)
          : (one.label ?? (one.kind === 'granted' ? t.w.access : one.kind))
      const app = one.app_name ?? w.directory
      const appAt = one.app_id ? `/console/apps/${one.app_id}` : null
      const accountId = name === id || one.kind !== 'account' ? null : id
      const to = { permission, accountId, app, appAt }
      if (one.kind === 'group' && one.reasons.every(({ kind }) => kind === 'found'))
        return [{ ...to, kind: 'group', reason: w.member, ...NOWHERE }]
      if (one.reasons.length === 0) return [{ ...to, kind: 'found', reason: w.found, ...NOWHERE }]
      return one.reasons.map((reason) => ({ ...to, ...reasonOf(t, reason) }))
    })
    .sort(
      (a, b) =>
        KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
        a.reason.localeCompare(b.reason, 'en') ||
        a.app.localeCompare(b.app, 'en'),
    )

const NOWHERE = { reasonAt: null, revokeAt: null } as const

const KINDS: readonly ReasonKind[] = ['request', 'policy', 'group', 'found']

function reasonOf(
  t: PageLocale,
  reason: AccessReason,
): Pick<GraphLine, 'kind' | 'reason' | 'reasonAt' | 'revokeAt'> {
  const w = t.console.person
  const { kind } = reason
  if (kind === 'policy')
    return {
      kind,
      reason: w.policy(reason.policy_name ?? w.deleted),
      reasonAt: reason.policy_id ? `/console/policies/${reason.policy_id}` : null,
      revokeAt: null,
    }
  if (kind === 'found') return { kind, reason: w.found, ...NOWHERE }
  const at = reason.request_id ? `/access/requests/${reason.request_id}` : null
  const isThere = reason.request_id && reason.request_status === 'COMPLETED'
  return {
    ...{ kind, reason: w.asked(reason.since?.slice(0, 10) ?? ''), reasonAt: at },
    revokeAt: isThere ? `/console/requests/${reason.request_id}/revoke` : null,
  }
}

const LOOKS: Record<ReasonKind, string> = {
  request: 'busy',
  policy: 'rule',
  group: '',
  found: 'bad dots',
}

/** Number of nodes above which only the table is shown. */
const MAX_NODES = 60
const ROW = 40
const COLUMNS = [
  [8, 190],
  [236, 200],
  [472, 160],
] as const

type Node = { key: string; words: string; at: string | null; look: string }

/**
 * Key of a box. Two apps may have a permission of the same name, and an app two accounts; each has its own
 * box.
 */
const heldOf = ({ permission, accountId, app }: GraphLine): string =>
  JSON.stringify([app, permission, accountId])

/** Draws the picture. Returns null if there is nothing to draw, or too much to be legible. */
export function accessGraph(
  t: PageLocale,
  name: string,
  lines: readonly GraphLine[],
): Markup | null {
  const nodes = [
    unique(lines, ({ reason, reasonAt, kind }) => ({
      ...{ key: reason, words: reason },
      at: reasonAt,
      look: LOOKS[kind].split(' ')[0] ?? '',
    })),
    unique(lines, (one) => ({ key: heldOf(one), words: one.permission, at: null, look: '' })),
    unique(lines, ({ app, appAt }) => ({ key: app, words: app, at: appAt, look: '' })),
  ]
  const count = nodes.reduce((sum, column) => sum + column.size, 0)
  if (lines.length === 0 || count > MAX_NODES) return null
  const height = Math.max(...nodes.map((column) => column.size)) * ROW + 8
  const yOf = (column: number, key: string): number => {
    const names = [...(nodes[column]?.keys() ?? [])]
    return (height / names.length) * (names.indexOf(key) + 0.5)
  }
  const edge = (from: number, a: string, b: string, look: string): Markup => {
    const [x1, x2] = [
      (COLUMNS[from]?.[0] ?? 0) + (COLUMNS[from]?.[1] ?? 0),
      COLUMNS[from + 1]?.[0] ?? 0,
    ]
    const [y1, y2] = [yOf(from, a), yOf(from + 1, b)]
    const middle = (x1 + x2) / 2
    return html`<path class="e ${look}" d="M${x1} ${y1.toFixed(1)}C${middle} ${y1.toFixed(1)} ${middle} ${y2.toFixed(1)} ${x2} ${y2.toFixed(1)}"/>`
  }
  const edges = lines.map(
    (one) =>
      html`${edge(0, one.reason, heldOf(one), LOOKS[one.kind])}${edge(1, heldOf(one), one.app, LOOKS[one.kind])}`,
  )
  const boxes = nodes.map((column, at) =>
    [...column.values()].map((one) => box(one, COLUMNS[at] ?? COLUMNS[0], yOf(at, one.key))),
  )
  return html`<svg class="graph" viewBox="0 0 640 ${height}" role="group" aria-labelledby="ag-t ag-d">
<title id="ag-t">${t.console.person.graph(brief(name, 80))}</title><desc id="ag-d">${t.console.person.graphText}</desc>
${edges}${boxes}</svg>`
}

function unique(lines: readonly GraphLine[], of: (line: GraphLine) => Node): Map<string, Node> {
  const found = new Map<string, Node>()
  for (const line of lines) {
    const node = of(line)
    if (!found.has(node.key)) found.set(node.key, node)
  }
  return found
}

function box({ words, at, look }: Node, [x, width]: readonly [number, number], y: number): Markup {
  const inside = html`<rect class="node ${look}" x="${x}" y="${(y - 15).toFixed(1)}" width="${width}" height="30" rx="7"/><text class="b" x="${x + 11}" y="${(y + 4).toFixed(1)}">${brief(words, Math.floor((width - 16) / 7.1))}</text>`
  return at === null
    ? html`<g>${inside}</g>`
    : html`<a href="${at}" aria-label="${words}">${inside}</a>`
}
