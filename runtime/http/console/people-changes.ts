/** PEOPLE_CHANGES: changes of people, one row each. */
import { html } from 'hono/html'
import { ROLES } from '../../contract/models/roles.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import { addRole, getUser, listRoles, removeRole } from '../../core/directory/users.ts'
import { PAGE_WORDS } from '../../words/page-words.ts'
import { nameOf } from '../frame/words.ts'
import { type About, type ConsoleChange, minus, plus, same, wordsFrom } from './change.ts'
import { option } from './parts.ts'
import { personPath } from './person-link.ts'
import type { ConsoleVisit } from './visit.ts'

const idOf = ({ params }: About): string => params['user_id'] ?? ''

const base = {
  place: 'people',
  who: 'roles.write',
  reason: 'none',
  back: (about: About) => personPath(idOf(about)),
} as const

async function standing({ db, principal }: ConsoleVisit, about: About) {
  const user = await getUser(db, principal, idOf(about), [])
  const roles = await listRoles(db, principal, user.id)
  return { name: nameOf(user), has: roles.some(({ name }) => name === about.get('role')) }
}

export const PEOPLE_CHANGES = {
  'add-role': {
    ...base,
    path: '/console/people/:user_id/add-role',
    does: 'gives a role',
    ...wordsFrom((t) => t.console.person_change.add),
    fields: (about, t) =>
      html`<div class="field"><label for="role">${t.console.person_change.role}</label><select id="role" name="role">${entriesOf(
        ROLES,
      )
        .filter(([name]) => name !== 'User')
        .map(([name, { label }]) =>
          option(name, `${label}: ${t.console.role_meanings[name]}`, about.get('role')),
        )}</select></div>`,
    async preview(visit, about) {
      if (about.get('role') === '') return { lines: null }
      const { name, has } = await standing(visit, about)
      return {
        lines: [!has && plus(visit.t.console.person_change.add.line(name, about.get('role')))],
      }
    },
    act: ({ db, principal }, about) => addRole(db, principal, idOf(about), about.get('role')),
  },
  'remove-role': {
    ...base,
    path: '/console/people/:user_id/remove-role',
    does: 'takes a role away',
    ...wordsFrom(
      (t) => t.console.person_change.remove,
      (about) => about.get('role'),
    ),
    danger: true,
    async preview(visit, about) {
      const { name, has } = await standing(visit, about)
      return {
        lines: [has && minus(visit.t.console.person_change.remove.line(name, about.get('role')))],
      }
    },
    act: ({ db, principal }, about) => removeRole(db, principal, idOf(about), about.get('role')),
  },
  'erase-person': {
    ...base,
    path: '/console/people/:user_id/erase',
    who: 'operator',
    does: 'erases a person',
    title: (_, t) => t.w.record_erase_title,
    lead: (t) => t.w.record_erase_lead,
    button: (t) => t.w.record_erase,
    done: PAGE_WORDS.record_erased,
    danger: true,
    back: () => '/console/people',
    async preview(visit, about) {
      const { w } = visit.t
      const body = { email: await emailOf(visit, about), dry_run: true }
      const { erased, kept } = await visit.ask('erase_person', { body })
      return {
        lines: [
          ...erased.map(({ what, count }) => minus(w.record_erases(what, count))),
          ...kept.map(({ what, why }) => same(w.record_stays(what, why))),
        ],
      }
    },
    act: async (visit, about) =>
      void (await visit.ask('erase_person', { body: { email: await emailOf(visit, about) } })),
  },
} as const satisfies Record<string, ConsoleChange>

const emailOf = async ({ db, principal }: ConsoleVisit, about: About): Promise<string> =>
  (await getUser(db, principal, idOf(about), [])).email

/** Sends all data stored about a person as a file. */
export async function sendRecord(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  const { id, email } = await getUser(db, principal, c.req.param('user_id') ?? '', [])
  const data = await visit.ask('export_person', { body: { email } })
  c.header('content-disposition', `attachment; filename="keyway-person-${id}.json"`)
  return c.json(data)
}
