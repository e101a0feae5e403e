/** Map of a connector's egress: declared, used and refused hosts. It is a picture with a table next to it. */
import { html } from 'hono/html'
import * as v from 'valibot'
import type { CalledHost } from '../../contract/endpoints/call-minutes.ts'
import type { Want } from '../../contract/endpoints/generation.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { empty } from '../pages/parts.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import { key } from './charts.ts'
import { brief, type Cells, card, table, thousands } from './parts.ts'

const LOOKS = {
  used: ['good', 'check'],
  idle: ['', 'minus'],
  wanted: ['wait', 'clock'],
  refused: ['bad', 'x'],
  undeclared: ['', 'info'],
} as const satisfies Record<string, BadgeLook>

type EgressState = keyof typeof LOOKS

/** One connection from a capability to a host. */
type Way = {
  capability: string
  host: string
  methods: string[]
  state: EgressState
  requests: number
  refused: number
}

/** Number of rows above which only the table is shown, because lines would overlap. */
const MAX_DRAWN = 24

/** Number of rows that are visible in a table without a picture. On a phone each row is a card. */
const MAX_OPEN = 12

/** Key of an egress want: capability, method, address. */
const EgressKey = v.tuple([v.string(), v.string(), v.string()])

type Declared = { capability: string; host: string; methods: string[]; withheld: boolean }

/** Groups the declared methods by capability and host. `withheld` methods are not granted. */
function declared(wants: readonly Want[], withheld: readonly Want[]): Declared[] {
  const refused = new Set(withheld.map(({ kind, key: one }) => `${kind} ${one}`))
  const found = new Map<string, Declared>()
  for (const want of wants) {
    if (want.kind !== 'egress') continue
    const [capability, method, url] = v.parse(EgressKey, JSON.parse(want.key))
    const host = hostOf(url)
    const known = found.get(`${capability} ${host}`) ?? {
      capability,
      host,
      methods: [],
      withheld: false,
    }
    found.set(`${capability} ${host}`, {
      ...known,
      methods: [...new Set([...known.methods, method])],
      withheld: known.withheld || refused.has(`egress ${want.key}`),
    })
  }
  return [...found.values()]
}

/** Returns the host of an address, which may have placeholders: `https://{tenant}.example.com/v1`. */
function hostOf(url: string): string {
  const [, host = url] = /^[a-z+]+:\/\/([^/?#]+)/i.exec(url) ?? []
  return host
}

/** Reports whether a called host may be the declared one. A placeholder matches any text. */
export function isMeant(declaredHost: string, host: string): boolean {
  const bare = declaredHost.toLowerCase().replace(/:\d+$/, '')
  if (!/[{*]/.test(bare)) return bare === host.toLowerCase().replace(/:\d+$/, '')
  const parts = bare.split(/\{[^}]*\}|\*+/).map((part) => part.replace(/[.+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`).test(host.toLowerCase().replace(/:\d+$/, ''))
}

/** Returns the egress of a connector. Rows that need attention come first. */
export function waysOf(
  { wants, withheld }: { wants: readonly Want[]; withheld: readonly Want[] },
  called: readonly CalledHost[],
): Way[] {
  const left = new Set(called)
  const ways: Way[] = declared(wants, withheld).map(({ withheld: isWithheld, ...one }) => {
    const used = called.filter(
      ({ capability, host }) => capability === one.capability && isMeant(one.host, host),
    )
    for (const row of used) left.delete(row)
    const requests = used.reduce((sum, row) => sum + row.requests, 0)
    const refused = used.reduce((sum, row) => sum + row.refused, 0)
    return {
      ...one,
      requests,
      refused,
      state: isWithheld ? 'wanted' : requests > 0 ? 'used' : 'idle',
    }
  })
  for (const { capability, host, requests, refused } of left)
    ways.push({
      ...{ capability, host, methods: [], requests, refused },
      state: refused > 0 ? 'refused' : 'undeclared',
    })
  return ways.sort(
    (a, b) => RANK.indexOf(a.state) - RANK.indexOf(b.state) || b.requests - a.requests,
  )
}

const RANK: readonly EgressState[] = ['refused', 'wanted', 'used', 'undeclared', 'idle']

const EDGES: Record<EgressState, string> = {
  used: 'good',
  idle: 'dash',
  wanted: 'wait dash',
  refused: 'bad dots',
  undeclared: 'busy dash',
}

export function egressMap(t: PageLocale, id: string, ways: readonly Way[]): Markup {
  const w = t.console.one_connector
  const about = { id: 'egress', title: w.egress, note: w.egressNote }
  if (ways.length === 0) return card(about, empty('info', w.noEgress, w.noEgressText))
  const rows = ways.map(({ capability, host, methods, state, requests, refused }) => [
    html`<span class="mono">${brief(host, 120)}</span>${methods.length > 0 ? html`<span class="sub">${methods.join(', ')}</span>` : ''}`,
    html`<span class="mono">${capability}</span>`,
    badge(LOOKS[state], w.egressStates[state]),
    thousands(requests, t),
    thousands(refused, t),
  ])
  const drawn = picture(t, id, ways)
  const tableOf = (some: readonly Cells[]) =>
    table(
      w.egress,
      [w.host, w.capability, w.egressState, [w.requests, 'num'], [w.refused, 'num c3']],
      some,
      t,
    )
  const folded = rows.slice(MAX_OPEN)
  return card(
    about,
    drawn === null
      ? html`${tableOf(rows.slice(0, MAX_OPEN))}${folded.length === 0 ? '' : html`<details class="in more"><summary>${w.moreWays(folded.length)}</summary>${tableOf(folded)}</details>`}`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="${w.egressPicture}"><div class="in">${drawn}</div></div>
<div class="in stack tight">${key([
          { look: EDGES.used, words: w.key.used, line: true },
          { look: EDGES.idle, words: w.key.idle, line: true },
          { look: EDGES.wanted, words: w.key.wanted, line: true },
          { look: EDGES.refused, words: w.key.refused, line: true },
        ])}
<details class="more"><summary>${w.asTable}</summary>${tableOf(rows)}</details></div>`,
  )
}

const ROW = 34
const BOX = { height: 26, connector: [8, 90], capability: [138, 232], host: [424, 208] } as const

/**
 * Draws connector, capabilities and hosts in three columns. Returns null if there is too much to be legible.
 */
function picture(t: PageLocale, id: string, ways: readonly Way[]): Markup | null {
  const w = t.console.one_connector
  const capabilities = [...new Set(ways.map(({ capability }) => capability))]
  const hosts = [...new Set(ways.map(({ host }) => host))]
  const rows = Math.max(capabilities.length, hosts.length)
  if (rows > MAX_DRAWN || ways.length > 2 * MAX_DRAWN) return null
  const height = rows * ROW + 8
  const middle = (at: number, count: number) => (height / count) * (at + 0.5)
  const yOf = (names: readonly string[], name: string) => middle(names.indexOf(name), names.length)
  const most = Math.max(...ways.map(({ requests }) => requests), 1)
  const curve = (x1: number, y1: number, x2: number, y2: number) =>
    `M${x1} ${round(y1)}C${(x1 + x2) / 2} ${round(y1)} ${(x1 + x2) / 2} ${round(y2)} ${x2} ${round(y2)}`
  const states = (own: readonly Way[]): string =>
    EDGES[RANK.find((state) => own.some((one) => one.state === state)) ?? 'idle']
  const [cx, cw] = BOX.connector
  const [px, pw] = BOX.capability
  const [hx] = BOX.host
  const edges = [
    ...capabilities.map((name) => {
      const own = ways.filter(({ capability }) => capability === name)
      return html`<path class="e ${states(own)}" d="${curve(cx + cw, height / 2, px, yOf(capabilities, name))}"/>`
    }),
    ...ways.map(
      ({ capability, host, state, requests }) =>
        html`<path class="e ${EDGES[state]} ${requests > most / 2 ? 'thick' : ''}" d="${curve(px + pw, yOf(capabilities, capability), hx, yOf(hosts, host))}"/>`,
    ),
  ]
  const node = ([x, width]: readonly [number, number], y: number, words: string, look = '') =>
    html`<g><rect class="node ${look}" x="${x}" y="${round(y - BOX.height / 2)}" width="${width}" height="${BOX.height}" rx="6"/><text class="b" x="${x + 10}" y="${round(y + 4)}">${brief(words, Math.floor((width - 14) / 7.5))}</text></g>`
  return html`<svg class="graph" viewBox="0 0 640 ${height}" role="img" aria-labelledby="eg-t eg-d">
<title id="eg-t">${w.egress}: ${brief(id, 60)}</title><desc id="eg-d">${w.egressNote}. ${w.asTable}</desc>
${edges}${node(BOX.connector, height / 2, id, 'core')}${capabilities.map((name) => node(BOX.capability, yOf(capabilities, name), name))}${hosts.map((name) => node(BOX.host, yOf(hosts, name), name))}</svg>`
}

const round = (value: number): string => String(Math.round(value * 10) / 10)
