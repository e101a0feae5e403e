/** Open and temporarily accepted findings about the access of an app or a person. */
import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import type { AccessFinding, Severity } from '../../contract/models/finding.ts'
import { accountNames } from '../../core/catalogue/apps/accounts.ts'
import { listFindings } from '../../core/findings/read.ts'
import { isReachRefused } from '../../core/kernel/identity/app-reach.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { pageNumber } from '../pages/access.ts'
import { pagesNav, whole } from '../pages/parts.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import { brief, go, listed } from './parts.ts'
import { personLink } from './person-link.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 10

/** SEVERITY_LOOKS: severity -> badge. */
const SEVERITY_LOOKS: Record<Severity, BadgeLook> = {
  HIGH: ['bad', 'alert'],
  MEDIUM: ['wait', 'alert'],
  LOW: ['', 'info'],
}

/** Subject of the findings: an app or a person, and its page. */
type About = { of: 'app_id' | 'user_id'; id: string; path: string }

type Found = Awaited<ReturnType<typeof listFindings>>

/** Returns the findings to show; null if the visitor may not read any. */
export async function findingsShown(
  { c, db, principal }: ConsoleVisit,
  about: Pick<About, 'of' | 'id'>,
): Promise<Found | null> {
  if (isReachRefused(principal, 'findings.read')) return null
  const query = queryOf('list_findings', {
    ...{ state: ['OPEN', 'ACCEPTED'], [about.of]: about.id },
    ...{ page: pageNumber(c.req.query('findings')), size: SIZE },
  })
  return listFindings(db, principal, query)
}

/** Returns a value that changes whenever the shown findings or their number do. */
export const findingsState = (found: Found | null) =>
  found && { total: found.total, shown: found.items.map(({ id, state }) => [id, state]) }

/** Renders the list of findings; empty if the visitor may not read any. */
export async function findingsList(
  visit: ConsoleVisit,
  about: About,
  found: Found | null,
): Promise<Markup | ''> {
  const { db, principal, now, t } = visit
  const w = t.console.findings
  if (found === null) return ''
  const mayAccept = principal.permissions.has('findings.write') && !principal.readOnly
  const names = await accountNames(db, found.items)
  const rows = found.items.map((one) => [
    whatOf(t, one, about),
    whoOf(visit, one, names),
    t.day(new Date(one.opened_at), now),
    mayAccept ? wayOf(t, one, about, names) : '',
  ])
  const at = (page: number) => `${about.path}?findings=${page}#findings`
  return listed(
    { id: 'findings', title: w.title, note: w.note, count: found.total },
    [
      w.what,
      { words: w.who, folds: true },
      [w.since, 'c3'],
      { words: w.action, look: 'num', unseen: true, folds: true },
    ],
    rows,
    { title: w.none, text: w.noneText },
    t,
    pagesNav(t, found, w.title, at),
  )
}

/** Renders the problem, its object, and the remedy. */
function whatOf(t: PageLocale, one: AccessFinding, { of }: About): Markup {
  const w = t.console.findings
  const things = [of === 'app_id' ? null : one.app_name, one.label].filter((name) => name !== null)
  const until = one.state === 'ACCEPTED' && one.accepted_until ? new Date(one.accepted_until) : null
  return html`${badge(SEVERITY_LOOKS[one.severity], w.severities[one.severity])} ${t.w.finding_kinds[one.kind]}${things.length > 0 ? html`<span class="sub">${brief(things.join(', '))}</span>` : ''}<span class="sub">${until === null ? w.steps[one.kind] : html`${w.acceptedUntil(dayOf(until))}${one.reason ? html` · ${t.w.quoted(brief(one.reason))}` : ''}`}</span>`
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

/** Names of accounts, by id. */
type Names = ReadonlyMap<string, string>

/** Returns the name of an account if it is known, otherwise its id in the app. */
export const accountCalled = (
  names: Names,
  {
    account_id: id,
    unique_identifier: inApp,
  }: Pick<AccessFinding, 'account_id' | 'unique_identifier'>,
): string => names.get(id ?? '') ?? inApp ?? ''

function whoOf({ t, principal }: ConsoleVisit, one: AccessFinding, names: Names): Markup | string {
  const [account, id] = [accountCalled(names, one), one.unique_identifier ?? '']
  const more = (known: string) =>
    [...new Set([account, id])]
      .filter((text) => text !== '' && text !== known)
      .map((text) => brief(text))
  if (!one.user_id)
    return account === ''
      ? '–'
      : html`${whole(brief(account))}<span class="sub">${whole([...more(account), t.console.findings.nobody].join(' · '))}</span>`
  const person = one.user_email ?? account
  const others = more(person)
  return html`${personLink(principal, one.user_id, person)}${others.length === 0 ? '' : html`<span class="sub">${whole(others.join(' · '))}</span>`}`
}

function wayOf(
  { w, console: { findings } }: PageLocale,
  one: AccessFinding,
  { of, id }: About,
  names: Names,
): Markup {
  const verb = one.state === 'OPEN' ? 'accept' : 'reopen'
  const named = html`${findings[verb].link}<span class="unseen"> ${w.finding_kinds[one.kind]} ${accountCalled(names, one)}</span>`
  return go(
    `/console/findings/${one.id}/${verb}?${new URLSearchParams({ [of]: id })}`,
    named,
    'less',
  )
}
