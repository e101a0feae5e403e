/** APP_CHANGES: changes of apps and their syncs, one row each. */
import { html } from 'hono/html'
import { conflict } from '../../contract/errors/problem.ts'
import { AppInputPut } from '../../contract/models/app.ts'
import { keysOf } from '../../contract/schema/keys.ts'
import { findApp, getApp } from '../../core/catalogue/apps/apps.ts'
import {
  CUSTOM_INSTANCE,
  disconnectApp,
  managedHere,
  putApp,
} from '../../core/catalogue/apps/connect.ts'
import { triggerSync } from '../../core/sync/trigger.ts'
import type { PageLocale } from '../frame/locale.ts'
import { appCrumbs, appPath } from './apps.ts'
import { type About, type ConsoleChange, minus, plus, same, wordsFrom } from './change.ts'
import { filledIn } from './filled-in.ts'
import { field } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const idOf = ({ params, get }: About): string => params['app_id'] ?? get('app_id')
const toApp = (about: About): string =>
  idOf(about) === '' ? '/console/apps' : appPath(idOf(about))

const ofApp = {
  place: 'apps',
  who: null,
  reason: 'none',
  back: toApp,
  crumbs: (visit: ConsoleVisit, about: About) => appCrumbs(visit, idOf(about)),
} as const

const ofRun = (verb: 'accept' | 'cancel') =>
  ({
    path: `/console/syncs/:run/${verb}`,
    ...{ place: 'apps', who: 'operator', reason: 'none', back: toApp, danger: true },
    ...wordsFrom(
      (t) => t.console.app_change[verb],
      ({ params }) => params['run'] ?? '',
    ),
    does: `${verb}s a sync`,
    act: async (visit, { params }) =>
      void (await visit.ask(verb === 'accept' ? 'accept_sync' : 'cancel_sync', { params })),
  }) satisfies Partial<ConsoleChange>

/** Settings that can be changed: member of the settings -> key of its text. */
const SETTINGS = { every_hours: 'every', page_size: 'pageSize', max_rows: 'maxRows' } as const
const NAMES = keysOf(SETTINGS)

const settingWords = (t: PageLocale, name: keyof typeof SETTINGS): string =>
  t.console.app_change.settings[SETTINGS[name]]

const settingsOf = (visit: ConsoleVisit, about: About) =>
  visit.ask('show_sync_settings', { params: { app_id: idOf(about) } })

/**
 * Returns the changed settings as numbers. Other texts stay as they are, and the endpoint refuses them. An
 * unchanged interval is not sent: it would postpone the next sync.
 */
const changedIn = (
  about: About,
  before: Record<keyof typeof SETTINGS, number>,
): Record<string, unknown> =>
  Object.fromEntries(
    NAMES.map((name) => [name, about.get(name)] as const)
      .filter(([name, text]) => text !== '' && text !== String(before[name]))
      .map(([name, text]) => [name, /^\d{1,12}$/.test(text) ? Number(text) : text]),
  )

/**
 * Returns a custom app.
 *
 * @throws CoreError `forbidden`, `not_found`, `conflict` for an app that must be reconnected instead
 */
async function customApp(...[db, principal, id]: Parameters<typeof findApp>) {
  const row = await findApp(db, principal, id, 'apps.write')
  managedHere(row)
  if (row.instanceId !== CUSTOM_INSTANCE)
    throw conflict('This app comes back when you reconnect it')
  return row
}

export const APP_CHANGES = {
  sync: {
    path: '/console/apps/:app_id/sync',
    ...{ ...ofApp, does: 'starts a sync' },
    ...wordsFrom((t) => t.console.app_change.sync),
    preview: async ({ db, principal, t }, about) => {
      const app = await getApp(db, principal, idOf(about), [])
      return { lines: [plus(t.console.app_change.sync.line(app.user_friendly_label))] }
    },
    act: ({ db, principal, context }, about) =>
      triggerSync(db, principal, idOf(about), { sync_type: 'full_sync' }, context),
  },
  disconnect: {
    path: '/console/apps/:app_id/disconnect',
    ...{ ...ofApp, does: 'disconnects an app' },
    ...wordsFrom((t) => t.console.disconnect),
    danger: true,
    preview: async ({ db, principal, t }, about) => {
      const w = t.console.disconnect
      const row = await findApp(db, principal, idOf(about), 'apps.write')
      managedHere(row)
      if (row.disconnectedAt !== null) return { lines: [] }
      // A custom app has no connection, and so neither credentials nor a sync.
      if (row.instanceId === CUSTOM_INSTANCE)
        return { lines: [minus(w.notAsked(row.name)), same(w.byHandStays), same(w.canReturn)] }
      return {
        lines: [minus(w.destroyed(row.name)), minus(w.noSync), same(w.stays), same(w.again)],
      }
    },
    act: ({ db, principal }, about) => disconnectApp(db, principal, idOf(about)),
  },
  return: {
    path: '/console/apps/:app_id/return',
    ...{ ...ofApp, does: 'brings a custom app back' },
    ...wordsFrom((t) => t.console.return_app),
    preview: async ({ db, principal, t }, about) => {
      const w = t.console.return_app
      const row = await customApp(db, principal, idOf(about))
      if (row.disconnectedAt === null) return { lines: [] }
      return { lines: [plus(w.asked(row.name)), plus(w.policies)] }
    },
    act: async ({ db, principal, context }, about) => {
      const { id, appClassId } = await customApp(db, principal, idOf(about))
      return putApp(db, principal, id, filledIn(AppInputPut, { app_class_id: appClassId }), context)
    },
  },
  accept: {
    ...ofRun('accept'),
    preview: async (visit, { params }) => {
      const run = await visit.ask('accept_sync', { params, body: { dry_run: true } })
      return {
        lines: [
          minus(visit.t.console.app_change.accept.line(run.app_name)),
          ...(run.problem ? [run.problem] : []),
        ],
      }
    },
  },
  cancel: {
    ...ofRun('cancel'),
    preview: async (visit, { params }) => {
      const { console: w } = visit.t
      const run = await visit.ask('cancel_sync', { params, body: { dry_run: true } })
      return { lines: [minus(w.app_change.cancel.line(run.app_name, w.sync_phases[run.phase]))] }
    },
  },
  'sync-settings': {
    path: '/console/apps/:app_id/sync-settings',
    ...{ ...ofApp, who: 'operator', does: 'changes how an app is synced' },
    ...wordsFrom((t) => t.console.app_change.settings),
    fields: (about, t) =>
      html`${NAMES.map((name) => field({ t, id: name, label: settingWords(t, name), value: about.get(name), type: 'number' }))}`,
    async given(visit, about) {
      const held = await settingsOf(visit, about)
      return Object.fromEntries(NAMES.map((name) => [name, String(held[name])]))
    },
    async preview(visit, about) {
      if (NAMES.every((name) => about.get(name) === '')) return { lines: null }
      const before = await settingsOf(visit, about)
      const settings = changedIn(about, before)
      if (Object.keys(settings).length === 0) return { lines: [] }
      const after = await visit.ask('change_sync_settings', {
        params: { app_id: idOf(about) },
        body: { settings, dry_run: true },
      })
      const changed = NAMES.filter((name) => before[name] !== after[name])
      return {
        lines: changed.map((name) =>
          plus(
            visit.t.console.app_change.settings.line(
              settingWords(visit.t, name),
              before[name],
              after[name],
            ),
          ),
        ),
      }
    },
    async act(visit, about) {
      const settings = changedIn(about, await settingsOf(visit, about))
      if (Object.keys(settings).length === 0) return
      const params = { app_id: idOf(about) }
      await visit.ask('change_sync_settings', { params, body: { settings } })
    },
  },
} as const satisfies Record<string, ConsoleChange>
