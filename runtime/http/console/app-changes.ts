/** APP_CHANGES: what is changed of apps and their syncs, one row each. */
import { html } from 'hono/html'
import { keysOf } from '../../contract/schema/keys.ts'
import { getApp } from '../../core/catalogue/apps/apps.ts'
import { triggerSync } from '../../core/sync/trigger.ts'
import { appPath } from './apps.ts'
import type { About, Change } from './change.ts'
import { field } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { APP_CHANGE_WORDS as WORDS } from './words/access.ts'

const idOf = ({ params, get }: About): string => params['app_id'] ?? get('app_id')
const toApp = (about: About): string =>
  idOf(about) === '' ? '/console/apps' : appPath(idOf(about))

const ofRun = (
  verb: 'accept' | 'cancel',
): Pick<Change, 'path' | 'place' | 'who' | 'does' | 'reason' | 'back' | 'act'> => ({
  path: `/console/syncs/:run/${verb}`,
  ...{ place: 'apps', who: 'operator', reason: 'none', back: toApp },
  does: `${verb}s a sync`,
  act: async (visit, { params }) =>
    void (await visit.ask(verb === 'accept' ? 'accept_sync' : 'cancel_sync', { params })),
})

/** What can be set: member of the settings -> its words. */
const SETTINGS = {
  every_hours: WORDS.settings.every,
  page_size: WORDS.settings.pageSize,
  max_rows: WORDS.settings.maxRows,
} as const
const NAMES = keysOf(SETTINGS)

const settingsOf = (visit: ConsoleVisit, about: About) =>
  visit.ask('show_sync_settings', { params: { app_id: idOf(about) } })

/** What was filled in, as numbers; what is no number is told by the endpoint. */
const filled = (about: About): Record<string, unknown> =>
  Object.fromEntries(
    NAMES.filter((name) => about.get(name) !== '').map((name) => {
      const text = about.get(name)
      return [name, /^\d{1,12}$/.test(text) ? Number(text) : text]
    }),
  )

export const APP_CHANGES = {
  sync: {
    path: '/console/apps/:app_id/sync',
    ...{ place: 'apps', who: null, does: 'begins a sync', reason: 'none', back: toApp },
    title: () => WORDS.sync.title,
    lead: WORDS.sync.lead,
    button: WORDS.sync.button,
    done: WORDS.sync.done,
    preview: async ({ db, principal }, about) => {
      const app = await getApp(db, principal, idOf(about), [])
      return { lines: [WORDS.sync.line(app.user_friendly_label)] }
    },
    act: ({ db, principal, context }, about) =>
      triggerSync(db, principal, idOf(about), { sync_type: 'full_sync' }, context),
  },
  accept: {
    ...ofRun('accept'),
    title: ({ params }) => WORDS.accept.title(params['run'] ?? ''),
    lead: WORDS.accept.lead,
    button: WORDS.accept.button,
    done: WORDS.accept.done,
    danger: true,
    preview: async (visit, { params }) => {
      const run = await visit.ask('accept_sync', { params, body: { dry_run: true } })
      return { lines: [WORDS.accept.line(run.app_name), ...(run.problem ? [run.problem] : [])] }
    },
  },
  cancel: {
    ...ofRun('cancel'),
    title: ({ params }) => WORDS.cancel.title(params['run'] ?? ''),
    lead: WORDS.cancel.lead,
    button: WORDS.cancel.button,
    done: WORDS.cancel.done,
    danger: true,
    preview: async (visit, { params }) => {
      const run = await visit.ask('cancel_sync', { params, body: { dry_run: true } })
      return { lines: [WORDS.cancel.line(run.app_name, run.phase)] }
    },
  },
  'sync-settings': {
    path: '/console/apps/:app_id/sync-settings',
    ...{ place: 'apps', who: 'operator', does: 'changes how an app is synced', back: toApp },
    reason: 'none',
    title: () => WORDS.settings.title,
    button: WORDS.settings.button,
    done: WORDS.settings.done,
    fields: (about) =>
      html`${NAMES.map((name) => field({ id: name, label: SETTINGS[name], value: about.get(name), type: 'number' }))}`,
    async preview(visit, about) {
      if (NAMES.every((name) => about.get(name) === '')) return { lines: null }
      const before = await settingsOf(visit, about)
      const body = { settings: filled(about), dry_run: true }
      const after = await visit.ask('change_sync_settings', {
        params: { app_id: idOf(about) },
        body,
      })
      const changed = NAMES.filter((name) => before[name] !== after[name])
      return {
        lines: changed.map((name) =>
          WORDS.settings.line(SETTINGS[name], before[name], after[name]),
        ),
      }
    },
    act: async (visit, about) =>
      void (await visit.ask('change_sync_settings', {
        params: { app_id: idOf(about) },
        body: { settings: filled(about) },
      })),
  },
} as const satisfies Record<string, Change>
