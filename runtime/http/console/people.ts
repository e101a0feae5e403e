/** People, and one person: what they have and why. */
import { html } from 'hono/html'
import type { User } from '../../contract/models/person.ts'
import { listUserAccess } from '../../core/catalogue/apps/access.ts'
import { getUser, listRoles, listUsers } from '../../core/directory/users.ts'
import type { Markup } from '../frame/layout.ts'
import { nameOf } from '../frame/words.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { badge } from '../pages/states.ts'
import { accessGraph, type Line, linesOf } from './access-graph.ts'
import { key } from './charts.ts'
import { type Column, card, facts, filter, go, listed, pagesNav, row, shell } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { PERSON_WORDS as WORDS } from './words/access.ts'

const SIZE = 50
const HELD = 100

const COLUMNS: Column[] = [{ words: WORDS.name }, { words: WORDS.state }]

export const personPath = (id: string): string => `/console/people/${encodeURIComponent(id)}`

const STATES: Record<NonNullable<User['status']>, Markup> = {
  ACTIVE: badge('good', 'check', WORDS.active),
  STAGED: badge('wait', 'clock', WORDS.staged),
  SUSPENDED: badge('bad', 'stop', WORDS.suspended),
  INACTIVE: badge('', 'minus', WORDS.inactive),
}

export async function showPeople(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  const search = searchText(c.req.query('search_term'))
  const found = await listUsers(db, principal, {
    ...{ search_term: search, exact_match: false, expand: [] },
    ...{ page: pageNumber(c.req.query('page')), size: SIZE },
  })
  const rows = found.items.map((one) =>
    row(COLUMNS, [
      html`<a class="go" href="${personPath(one.id)}">${nameOf(one)}</a><span class="sub">${one.email}</span>`,
      one.status ? STATES[one.status] : '',
    ]),
  )
  const query = search === '' ? [] : [['search_term', search]]
  const at = (page: number) =>
    `/console/people?${new URLSearchParams([...query, ['page', String(page)]])}`
  const nothing =
    search === ''
      ? { title: WORDS.none, text: WORDS.noneText }
      : { title: WORDS.noneFound, text: WORDS.noneFoundText, icon: 'search' as const }
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'people', isPlace: true },
      title: WORDS.title,
      lead: WORDS.lead,
      content: html`${filter('/console/people', WORDS.title, { name: 'search_term', words: WORDS.find, value: search })}
${listed({ id: 'list', title: WORDS.title, count: found.total }, COLUMNS, rows, nothing, pagesNav(found, WORDS.title, at))}`,
    }),
  )
}

export async function showPerson(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  const user = await getUser(db, principal, c.req.param('user_id') ?? '', [])
  const roles = await listRoles(db, principal, user.id)
  const mayRead = principal.permissions.has('accounts.read') || user.id === principal.userId
  const held = mayRead
    ? await listUserAccess(db, principal, user.id, {
        ...{ as_of: null, page: pageNumber(c.req.query('page')), size: HELD },
      })
    : null
  const lines = linesOf(held?.items ?? [])
  const content = html`<div class="cols"><div class="stack wide">
${held ? why(nameOf(user), lines, held, user.id) : ''}
</div><div class="stack wide">
${card(
  { id: 'facts', title: WORDS.facts },
  facts([
    [WORDS.email, user.email],
    [WORDS.state, user.status ? STATES[user.status] : '–'],
  ]),
)}
${rolesOf(
  user.id,
  roles.map(({ name }) => name),
  principal.permissions.has('roles.write'),
)}
</div></div>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'people', content },
      title: nameOf(user),
      state: user.status ? STATES[user.status] : '',
      lead: user.email,
    }),
  )
}

const WHY: Column[] = [{ words: WORDS.reason }, { words: WORDS.permission }, { words: WORDS.app }]

const KEY = [
  { look: 'busy', words: WORDS.keyRequest, line: true },
  { look: 'rule', words: WORDS.keyPolicy, line: true },
  { look: '', words: WORDS.keyGroup, line: true },
  { look: 'bad dots', words: WORDS.keyFound, line: true },
]

function why(
  name: string,
  lines: readonly Line[],
  held: { page: number; pages: number; total: number },
  id: string,
): Markup {
  const drawn = accessGraph(name, lines)
  const link = (at: string | null, words: string) =>
    at === null ? words : html`<a href="${at}">${words}</a>`
  const rows = lines.map((one) =>
    row(WHY, [link(one.reasonAt, one.reason), one.permission, link(one.appAt, one.app)]),
  )
  const nothing = { title: WORDS.nothing, text: WORDS.nothingText }
  const pages = pagesNav(held, WORDS.why, (page) => `${personPath(id)}?page=${page}#why`)
  return html`${
    drawn
      ? card(
          { id: 'graph', title: WORDS.picture, note: WORDS.pictureNote },
          html`<div class="scroll" tabindex="0" role="region" aria-label="${WORDS.picture}, ${WORDS.drawing}"><div class="in">${drawn}</div></div><div class="in">${key(KEY)}</div>`,
        )
      : ''
  }
${listed({ id: 'why', title: WORDS.why, count: held.total }, WHY, rows, nothing, pages)}`
}

const rolesOf = (id: string, roles: readonly string[], mayChange: boolean): Markup =>
  card(
    {
      id: 'roles',
      title: WORDS.roles,
      end: mayChange ? go(`${personPath(id)}/add-role`, WORDS.addRole, 'less') : '',
    },
    html`<ul class="lines">${roles.map((name) => html`<li><div class="row">${name}${mayChange && name !== 'User' ? html`<span class="end">${go(`${personPath(id)}/remove-role?role=${encodeURIComponent(name)}`, html`${WORDS.takeRole}<span class="unseen"> ${name}</span>`, 'less danger')}</span>` : ''}</div></li>`)}</ul>`,
  )
