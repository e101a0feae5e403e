/** PEOPLE_CHANGES: what is changed of people, one row each. */
import { html } from 'hono/html'
import { ROLES } from '../../contract/models/roles.ts'
import { addRole, getUser, listRoles, removeRole } from '../../core/directory/users.ts'
import { nameOf } from '../frame/words.ts'
import type { About, Change } from './change.ts'
import { personPath } from './people.ts'
import type { ConsoleVisit } from './visit.ts'
import { PERSON_CHANGE_WORDS as WORDS } from './words/access.ts'

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
    title: () => WORDS.add.title,
    button: WORDS.add.button,
    done: WORDS.add.done,
    fields: (about) =>
      html`<div class="field"><label for="role">${WORDS.role}</label><select id="role" name="role">${Object.entries(
        ROLES,
      )
        .filter(([name]) => name !== 'User')
        .map(
          ([name, { label, meaning }]) =>
            html`<option value="${name}"${name === about.get('role') ? html` selected` : ''}>${label}: ${meaning}</option>`,
        )}</select></div>`,
    async preview(visit, about) {
      if (about.get('role') === '') return { lines: null }
      const { name, has } = await standing(visit, about)
      return { lines: has ? [] : [WORDS.add.line(name, about.get('role'))] }
    },
    act: ({ db, principal }, about) => addRole(db, principal, idOf(about), about.get('role')),
  },
  'remove-role': {
    ...base,
    path: '/console/people/:user_id/remove-role',
    does: 'takes a role away',
    title: (about) => WORDS.remove.title(about.get('role')),
    button: WORDS.remove.button,
    done: WORDS.remove.done,
    danger: true,
    async preview(visit, about) {
      const { name, has } = await standing(visit, about)
      return { lines: has ? [WORDS.remove.line(name, about.get('role'))] : [] }
    },
    act: ({ db, principal }, about) => removeRole(db, principal, idOf(about), about.get('role')),
  },
} as const satisfies Record<string, Change>
