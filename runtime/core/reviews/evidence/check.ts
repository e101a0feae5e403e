/**
 * Consistency of the lines of evidence: each population adds up, each line has the state that its decisions
 * lead to, and the log contains the actions. Memory holds sums, not lines: multisets that must be equal on
 * both sides are compared by sums of digests as numbers. Pure.
 */
import { createHash } from 'node:crypto'
import { membersOf } from '../../../contract/schema/record.ts'
import { EVIDENCE_KINDS, type EvidenceSubject, SUBJECTS } from './form.ts'
import { createPageCheck } from './page-check.ts'

type Line = Record<string, unknown>

/** Permitted states of a line by its last decision. */
const LED_TO: Readonly<Record<string, readonly string[]>> = {
  none: ['OPEN', 'NOT_DECIDED', 'VANISHED'],
  KEEP: ['KEPT'],
  REJECT: ['REJECTED', 'REMOVING', 'REMOVED', 'WAITING_FOR_HANDS', 'EXCEPTED', 'TO_MODIFY'],
  MODIFY: ['TO_MODIFY'],
}

/** Permitted states after the first KEEP of a line that requires confirmation. */
const UNCONFIRMED: readonly string[] = ['TO_CONFIRM', 'NOT_DECIDED', 'VANISHED']

/** Summary of evidence. */
export type EvidenceSummary = {
  about: EvidenceSubject
  /** Subject: a review, an offboarding, or a person whose access it shows. */
  review: { id: string; name: string; status: string }
  taken_at: string
  /** Time at which the shown access was held; null for other evidence. */
  as_of: string | null
  /** Whether the subject was over, so that it can no longer change. */
  final: boolean
  apps: number
  items: number
  states: Record<string, number>
  acts: number
  /** Number of files that people attached. */
  uploads: number
  /** Number of tasks and mails by which people were asked. */
  notifications: number
  /** Numbers of accounts of an offboarding, and of items that a person held. */
  steps: number
  held: number
  /** Whether it contains a readable page. */
  page: boolean
  log_entries: number
  /** Number of entries that were not chained yet, and so are not linked to others. */
  not_chained: number
  /** Number of entries without the names of erased persons. Their hashes are of the original text. */
  redacted: number
  /** Newest hash of the whole log, to check with `keyway audit verify --head`. */
  log_head: string
  /** Why the log could not be compared completely, or null. */
  log_gap: string | null
}

type EvidenceCheck = {
  take(line: Line): void
  /** Returns the inconsistencies, in the order of the file, and a summary. */
  end(): { problems: string[]; summary: EvidenceSummary }
}

const ORDER: readonly string[] = EVIDENCE_KINDS
/** Maximum number of problems reported. */
const MAX_PROBLEMS = 20

/** Returns a 256-bit number for a text. */
const numberOf = (...parts: unknown[]): bigint =>
  BigInt(`0x${createHash('sha256').update(parts.map(String).join('\n')).digest('hex')}`)

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Creates a check, which takes all lines in order. */
export function createCheck(): EvidenceCheck {
  const problems: string[] = []
  const wrong = (words: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(words)
  }
  let rank = 0
  let review: Line = {}
  let about: EvidenceSubject = 'review'
  const page = createPageCheck(wrong)
  let chain: Line = {}
  const apps = new Map<string, { line: Line; items: number; isLogged: boolean }>()
  const states: Record<string, number> = {}
  let [acts, items, entries, waiting, redacted, lastPlace, uploads] = [0, 0, 0, 0, 0, 0, 0]
  let [steps, left, held, notifications] = [0, 0, 0, 0]
  /** Digest sums: decisions by acts less those by items; acts, removals and files less their log entries. */
  let [decided, told, removed, read, attached] = [0n, 0n, 0n, 0n, 0n]
  let lastHash: string | null = null

  const takers: Readonly<Record<string, (line: Line) => void>> = {
    review: takeSubject,
    offboarding: takeSubject,
    access: takeSubject,
    person: () => {},
    group: () => {},
    reviewers: () => {},
    notification: () => {
      notifications += 1
    },
    app: takeApp,
    act: takeAct,
    chain: (line) => {
      chain = line
    },
    item: takeItem,
    upload: takeUpload,
    step: (line) => {
      steps += 1
      if (line['state'] !== 'done') left += 1
    },
    held: () => {
      held += 1
    },
    log: takeEntry,
    page: page.take,
  }

  function takeSubject(line: Line): void {
    review = line
    about = SUBJECTS.find((one) => one === line['kind']) ?? 'review'
  }

  function takeApp(line: Line): void {
    apps.set(text(line['arda_id']), { line, items: 0, isLogged: false })
    if (line['population'] === null) return
    const population = membersOf(line['population'])
    const excluded = Object.values(membersOf(population['excluded']))
    const sum = [population['items'], population['left_out'], ...excluded]
      .map(count)
      .reduce((all, one) => all + one, 0)
    if (sum !== population['synced'])
      wrong(`the population of ${line['name']} does not add up: ${sum} of ${population['synced']}`)
  }

  function takeAct({ id, decision, by_id, at, items: lines }: Line): void {
    acts += 1
    decided += BigInt(count(lines) || 0) * numberOf(id, decision, by_id, at)
    told += numberOf(id, decision, lines)
  }

  function takeItem(line: Line): void {
    items += 1
    const state = text(line['state'])
    states[state] = (states[state] ?? 0) + 1
    const app = apps.get(text(line['arda_id']))
    if (app) app.items += 1
    else wrong(`line ${line['n']} belongs to an app that is missing from the evidence`)
    const place = count(line['place'])
    if (!(place > lastPlace)) wrong(`line ${line['n']} is out of order`)
    lastPlace = place
    const decisions = listOf(line['decisions']).map(membersOf)
    for (const { act, decision, by_id, at } of decisions)
      decided -= numberOf(act, decision, by_id, at)
    const last = text(decisions.at(-1)?.['decision']) || 'none'
    const keeps = decisions.filter((one) => one['decision'] === 'KEEP')
    const isSecond = last === 'KEEP' && needsSecond(line, app?.line)
    if (isSecond && keeps.length > 1 && keeps[0]?.['by_id'] === keeps.at(-1)?.['by_id'])
      wrong(`line ${line['n']} was confirmed by the person who first kept it`)
    const led = isSecond && keeps.length === 1 ? UNCONFIRMED : LED_TO[last]
    if (!led?.includes(state))
      wrong(`line ${line['n']} is ${state}, which does not follow from its last decision (${last})`)
    if (state !== 'REMOVED') return
    if (line['gone_at'] === null)
      wrong(`line ${line['n']} is REMOVED without a check of the system`)
    // A line that a sync found gone has no log entry of its own. Its sync run is named.
    if (line['gone_run'] !== null) return
    removed += numberOf(line['id'])
    const reading = membersOf(listOf(line['readings']).at(-1))
    if (reading['shown'] === true)
      wrong(`line ${line['n']} is REMOVED, but the last check of the system still shows it`)
    if (text(reading['call_id']) !== '') read += numberOf(line['id'], reading['call_id'])
  }

  function takeUpload({ n, id, digest, bytes, content }: Line): void {
    uploads += 1
    attached += numberOf(id, digest)
    // The content from an erased person is removed.
    if (content === null) return
    const file = Buffer.from(text(content), 'base64')
    if (createHash('sha256').update(file).digest('hex') !== digest || file.length !== bytes)
      wrong(`line ${n} is not the file that was attached`)
  }

  function takeEntry({ n, before, body, began_at, hash, redacted: isRedacted }: Line): void {
    entries += 1
    const wholeText = `["${before}",${body},${JSON.stringify(began_at)}]`
    if (hash === null) waiting += 1
    else {
      if (isRedacted === true) redacted += 1
      else if (createHash('sha512').update(wholeText).digest('hex') !== hash)
        wrong(`line ${n} is not an entry of the log: its hash belongs to another text`)
      if (hash === lastHash) wrong(`line ${n} repeats an entry of the log`)
      lastHash = text(hash)
    }
    const [, type, , , , metadata] = listOf(JSON.parse(`[${body}]`))
    const said = membersOf(metadata)
    if (type === 'ACCESS_REVIEW_DECIDED')
      told -= numberOf(said['act_id'], said['decision'], said['items'])
    if (type === 'ACCESS_REVIEW_ITEM_REMOVED') {
      removed -= numberOf(said['item_id'])
      if (text(said['call_id']) !== '') read -= numberOf(said['item_id'], said['call_id'])
    }
    if (type === 'ACCESS_REVIEW_EVIDENCE_UPLOADED')
      attached -= numberOf(said['upload_id'], said['digest'])
    if (type === 'ACCESS_REVIEW_APP_LAUNCHED') takeLaunch(said)
  }

  function takeLaunch({ arda_id, population, second_reviewers }: Line): void {
    const app = apps.get(text(arda_id))
    if (!app) return
    app.isLogged = true
    if ((second_reviewers ?? null) !== (app.line['second_reviewers'] ?? null))
      wrong(`the confirmers of lines of ${app.line['name']} differ from the log`)
    const logged = membersOf(population)
    const shown = membersOf(app.line['population'])
    const names = { connectorDigest: 'connector_digest', leftOut: 'left_out' }
    const pairs = [...['run', 'at', 'synced', 'items'].map((one) => [one, one])]
    for (const [from = '', to = ''] of [...pairs, ...Object.entries(names)])
      if (logged[from] !== shown[to])
        wrong(`the population of ${app.line['name']} differs from the log: ${to}`)
  }

  function end() {
    for (const { line, items: found } of apps.values()) {
      const { name, population } = line
      const wanted = population === null ? 0 : membersOf(population)['items']
      if (found !== wanted) wrong(`${name} has ${found} lines, and its population ${wanted}`)
    }
    if (decided !== 0n) wrong('the decisions on lines differ from those of the acts')
    const gap = gapOf(chain, membersOf(review[about]))
    if (gap === null) {
      if (told !== 0n) wrong('the acts differ from those in the log')
      if (removed !== 0n) wrong('the removals differ from those in the log')
      if (read !== 0n) wrong('the last checks of removed access differ from those in the log')
      if (attached !== 0n) wrong('the files differ from those in the log')
      for (const { line, isLogged } of apps.values())
        if (line['launched_at'] !== null && !isLogged)
          wrong(`the log does not have the launch of ${line['name']}`)
    }
    const { id, name, status, as_of, ...of } = membersOf(review[about])
    const wanted = { review: [0, 0], offboarding: [of['steps'], 0], access: [0, of['held']] }[about]
    if (steps !== wanted[0]) wrong(`it has ${steps} accounts, and its first line says ${wanted[0]}`)
    if (held !== wanted[1])
      wrong(`it has ${held} lines of access, and its first line says ${wanted[1]}`)
    if (about === 'offboarding' && status === 'COMPLETED' && left > 0)
      wrong(`${left} accounts of an offboarding that is COMPLETED are not done`)
    const summary: EvidenceSummary = {
      about,
      review: { id: text(id), name: text(name), status: text(status) },
      taken_at: text(review['taken_at']),
      as_of: text(as_of) || null,
      final: review['final'] === true,
      ...{ apps: apps.size, items, states, acts, uploads, steps, held, notifications },
      page: page.end(),
      ...{ log_entries: entries, not_chained: waiting, redacted },
      ...{ log_head: text(chain['head']), log_gap: gap },
    }
    return { problems, summary }
  }

  return {
    take(line) {
      const kind = text(line['kind'])
      const place = ORDER.indexOf(kind)
      if (place < rank || SUBJECTS.some((one) => one === kind) !== (line['n'] === 1))
        wrong(`line ${line['n']} of the kind ${kind} does not belong there`)
      rank = Math.max(rank, place)
      try {
        takers[kind]?.(line)
      } catch {
        wrong(`line ${line['n']} is not as its kind is`)
      }
    },
    end,
  }
}

/** Reports whether keeping a line required two people: a second stage was set, and it has a red hint. */
const needsSecond = ({ hints }: Line, app: Line | undefined): boolean =>
  typeof app?.['second_reviewers'] === 'string' &&
  listOf(hints).some((one) => membersOf(one)['red'] === true)

/** Returns why log entries may be missing: the log is kept only for a limited time. */
function gapOf(chain: Line, review: Line): string | null {
  const from = chain['kept_from']
  const begun = text(review['created_at'])
  if (typeof from !== 'string' || begun === '' || from < begun) return null
  return `the log starts at ${from}: earlier actions are not compared with it`
}
