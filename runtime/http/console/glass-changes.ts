/** GLASS_CHANGES: changes of break-glass permissions, their groups and their longest duration. */
import { html } from 'hono/html'
import * as v from 'valibot'
import { BreakGlassInput, MAX_GLASS_MINUTES } from '../../contract/models/break-glass.ts'
import { deleteBreakGlass, putBreakGlass } from '../../core/catalogue/store/break-glass.ts'
import { getPermission } from '../../core/catalogue/store/permissions.ts'
import { fieldError } from '../frame/error-page.ts'
import { groupNamed } from '../pages/named.ts'
import { appCrumbs } from './apps.ts'
import { type About, type ConsoleChange, minus, plus, wordsFrom } from './change.ts'
import { filledIn } from './filled-in.ts'
import { brief, field } from './parts.ts'
import { groupNames, markedIn, permissionsPath } from './permissions.ts'
import type { ConsoleVisit } from './visit.ts'

const appOf = ({ params }: About): string => params['app_id'] ?? ''
const idOf = ({ params }: About): string => params['permission_id'] ?? ''

const base = {
  place: 'apps',
  who: null,
  reason: 'none',
  back: (about: About) => permissionsPath(appOf(about)),
  crumbs: (visit: ConsoleVisit, about: About) => appCrumbs(visit, appOf(about)),
} as const

async function labelOf({ db, principal }: ConsoleVisit, about: About): Promise<string> {
  const permission = await getPermission(db, principal, idOf(about), false)
  return brief(String(permission?.['label'] ?? ''), 80)
}

const namesIn = (about: About): string[] =>
  about
    .get('groups')
    .split('\n')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** Returns the ids of groups by name. @throws CoreError `invalid` for an unknown or ambiguous name */
async function groupIds({ db, principal, t }: ConsoleVisit, names: readonly string[]) {
  const ids: string[] = []
  for (const name of names) {
    const group = await groupNamed(db, principal, name)
    if (!group) throw fieldError('groups', t.console.glass_change.set.noGroup(name))
    ids.push(group.id)
  }
  return ids
}

/** The endpoint's schema with the field names of the form, so that a refusal is related to its field. */
const GLASS_FORM = v.object({
  groups: BreakGlassInput.entries.group_ids,
  minutes: BreakGlassInput.entries.max_minutes,
})

async function markIn(visit: ConsoleVisit, about: About) {
  const minutes = about.get('minutes')
  const mark = filledIn(GLASS_FORM, {
    groups: await groupIds(visit, namesIn(about)),
    minutes: /^\d{1,9}$/.test(minutes) ? Number(minutes) : minutes,
  })
  return { group_ids: mark.groups, max_minutes: mark.minutes }
}

export const GLASS_CHANGES = {
  'break-glass-set': {
    ...base,
    path: '/console/apps/:app_id/permissions/:permission_id/break-glass',
    does: 'marks a permission as break-glass',
    ...wordsFrom((t) => t.console.glass_change.set),
    fields: (about, t) =>
      html`<div class="field"><label for="groups">${t.console.glass_change.set.groups}</label><textarea id="groups" name="groups" rows="3" maxlength="6000" required>
${about.get('groups')}</textarea></div>
${field({ t, id: 'minutes', label: t.console.glass_change.set.minutes, help: `1 – ${MAX_GLASS_MINUTES}`, value: about.get('minutes'), type: 'number', range: [1, MAX_GLASS_MINUTES], required: true })}`,
    async given(visit, about) {
      await labelOf(visit, about)
      const glass = (await markedIn(visit, appOf(about))).get(idOf(about))
      if (!glass) return {}
      return {
        groups: (await groupNames(visit, glass)).join('\n'),
        minutes: String(glass.max_minutes),
      }
    },
    async preview(visit, about) {
      const label = await labelOf(visit, about)
      if (about.get('groups') === '' || about.get('minutes') === '') return { lines: null }
      await markIn(visit, about)
      const groups = namesIn(about).join(', ')
      return {
        lines: [plus(visit.t.console.glass_change.set.line(label, groups, about.get('minutes')))],
      }
    },
    act: async (visit, about) =>
      putBreakGlass(visit.db, visit.principal, idOf(about), await markIn(visit, about)),
  },
  'break-glass-removed': {
    ...base,
    path: '/console/apps/:app_id/permissions/:permission_id/no-break-glass',
    does: 'unmarks a permission as break-glass',
    ...wordsFrom((t) => t.console.glass_change.end),
    danger: true,
    async preview(visit, about) {
      const label = await labelOf(visit, about)
      const isMarked = (await markedIn(visit, appOf(about))).has(idOf(about))
      return {
        lines: [isMarked && minus(visit.t.console.glass_change.end.line(label))],
      }
    },
    act: ({ db, principal }, about) => deleteBreakGlass(db, principal, idOf(about)),
  },
} as const satisfies Record<string, ConsoleChange>
