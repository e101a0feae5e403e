/** The list of people, and the page of one person: their access and its reasons. */
import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import { USER_SORTS, type User } from '../../contract/models/person.ts'
import type { OffboardingProgress } from '../../contract/models/user-offboarding.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import { listUserAccess } from '../../core/catalogue/apps/access.ts'
import { accountNames } from '../../core/catalogue/apps/accounts.ts'
import { getUser, listRoles, listUsers } from '../../core/directory/users.ts'
import { requirePermission } from '../../core/kernel/identity/principal.ts'
import { listOffboardings } from '../../core/offboarding/progress.ts'
import { hasLeft } from '../../core/offboarding/remaining-access.ts'
import { takeAccessEvidence } from '../../core/reviews/evidence/take.ts'
import { FIRST_ADMIN } from '../../core/sign-in/first-admin.ts'
import { PageError, refusalOf } from '../frame/error-page.ts'
import { type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { nameOf } from '../frame/words.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { note, pagesNav, whole } from '../pages/parts.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import { accessGraph, type GraphLine, linesOf } from './access-graph.ts'
import { key } from './charts.ts'
import { findingsList, findingsShown } from './findings.ts'
import { listPage } from './list-page.ts'
import { answerPage, brief, card, facts, go, listed } from './parts.ts'
import { knownOf } from './person-facts.ts'
import { personLink, personPath } from './person-link.ts'
import { sendFile } from './send-file.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50
const HELD = 100

const statesIn = (t: PageLocale): Record<NonNullable<User['status']>, Markup> => ({
  ACTIVE: badge(['good', 'check'], t.console.person.active),
  STAGED: badge(['wait', 'clock'], t.console.person.staged),
  SUSPENDED: badge(['bad', 'stop'], t.console.person.suspended),
  INACTIVE: badge(['', 'minus'], t.console.person.inactive),
})

export async function showPeople(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, t } = visit
  const w = t.console.person
  const search = searchText(c.req.query('search_term'))
  const sort = USER_SORTS.find((one) => one === c.req.query('sort')) ?? 'email'
  const page = pageNumber(c.req.query('page'))
  const query = queryOf('list_users', { search_term: search, sort, page, size: SIZE })
  const found = await listUsers(db, principal, query)
  return listPage(visit, {
    ...{ place: 'people', words: t.console.person, found },
    search: { name: 'search_term', value: search, words: w.find },
    sort: { key: 'email', asked: sort },
    columns: [w.byEmail, w.state],
    cells: (one) => [
      html`${personLink(principal, one.id, nameOf(one))}<span class="sub">${whole(one.email)}</span>`,
      one.status ? statesIn(t)[one.status] : '',
    ],
  })
}

/**
 * Returns the moment in the address; null for now. A day means its end, and today means now.
 *
 * @throws PageError `invalid` if it is not a moment
 */
function momentOf({ c, now, t }: ConsoleVisit): Date | null {
  const asked = c.req.query('as_of') ?? ''
  if (asked === '' || asked === now.toISOString().slice(0, 10)) return null
  const isDay = /^\d{4}-\d\d-\d\d$/.test(asked)
  const at = parseDatetime(isDay ? `${asked}T23:59:59.999Z` : asked)
  if (at === null) throw new PageError('invalid', t.console.person.asOfWrong)
  return at
}

type HeldThen = {
  at: Date | null
  held: Awaited<ReturnType<typeof listUserAccess>> | null
  refused: Markup | null
}

/**
 * Returns a person's access at the requested moment, or why it is not known. It never falls back to the
 * current access.
 */
async function heldThen(visit: ConsoleVisit, id: string): Promise<HeldThen> {
  const { c, db, principal } = visit
  let at: Date | null = null
  try {
    at = momentOf(visit)
    const paging = { page: pageNumber(c.req.query('page')), size: HELD }
    const held = await listUserAccess(db, principal, id, { as_of: at, ...paging })
    return { at, held, refused: null }
  } catch (error) {
    return { at, held: null, refused: refusalOf(visit.t, error, 'invalid').problem }
  }
}

/**
 * Sends the evidence of a person's access as a file.
 *
 * @throws CoreError `forbidden`, `not_found`, `invalid`
 */
export async function sendPersonEvidence(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, context } = visit
  requirePermission(principal, 'accounts.read')
  const id = c.req.param('user_id') ?? ''
  return sendFile(c, await takeAccessEvidence(db, principal, id, momentOf(visit), context))
}

export async function showPerson(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, t } = visit
  const w = t.console.person
  const user = await getUser(db, principal, c.req.param('user_id') ?? '', ['custom_attributes'])
  const roles = await listRoles(db, principal, user.id)
  const mayRead = principal.permissions.has('accounts.read') || user.id === principal.userId
  const { at, held, refused } = mayRead
    ? await heldThen(visit, user.id)
    : { at: null, held: null, refused: null }
  const mayLeave =
    principal.permissions.has('offboardings.write') &&
    !principal.readOnly &&
    // People cannot offboard themselves.
    user.id !== principal.userId &&
    user.email !== FIRST_ADMIN &&
    !(await hasLeft(db, user))
  const leaving = principal.permissions.has('offboardings.read')
    ? await listOffboardings(db, principal, { user_id: user.id, page: 1, size: 1 })
    : null
  const mayRevoke = principal.permissions.has('tasks.write') && !principal.readOnly
  const items = held?.items ?? []
  const names = await accountNames(db, items)
  const lines = linesOf(t, items, names)
  const about = { of: 'user_id', id: user.id, path: personPath(user.id) } as const
  const wrong = await findingsList(visit, about, await findingsShown(visit, about))
  const content = html`<div class="cols"><div class="stack wide">
${mayRead ? asOfForm(visit, user.id, at, held !== null) : ''}
${refused ? note('bad', 'alert', w.asOfNot, refused, 'alert') : ''}
${held ? why(t, nameOf(user), lines, held, { id: user.id, at, mayRevoke }) : ''}
${wrong}
</div><div class="stack wide">
${card(
  { id: 'facts', title: w.facts },
  facts([
    [w.email, user.email],
    [w.state, user.status ? statesIn(t)[user.status] : '–'],
    ...(await knownOf(visit, user)),
  ]),
)}
${principal.permissions.has('logs.read') ? html`<p><a href="/console/log?actor=${user.id}">${t.console.log.didLink}</a><br><a href="/console/log?target=${user.id}">${t.console.log.doneToPerson}</a></p>` : ''}
${rolesOf(
  t,
  user.id,
  roles.map(({ name }) => name),
  principal.permissions.has('roles.write'),
)}
${leaving ? offboardingOf(visit, user.id, leaving.items[0] ?? null, mayLeave) : ''}
${principal.permissions.has('operator') && !principal.readOnly ? record(visit, user) : ''}
</div></div>`
  return answerPage(visit, {
    ...{ place: 'people', content },
    title: nameOf(user),
    state: user.status ? statesIn(t)[user.status] : '',
    lead: user.email,
    status: refused ? 422 : 200,
  })
}

const asOfQuery = (at: Date | null) => (at === null ? [] : [['as_of', at.toISOString()]])

/** Renders the choice of the moment, and the link to its evidence. */
function asOfForm(
  { t, principal }: ConsoleVisit,
  id: string,
  at: Date | null,
  isKnown: boolean,
): Markup {
  const w = t.console.person
  return html`<form class="filter" action="${personPath(id)}" aria-label="${w.why}">
<div class="grow"><label for="as_of">${w.asOf}</label><input id="as_of" name="as_of" type="datetime-local" step="1" value="${at?.toISOString().slice(0, 19) ?? ''}"></div>
<button class="btn">${w.show}</button>${at === null ? '' : html`<a class="btn plain" href="${personPath(id)}">${t.console.parts.clear}</a>`}${isKnown && principal.permissions.has('accounts.read') ? html`<a class="btn" href="${personPath(id)}/evidence${at === null ? '' : `?${new URLSearchParams(asOfQuery(at))}`}" download>${w.evidence}</a>` : ''}
</form>`
}

const keyOf = (t: PageLocale) => [
  { look: 'busy', words: t.console.person.keyRequest, line: true },
  { look: 'rule', words: t.console.person.keyPolicy, line: true },
  { look: '', words: t.console.person.keyGroup, line: true },
  { look: 'bad dots', words: t.console.person.keyFound, line: true },
]

function why(
  t: PageLocale,
  name: string,
  lines: readonly GraphLine[],
  held: { page: number; pages: number; total: number },
  { id, at, mayRevoke }: { id: string; at: Date | null; mayRevoke: boolean },
): Markup {
  const w = t.console.person
  const drawn = accessGraph(t, name, lines)
  const link = (to: string | null, words: string) =>
    to === null ? words : html`<a href="${to}">${words}</a>`
  const revoke = ({ kind, revokeAt, permission, app }: GraphLine) =>
    mayRevoke && kind === 'policy'
      ? html`<span class="sub">${t.w.revoke_by_policy}</span>`
      : mayRevoke && revokeAt
        ? html`<span class="sub"><a href="${revokeAt}">${t.w.revoke_access}<span class="unseen"> ${t.w.thing_in(permission, app)}</span></a></span>`
        : ''
  const rows = lines.map((one) => [
    html`${link(one.reasonAt, one.reason)}${revoke(one)}`,
    one.accountId === null
      ? whole(one.permission)
      : html`${whole(one.permission)}<span class="sub">${whole(one.accountId)}</span>`,
    link(one.appAt, one.app),
  ])
  const nothing = { title: w.nothing, text: w.nothingText }
  const pages = pagesNav(
    t,
    held,
    w.why,
    (page) =>
      `${personPath(id)}?${new URLSearchParams([...asOfQuery(at), ['page', String(page)]])}#why`,
  )
  return html`${
    drawn
      ? card(
          { id: 'graph', title: w.picture, note: w.pictureNote },
          html`<div class="scroll" tabindex="0" role="region" aria-label="${w.picture}, ${w.drawing}"><div class="in">${drawn}</div></div><div class="in">${key(keyOf(t))}</div>`,
        )
      : ''
  }
${listed(
  { id: 'why', title: w.why, count: held.total },
  [w.reason, w.permission, { words: w.app, look: 'word', folds: true }],
  rows,
  nothing,
  t,
  pages,
)}`
}

const rolesOf = (t: PageLocale, id: string, roles: readonly string[], mayChange: boolean): Markup =>
  card(
    {
      id: 'roles',
      title: t.console.person.roles,
      end: mayChange ? go(`${personPath(id)}/add-role`, t.console.person.addRole, 'less') : '',
    },
    html`<ul class="lines">${roles.map((name) => html`<li><div class="row">${name}${mayChange && name !== 'User' ? html`<span class="end">${go(`${personPath(id)}/remove-role?role=${encodeURIComponent(name)}`, html`${t.console.person.takeRole}<span class="unseen"> ${name}</span>`, 'less danger')}</span>` : ''}</div></li>`)}</ul>`,
  )

/**
 * OFFBOARDING_LOOKS: state of an offboarding -> badge. States that ended without completion share the
 * default.
 */
const OFFBOARDING_LOOKS: Partial<Record<OffboardingProgress['status'], BadgeLook>> = {
  SCHEDULED: ['wait', 'clock'],
  IN_PROGRESS: ['busy', 'sync'],
  COMPLETED: ['good', 'check'],
  FAILED: ['bad', 'x'],
}

/** Renders the state of a person's latest offboarding, and the possible actions. */
function offboardingOf(
  { t, now }: ConsoleVisit,
  id: string,
  latest: OffboardingProgress | null,
  mayLeave: boolean,
): Markup {
  const w = t.console.offboarding
  const at = (moment: string | null | undefined) => (moment ? t.moment(new Date(moment), now) : '–')
  const isOpen = latest?.status === 'SCHEDULED' || latest?.status === 'IN_PROGRESS'
  const start = !isOpen && mayLeave ? go(`${personPath(id)}/offboard`, w.start, 'less danger') : ''
  if (latest === null)
    return card(
      { id: 'offboarding', title: w.card },
      html`<div class="in stack"><p class="small">${w.none}</p>${start === '' ? '' : html`<div class="row">${start}</div>`}</div>`,
    )
  const { status, accounts } = latest
  const look: BadgeLook = OFFBOARDING_LOOKS[status] ?? ['', 'minus']
  const end =
    status === 'SCHEDULED' && mayLeave
      ? go(`${personPath(id)}/offboarding/${latest.id}/cancel`, w.cancelIt, 'less')
      : start
  return card(
    { id: 'offboarding', title: w.card, end },
    html`${facts([
      [w.state, badge(look, t.console.offboarding_states[status])],
      [w.begun, at(latest.created_at)],
      status === 'SCHEDULED' && [w.at, at(latest.scheduled_at)],
      latest.completed_at && [w.over, at(latest.completed_at)],
      status !== 'SCHEDULED' &&
        status !== 'CANCELLED' && [
          w.accounts,
          html`${w.gone(accounts.done, accounts.all)}<progress max="${Math.max(accounts.all, 1)}" value="${accounts.all === 0 && status === 'COMPLETED' ? 1 : accounts.done}" aria-label="${w.accounts}"></progress>${accounts.by_hand === 0 ? '' : html`<span class="sub">${w.byHand(accounts.by_hand)}</span>`}${accounts.left === 0 ? '' : html`<span class="sub">${w.left(accounts.left)}</span>`}`,
        ],
    ])}${latest.problem ? html`<div class="in">${note('bad', 'alert', w.failed, html`<span lang="en">${brief(latest.problem, 500)}</span> ${w.failedText}`)}</div>` : ''}`,
  )
}

/** Renders the operator's actions for all data stored about a person. */
const record = ({ t: { w }, proof }: ConsoleVisit, user: User): Markup => {
  const { id } = user
  const erase =
    user.email === FIRST_ADMIN ? '' : go(`${personPath(id)}/erase`, w.record_erase, 'less danger')
  return card(
    { id: 'record', title: w.record },
    html`<div class="in stack"><p class="small">${w.record_text}</p>
<div class="row"><form method="post" action="${personPath(id)}/export">${proofField(proof)}<button class="btn less">${w.record_download}</button></form>${erase}</div></div>`,
  )
}
