/**
 * Readable page of evidence: one self-contained HTML file that runs nothing and can be printed. It is built
 * from the lines as they are written, and keeps only what it shows. Pure.
 */
import { createHash } from 'node:crypto'
import { tableOf } from '../../../contract/schema/keys.ts'
import { membersOf } from '../../../contract/schema/record.ts'
import { EVIDENCE_WORDS } from '../../../words/evidence.ts'
import { DEFAULT_LANGUAGE, type Language } from '../../../words/languages.ts'
import { EVIDENCE_STYLE } from './page-style.ts'

type Content = Readonly<Record<string, unknown>>
type Cell = string | number | null | undefined

/** Returns the start of every page in a language. Its policy forbids loading and running anything. */
export const pageBegins = (language: Language): string =>
  `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><meta name="viewport" content="width=device-width">`

/** Maximum number of rows of a table. The file has all. */
const MAX_ROWS = 2000
/** Maximum number of people and groups whose names the page knows. */
const MAX_NAMES = 10_000
/** Maximum length of a cell, in characters. */
const MAX_TEXT = 500
/** Word that may be broken, since it could push the table off the page. Longer than a timestamp. */
const LONG = /\S{25}/
/** Minimum length of a part in characters. Each part is a line of the file. */
const PART = 64 * 1024

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' },
}

/** Escapes a text for HTML. Shows invisible and direction-changing characters as numbers. */
const shown = (text: Cell): string =>
  String(text ?? '–')
    .slice(0, MAX_TEXT)
    .replace(
      /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu,
      (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`,
    )
    .replace(/[&<>"']/g, (one) => ENTITIES[one] ?? '')

const text = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

type Table = { title: string; heads: readonly string[]; rows: string[]; left: number }

const table = ([title = '', ...heads]: readonly string[]): Table => ({
  title,
  heads,
  rows: [],
  left: 0,
})

function add({ rows, heads, ...of }: Table, cells: readonly Cell[]): number {
  if (rows.length >= MAX_ROWS) return of.left + 1
  rows.push(
    `<tr>${cells.map((one, at) => `<td data-head="${shown(heads[at])}"${LONG.test(String(one ?? '')) ? ' class="long"' : ''}>${shown(one)}</td>`).join('')}</tr>`,
  )
  return of.left
}

/** Members of the subject shown above the tables. */
const FACTS = ['as_of', 'deadline_at', 'completed_at', 'id'] as const

/** Kinds of lines that fill a table, in the order of the tables. */
const SHOWN = ['app', 'notification', 'act', 'item', 'held', 'step', 'upload', 'log'] as const
type Shown = (typeof SHOWN)[number]

/** Helpers for the text of cells. */
type Deps = {
  words: Words
  nameOf: (id: unknown) => string | null
  appOf: (line: Content) => string | null
}
type Words = (typeof EVIDENCE_WORDS)[Language]

/** Returns a text such as `gone at 2027-01-01T00:00:00.000Z (get_account, call 7f3a.12ab34cd)`. */
function readingWords(line: Content, words: Words): string {
  const last = membersOf(listOf(line['readings']).at(-1))
  const said = (value: unknown) => String(text(value))
  if (last['at'] !== undefined)
    return words.reading(
      last['shown'] === true,
      ...([said(last['at']), said(last['capability']), said(last['call_id'])] as const),
    )
  if (line['gone_run']) return words.gone(said(line['gone_run']), said(line['gone_at']))
  return text(line['gone_at']) ?? '–'
}

const told = (line: Content): unknown[] => [
  ...listOf(line['user_ids']),
  ...listOf(line['group_ids']),
]

const whyHeld = (reasons: unknown, words: Words): string =>
  listOf(reasons)
    .map(membersOf)
    .map((one) =>
      [
        one['kind'] === 'found' ? words.found : one['kind'],
        one['policy_name'] ?? one['request_id'],
        one['ends_at'] ? words.ends(String(one['ends_at'])) : null,
        one['end_reason'],
      ]
        .flatMap((part) => text(part) ?? [])
        .join(' '),
    )
    .join(', ')

function heldWords(line: Content, words: Words): string | null {
  const label = text(line['label'])
  if (line['kind'] === 'group') return `${label} (${words.group})`
  return label ?? words.account
}

/** Returns the members of a log entry, or none if it is invalid. */
function entryOf(line: Content): unknown[] {
  try {
    return listOf(JSON.parse(`[${line['body']}]`))
  } catch {
    return []
  }
}

/** Cells of a row, by kind of line. */
const ROWS: Readonly<Record<Shown, (line: Content, deps: Deps) => Cell[]>> = {
  app(line) {
    const of = membersOf(line['population'])
    const excluded = Object.values(membersOf(of['excluded'])).map(Number)
    const out = excluded.reduce((sum, one) => sum + one, Number(of['left_out'] ?? 0))
    const connector = [of['connector'], of['connector_version'], of['connector_digest']].map(text)
    return [
      ...[text(line['name']), text(line['status']), text(of['run']), text(of['at'])],
      ...[text(of['synced']), text(of['items']), String(out), connector.filter(Boolean).join(' ')],
    ]
  },
  notification: (line, { nameOf, words }) => [
    ...[text(line['at']), told(line).map(nameOf).join(', '), text(line['way'])],
    ...[text(line['what']), text(line['outcome']) ?? words.waits],
  ],
  act: (line, { nameOf }) => [
    ...[text(line['at']), nameOf(line['by_id']), text(line['decision']), text(line['items'])],
    text(line['reason']),
  ],
  item: (line, { nameOf, appOf, words }) => [
    ...[appOf(line), text(line['unique_identifier'])],
    text(line['user_name']) ?? text(line['user_email']),
    text(line['label']) ?? text(line['entitlement_id']) ?? words.account,
    ...[text(line['state']), nameOf(line['decided_by_id'] ?? undefined), text(line['decided_at'])],
    ...[text(line['reason']), readingWords(line, words)],
  ],
  held: (line, { words }) => [
    text(line['app_name']) ?? (line['kind'] === 'group' ? words.own : null),
    text(line['unique_identifier']) ?? (line['kind'] === 'granted' ? words.unseen : null),
    ...[heldWords(line, words), text(line['since']), text(line['until'])],
    whyHeld(line['reasons'], words),
  ],
  step: (line, { words }) => [
    ...[text(line['app_name']), text(line['account']), text(line['state'])],
    ...[text(line['problem']), readingWords(line, words)],
  ],
  upload: (line, { nameOf }) => [
    ...[text(line['at']), nameOf(line['by_id']), text(line['name']), text(line['bytes'])],
    text(line['digest']),
  ],
  log(line, { nameOf }) {
    const [, event, outcome, by, targets, metadata] = entryOf(line)
    const behalf = membersOf(metadata)['on_behalf_of']
    const actors = [membersOf(by)['id'] ?? null, ...(behalf === undefined ? [] : [behalf])]
    const about = listOf(targets)
      .map(membersOf)
      .map((one) => [text(one['target_type']), text(one['id'])].filter(Boolean).join(' '))
    return [
      ...[text(line['began_at']), actors.map(nameOf).join(' / ')],
      ...[[text(event), outcome === 'Succeeded' ? null : text(outcome)].filter(Boolean).join(' ')],
      about.join(', '),
    ]
  },
}

const isTable = (kind: string): kind is Shown => Object.hasOwn(ROWS, kind)

/** Creates a page. It takes the lines of a file in order; then `parts` returns the page. */
export function createPage(fingerprint: string, language: Language = DEFAULT_LANGUAGE) {
  const words = EVIDENCE_WORDS[language]
  const tables = tableOf(SHOWN.map((kind) => [kind, table(words[kind])] as const))
  const names = new Map<string, string>()
  const apps = new Map<string, string | null>()
  const states: Record<string, number> = {}
  const facts: [string, Cell][] = []
  let title = ''
  let head: Cell = null

  const nameOf = (id: unknown): string | null =>
    id === null ? words.host : (names.get(String(id)) ?? text(id))

  const appOf = (line: Content) => apps.get(String(line['arda_id'])) ?? text(line['app_id'])

  function begin(kind: string, line: Content): void {
    const of = membersOf(line[kind])
    const name = text(of['name']) ?? ''
    const person = text(membersOf(line['person'])['name'])
    const whose = person ? `${person} (${name})` : name
    title =
      { access: words.access_of(whose), offboarding: words.offboarding_of(whose) }[kind] ?? name
    facts.push([words.taken_at, text(line['taken_at'])])
    facts.push([words.state, text(of['status']) ?? null])
    facts.push([words.final, line['final'] === true ? words.yes : words.not_final])
    for (const name of FACTS) if (of[name]) facts.push([words[name], text(of[name])])
  }

  return {
    take(kind: string, line: Content): void {
      if (facts.length === 0) begin(kind, line)
      if ((kind === 'person' || kind === 'group') && names.size < MAX_NAMES)
        names.set(
          String(line['id']),
          [text(line['name']), text(line['email'])].filter(Boolean).join(' '),
        )
      if (kind === 'app') apps.set(String(line['arda_id']), text(line['name']))
      if (kind === 'chain') head = text(line['head'])
      if (!isTable(kind)) return
      const state = kind === 'item' || kind === 'step' ? text(line['state']) : null
      if (state !== null) states[state] = (states[state] ?? 0) + 1
      tables[kind].left = add(tables[kind], ROWS[kind](line, { words, nameOf, appOf }))
    },

    /** Returns the contents of the lines `page`. */
    *parts(): Generator<Record<string, unknown>> {
      const whole = createHash('sha256')
      let [part, bytes, gathered] = [0, 0, '']
      const handOn = (more: object = {}) => {
        part += 1
        const content = { name: 'index.html', part, content: gathered, ...more }
        gathered = ''
        return content
      }
      for (const piece of pieces()) {
        whole.update(piece)
        bytes += Buffer.byteLength(piece)
        gathered += piece
        if (gathered.length >= PART) yield handOn()
      }
      yield handOn({ bytes, digest: whole.digest('hex') })
    },
  }

  function* pieces(): Generator<string> {
    yield `${pageBegins(language)}<title>${shown(title)}</title><style>${EVIDENCE_STYLE}</style></head><body><h1>${shown(title)}</h1>`
    const all: [string, Cell][] = [
      ...facts,
      ...Object.entries(states),
      [words.head, head],
      [words.signed, fingerprint],
    ]
    yield `<dl>${all.map(([name, value]) => `<dt>${shown(name)}</dt><dd>${shown(value)}</dd>`).join('')}</dl>`
    yield `<p>${shown(words.counts)}</p>`
    for (const { title: name, heads, rows, left } of Object.values(tables)) {
      if (rows.length === 0) continue
      yield `<h2>${shown(name)}</h2><table><thead><tr>${heads.map((one) => `<th scope="col">${shown(one)}</th>`).join('')}</tr></thead><tbody>`
      yield* rows
      yield `</tbody></table>${left > 0 ? `<p>${shown(words.more(left))}</p>` : ''}`
    }
    yield '</body></html>\n'
  }
}
