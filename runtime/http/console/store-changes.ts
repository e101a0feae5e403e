/** STORE_CHANGES: requestable permissions of an app, who finds it, its approvers, and its admins. */
import { html } from 'hono/html'
import { ACCESS_LENGTHS } from '../../contract/models/access-length.ts'
import { DISCOVERABILITIES } from '../../contract/models/app-store.ts'
import {
  RequestablePermissionInput,
  RequestablePermissionInputUpdate,
} from '../../contract/models/requestable-permission.ts'
import { findApp } from '../../core/catalogue/apps/apps.ts'
import {
  createPermission,
  deletePermission,
  updatePermission,
} from '../../core/catalogue/store/permission-edits.ts'
import { getPermission } from '../../core/catalogue/store/permissions.ts'
import { updateSettings } from '../../core/catalogue/store/settings.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { appCrumbs, appPath } from './apps.ts'
import { type About, type ConsoleChange, minus, plus, wordsFrom } from './change.ts'
import { filledIn } from './filled-in.ts'
import { brief, check, choose, field } from './parts.ts'
import { permissionsPath } from './permissions.ts'
import {
  LENGTHS,
  lengthBox,
  STORE_FIELDS,
  STORE_NAMES,
  type StoreField,
  storeChanged,
  storeInput,
  storeOf,
  storeTyped,
} from './store-form.ts'
import type { ConsoleVisit } from './visit.ts'

const idOf = ({ params }: About): string => params['app_id'] ?? ''
const permissionOf = ({ params }: About): string => params['permission_id'] ?? ''

const MAX_SHOWN = 200

const ofApp = {
  place: 'apps',
  who: null,
  reason: 'none',
  crumbs: (visit: ConsoleVisit, about: About) => appCrumbs(visit, idOf(about)),
} as const
const ofPermissions = { ...ofApp, back: (about: About) => permissionsPath(idOf(about)) } as const

/** Formats a value for a line of a difference. */
function valueWords(t: PageLocale, name: StoreField, value: string): string {
  const w = t.console.store_change
  if (STORE_FIELDS[name].kind === 'yesno') return value === 'yes' ? w.yes : w.no
  if (name === 'discoverability') {
    const known = DISCOVERABILITIES.find((one) => one === value)
    return known ? w.finders[known] : value
  }
  if (name === 'lengths')
    return value
      .split('\n')
      .flatMap((one) => LENGTHS.filter((length) => length === one))
      .map((one) => t.accessLength(ACCESS_LENGTHS[one]))
      .join(', ')
  return brief(value.split('\n').join(', '), MAX_SHOWN)
}

function fieldOf(t: PageLocale, name: StoreField, about: About): Markup {
  const w = t.console.store_change
  const [label, help = ''] = w.fields[name]
  const value = about.get(name)
  switch (STORE_FIELDS[name].kind) {
    case 'yesno':
      return choose({
        ...{ id: name, label, help, value },
        all: (['no', 'yes'] as const).map((one) => [one, w[one]]),
      })
    case 'finders':
      return choose({
        ...{ id: name, label, help, value },
        all: DISCOVERABILITIES.map((one) => [one, w.finders[one]]),
      })
    case 'lengths':
      return html`<fieldset class="field"><legend>${label}</legend><p class="help">${help}</p><div class="row">${LENGTHS.map((one) => check({ name: lengthBox(one), value: 'yes', words: t.accessLength(ACCESS_LENGTHS[one]), isOn: about.get(lengthBox(one)) !== '' }))}</div></fieldset>`
    default:
      return html`<div class="field"><label for="${name}">${label} <span class="soft">${t.w.optional}</span></label>${help === '' ? '' : html`<p class="help" id="${name}-help">${help}</p>`}<textarea id="${name}" name="${name}" rows="3" maxlength="10000"${help === '' ? '' : html` aria-describedby="${name}-help"`}>
${value}</textarea></div>`
  }
}

/** Returns the change that shows or hides a permission to requesters. */
const turning = (key: 'show' | 'hide') =>
  ({
    ...ofPermissions,
    path: `/console/apps/:app_id/permissions/:permission_id/${key}`,
    does: `${key}s a permission in the store`,
    ...wordsFrom((t) => t.console.permission_change[key]),
    async preview(visit, about) {
      const words = visit.t.console.permission_change[key].line(await labelOf(visit, about))
      return { lines: [{ sign: key === 'show' ? 'plus' : 'minus', words }] }
    },
    act: ({ db, principal }, about) =>
      updatePermission(
        db,
        principal,
        permissionOf(about),
        filledIn(RequestablePermissionInputUpdate, {
          request_config: { appstore_visibility: key === 'show' ? 'VISIBLE' : 'HIDDEN' },
        }),
        false,
      ),
  }) satisfies ConsoleChange

/**
 * Returns the label of a permission.
 *
 * @throws CoreError `forbidden` if the person may not change it, `not_found`
 */
async function labelOf({ db, principal }: ConsoleVisit, about: About): Promise<string> {
  await findApp(db, principal, idOf(about), 'appstore.write')
  const permission = await getPermission(db, principal, permissionOf(about), false)
  return brief(String(permission?.['label'] ?? ''), MAX_SHOWN)
}

export const STORE_CHANGES = {
  store: {
    ...ofApp,
    path: '/console/apps/:app_id/store',
    does: 'changes how an app can be requested',
    ...wordsFrom((t) => t.console.store_change),
    back: (about) => appPath(idOf(about)),
    fields: (about, t) => html`${STORE_NAMES.map((name) => fieldOf(t, name, about))}`,
    async given(visit, about) {
      const { lengths, ...held } = await storeOf(visit, idOf(about))
      const boxes = LENGTHS.filter((one) => lengths.split('\n').includes(one))
      return { ...held, ...Object.fromEntries(boxes.map((one) => [lengthBox(one), 'yes'])) }
    },
    async preview(visit, about) {
      const { t } = visit
      const held = await storeOf(visit, idOf(about))
      const changed = storeChanged(about, held)
      await storeInput(visit, about, changed)
      return {
        lines: changed.map((name) => {
          const [label] = t.console.store_change.fields[name]
          const [from, to] = [held[name], storeTyped(about, name)].map((one) =>
            valueWords(t, name, one),
          )
          return {
            sign: to === '' ? ('minus' as const) : ('plus' as const),
            words: t.console.store_change.line(label, from ?? '', to ?? ''),
          }
        }),
      }
    },
    async act(visit, about) {
      const changed = storeChanged(about, await storeOf(visit, idOf(about)))
      const input = await storeInput(visit, about, changed)
      await updateSettings(visit.db, visit.principal, idOf(about), input)
    },
  },
  'new-permission': {
    ...ofPermissions,
    path: '/console/apps/:app_id/permissions/new',
    does: 'creates a requestable permission',
    ...wordsFrom((t) => t.console.permission_change.make),
    fields: (about, t) =>
      field({
        t,
        id: 'label',
        label: t.console.permission_change.label,
        value: about.get('label'),
        most: 512,
        required: true,
      }),
    async preview({ db, principal, t }, about) {
      const app = await findApp(db, principal, idOf(about), 'appstore.write')
      const label = about.get('label')
      if (label === '') return { lines: null }
      const words = t.console.permission_change.make.line(
        brief(label, MAX_SHOWN),
        brief(app.name, MAX_SHOWN),
      )
      return { lines: [plus(words)] }
    },
    act: ({ db, principal }, about) =>
      createPermission(
        db,
        principal,
        filledIn(RequestablePermissionInput, {
          ...{ app_id: idOf(about), label: about.get('label') },
          request_config: { appstore_visibility: 'VISIBLE' },
        }),
        false,
      ),
  },
  'permission-shown': turning('show'),
  'permission-hidden': { ...turning('hide'), danger: true },
  'permission-deleted': {
    ...ofPermissions,
    path: '/console/apps/:app_id/permissions/:permission_id/delete',
    does: 'deletes a permission',
    ...wordsFrom((t) => t.console.permission_change.remove),
    danger: true,
    async preview(visit, about) {
      const words = visit.t.console.permission_change.remove.line(await labelOf(visit, about))
      return { lines: [minus(words)] }
    },
    act: ({ db, principal, context }, about) =>
      deletePermission(db, principal, permissionOf(about), context),
  },
} as const satisfies Record<string, ConsoleChange>
