/** APP_EDITS: edits of an app's description, and custom apps, which have no connection. */
import { html } from 'hono/html'
import { AppInputCreate, AppInputUpdate, FACT_NAMES, MAX_FACT } from '../../contract/models/app.ts'
import { CATEGORIES } from '../../contract/models/categories.ts'
import { findApp, toApp } from '../../core/catalogue/apps/apps.ts'
import { createApp, updateApp } from '../../core/catalogue/apps/connect.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { appCrumbs, appPath } from './apps.ts'
import { type About, type ConsoleChange, plus, wordsFrom } from './change.ts'
import { filledIn } from './filled-in.ts'
import { brief, choose, field } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

type Fact = (typeof FACT_NAMES)[number]

const idOf = ({ params }: About): string => params['app_id'] ?? ''

/** Values of the fields; a missing fact is an empty text. */
type Held = Record<Fact, string>

async function heldBy({ db, principal }: ConsoleVisit, id: string): Promise<Held> {
  const app = toApp(await findApp(db, principal, id, 'apps.write'))
  return {
    name: app.user_friendly_label,
    category: app.category ?? '',
    description: app.description ?? '',
    logo_url: app.logo_url ?? '',
    website_url: app.website_url ?? '',
    request_instructions: app.request_instructions ?? '',
  }
}

/** Returns the input of a field. Browsers send CRLF line breaks. */
const typed = (about: About, name: Fact): string => about.get(name).replaceAll('\r\n', '\n')

/** Returns the changed facts. An empty field resets a fact to the connector's own. */
function changedIn(about: About, held: Held): Partial<Record<Fact, string | null>> {
  const changed = FACT_NAMES.filter((name) => typed(about, name) !== held[name].trim())
  return Object.fromEntries(changed.map((name) => [name, typed(about, name) || null]))
}

const fieldsOf =
  (isNew: boolean) =>
  (about: About, t: PageLocale): Markup => {
    const w = t.console.app_edit
    const none = [['', isNew ? t.console.connect.choose : w.noCategory]] as const
    return html`${field({ t, id: 'name', label: w.facts.name, value: about.get('name'), most: MAX_FACT.name, required: isNew })}
${choose({ id: 'category', label: w.facts.category, value: about.get('category'), all: [...none, ...CATEGORIES.map((one) => [one, t.w.categories[one]] as const)], required: isNew })}
${area(t, 'description', about, isNew)}
${area(t, 'request_instructions', about, false)}
${field({ t, id: 'website_url', label: w.facts.website_url, value: about.get('website_url'), type: 'url', most: MAX_FACT.address })}
${field({ t, id: 'logo_url', label: w.facts.logo_url, value: about.get('logo_url'), type: 'url', most: MAX_FACT.address })}`
  }

const area = (
  t: PageLocale,
  name: 'description' | 'request_instructions',
  about: About,
  required: boolean,
): Markup =>
  html`<div class="field"><label for="${name}">${t.console.app_edit.facts[name]}${required ? '' : html` <span class="soft">${t.w.optional}</span>`}</label><textarea id="${name}" name="${name}" rows="3" maxlength="${MAX_FACT.text}"${required ? html` required` : ''}>
${about.get(name)}</textarea></div>`

const MAX_SHOWN = 120

/** Returns the name and the facts of a new app. */
const toldOf = (about: About) =>
  Object.fromEntries(
    FACT_NAMES.map((name) => [name, typed(about, name)]).filter(([, text]) => text !== ''),
  )

export const APP_EDITS = {
  'new-app': {
    path: '/console/apps/new',
    ...{ place: 'apps', who: 'apps.write', reason: 'none', does: 'creates a custom app' },
    ...wordsFrom((t) => t.console.app_edit.make),
    back: () => '/console/apps',
    fields: fieldsOf(true),
    async preview({ t }, about) {
      if (about.get('name') === '') return { lines: null }
      const { name = '' } = filledIn(AppInputCreate, toldOf(about))
      return { lines: [plus(t.console.app_edit.make.line(brief(name, MAX_SHOWN)))] }
    },
    async act({ db, principal, context, done }, about) {
      const input = filledIn(AppInputCreate, toldOf(about))
      const { id } = await createApp(db, principal, input, context)
      return done('new-app', appPath(id))
    },
  },
  'edit-app': {
    path: '/console/apps/:app_id/edit',
    ...{ place: 'apps', who: null, reason: 'none', does: 'changes the description of an app' },
    ...wordsFrom((t) => t.console.app_edit.change),
    back: (about) => appPath(idOf(about)),
    crumbs: (visit, about) => appCrumbs(visit, idOf(about)),
    fields: fieldsOf(false),
    given: (visit, about) => heldBy(visit, idOf(about)),
    async preview(visit, about) {
      const w = visit.t.console.app_edit
      const held = await heldBy(visit, idOf(about))
      const changed = filledIn(AppInputUpdate, changedIn(about, held))
      return {
        lines: FACT_NAMES.filter((name) => name in changed).map((name) => ({
          sign: changed[name] === null ? ('minus' as const) : ('plus' as const),
          words: w.change.line(
            w.facts[name],
            brief(held[name], MAX_SHOWN),
            brief(changed[name] ?? '', MAX_SHOWN),
          ),
        })),
      }
    },
    async act(visit, about) {
      const { db, principal, context } = visit
      const held = await heldBy(visit, idOf(about))
      const input = filledIn(AppInputUpdate, changedIn(about, held))
      await updateApp(db, principal, idOf(about), input, context)
    },
  },
} as const satisfies Record<string, ConsoleChange>
