/** Empty or invalid fields of a change: reported in the language of the page, and marked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findings } from '../../../runtime/database/schema/findings.ts'
import { entitlements } from '../../../runtime/database/schema/sync.ts'
import { withChecksPaused } from '../../core/findings/paused-checks.ts'
import { app, type CoreHost, domainOf, group, person, startCore } from '../../core/host.ts'
import { company } from '../../core/requests/company.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let visitor: Visitor
let ids: Record<string, string>
beforeAll(async () => {
  core = await startCore()
  const acme = company(core)
  const appId = await acme.inStore(await app(core.db, 'Jira', { connectorId: 'scim' }))
  await group(core.db, 'On call', [])
  const leaver = await person(core.db, 'leaver@example.com')
  const hook = await core.call('POST', '/operator/webhooks', {
    body: { hook_type: 'SIEM', name: 'Theirs', url: 'https://siem.example/in' },
  })
  const [licence] = await core.db
    .insert(entitlements)
    .values({
      ...{ domainId: await domainOf(core.db), appId },
      ...{ entitlementType: 'LICENCE', externalId: 'pro' },
      ...{ resourceId: '', label: 'Pro', isAssignable: true, seenRun: 0 },
    })
    .returning()
  const domainId = await domainOf(core.db)
  const found = { domainId, kind: 'REAPPEARED', severity: 'HIGH', subject: 'fields' } as const
  let findingId = ''
  await withChecksPaused(core.db, `domain ${domainId}`, async () => {
    const [finding] = await core.db.insert(findings).values(found).returning()
    findingId = finding?.id ?? ''
  })
  ids = {
    ...{ app_id: appId, permission_id: await acme.group(appId, 'readers', 'Readers') },
    ...{ webhook_id: hook.body.webhook.id, finding_id: findingId, user_id: leaver.id },
    licence_id: String(licence?.id),
  }
  visitor = await signedIn(core)
})
afterAll(() => core.stop())

const at = (path: string): string =>
  `/console/${path.replace(/:(\w+)/g, (_, id: string) => ids[id] ?? '')}`

/** The fields that a page marks as invalid, and its message. */
function problemOn(text: string) {
  const tags = [...text.matchAll(/<(?:input|textarea|select)\b[^>]*>/g)].map(([tag]) => tag)
  const marked = tags.filter((tag) => tag.includes(' aria-invalid="true"'))
  for (const tag of marked) expect(tag).toMatch(/ aria-describedby="not-done[ "]/)
  const [, words = ''] = /<span id="not-done">(.*?)<\/span><\/span>/.exec(text) ?? []
  return {
    marked: marked.map((tag) => / name="([^"]+)"/.exec(tag)?.[1]),
    words,
    focused: /role="alert" tabindex="-1" autofocus/.test(text),
  }
}

const GLASS = 'apps/:app_id/permissions/:permission_id/break-glass'

/** Path, entered values, marked fields, message in English and in German. */
const WRONG: [string, Record<string, string>, string[], string, string][] = [
  [
    'apps/:app_id/permissions/new',
    { label: ' ' },
    ['label'],
    'Fill in: What it is called.',
    'Füllen Sie aus: Wie sie heißt.',
  ],
  [
    'apps/:app_id/permissions/new',
    { label: 'x'.repeat(513) },
    ['label'],
    'What it is called: at most 512 characters.',
    'Wie sie heißt: höchstens 512 Zeichen.',
  ],
  [
    GLASS,
    { groups: '', minutes: '' },
    ['groups', 'minutes'],
    'Fill in: Groups, one name a line; Longest time, in minutes.',
    'Füllen Sie aus: Gruppen, ein Name je Zeile; Längste Dauer, in Minuten.',
  ],
  [
    GLASS,
    { groups: 'On call', minutes: 'soon' },
    ['minutes'],
    'Longest time, in minutes: must be a whole number.',
    'Längste Dauer, in Minuten: muss eine ganze Zahl sein.',
  ],
  [
    GLASS,
    { groups: 'On call', minutes: '1441' },
    ['minutes'],
    'Longest time, in minutes: at most 1440.',
    'Längste Dauer, in Minuten: höchstens 1440.',
  ],
  [
    GLASS,
    { groups: 'Nobody', minutes: '60' },
    ['groups'],
    'There is no group “Nobody”, or several are called so.',
    'Es gibt keine Gruppe „Nobody“, oder mehrere heißen so.',
  ],
  [
    GLASS,
    { groups: 'On call\n'.repeat(21), minutes: '60' },
    ['groups'],
    'Groups, one name a line: at most 20.',
    'Gruppen, ein Name je Zeile: höchstens 20.',
  ],
  [
    'scim-tokens',
    { name: ' ' },
    ['name'],
    'Enter a name, such as what will use the token.',
    'Geben Sie einen Namen ein, zum Beispiel was das Token benutzen wird.',
  ],
  [
    'scim-tokens',
    { name: 'x'.repeat(101) },
    ['name'],
    'Write a name of at most 100 characters.',
    'Schreiben Sie einen Namen mit höchstens 100 Zeichen.',
  ],
  [
    'scim-tokens',
    { name: 'Okta', expires: '2001-01-01' },
    ['expires'],
    'Choose today or a later day, or leave it empty.',
    'Wählen Sie heute oder einen späteren Tag, oder lassen Sie ihn leer.',
  ],
  [
    'people/:user_id/offboard',
    { when: 'later', day: '' },
    ['day'],
    'Name the day on which it is to begin.',
    'Nennen Sie den Tag, an dem er beginnen soll.',
  ],
  [
    'webhooks/new',
    { hook_type: 'SIEM', name: 'Ours', url: 'https://siem.example/', headers: 'nothing' },
    ['headers'],
    'Line 1 of the headers is not of the form Name: value.',
    'Zeile 1 der Header hat nicht die Form Name: Wert.',
  ],
  [
    'apps/:app_id/store',
    { discoverability: 'LIMITED', approvers: 'nobody@example.com' },
    ['approvers'],
    'No known person, or more than one, is “nobody@example.com”.',
    'Keine bekannte oder mehr als eine Person ist „nobody@example.com“.',
  ],
  [
    'apps/:app_id/store',
    { discoverability: 'LIMITED', allowed_groups: 'Nobody' },
    ['allowed_groups'],
    'No group, or more than one, is called “Nobody”.',
    'Keine oder mehr als eine Gruppe heißt „Nobody“.',
  ],
  [
    'apps/new',
    { name: '', category: '', description: '' },
    ['name', 'category', 'description'],
    'Fill in: Name; Category; What it is.',
    'Füllen Sie aus: Anwendungsname; Kategorie; Was es ist.',
  ],
  [
    'apps/:app_id/edit',
    { website_url: 'acme' },
    ['website_url'],
    'Website: must be an address such as https://acme.example/.',
    'Internetseite: eine Adresse wie https://acme.example/.',
  ],
  [
    'apps/:app_id/sync-settings',
    { page_size: '0' },
    ['page_size'],
    'Items per request: at least 1.',
    'Einträge, die auf einmal abgefragt werden: mindestens 1.',
  ],
  [
    'findings/:finding_id/accept',
    { until: '31.12.', reason: 'Ours' },
    ['until'],
    'This must be within the next 366 days.',
    'Das muss innerhalb der nächsten 366 Tage liegen.',
  ],
  [
    'findings/:finding_id/accept',
    { until: '2001-01-01', reason: 'Ours' },
    ['until'],
    'This must be within the next 366 days.',
    'Das muss innerhalb der nächsten 366 Tage liegen.',
  ],
  [
    'findings/:finding_id/accept',
    { until: '2999-01-01', reason: ' ' },
    ['reason'],
    'Fill in: Why.',
    'Füllen Sie aus: Begründung.',
  ],
  [
    'webhooks/new',
    { hook_type: 'SIEM', name: '', url: '' },
    ['name', 'url'],
    'Fill in: Name; Address.',
    'Füllen Sie aus: Name; Adresse.',
  ],
  [
    'webhooks/:webhook_id/change',
    { name: 'SIEM', url: 'nowhere' },
    ['url'],
    'The address is not an absolute URL that can be read.',
    'Die Adresse ist keine vollständige, lesbare URL.',
  ],
  [
    'publishers/trust',
    { name: 'Acme', public_key: '' },
    ['public_key'],
    'Fill in: Public key (PEM, as keyway keygen wrote it).',
    'Füllen Sie aus: Öffentlicher Schlüssel (PEM, wie keyway keygen ihn schreibt).',
  ],
  [
    'licences/:licence_id/price',
    { amount: 'much', currency: 'EUR', period: 'MONTH' },
    ['amount'],
    'Amount, such as 12.50: a decimal number such as 12.50.',
    'Betrag, etwa 12.50: eine Zahl wie 12.50.',
  ],
  [
    'licences/:licence_id/price',
    { amount: '1', currency: 'E', period: 'MONTH' },
    ['currency'],
    'Currency, such as EUR: a currency by its three letters, such as EUR.',
    'Währung, etwa EUR: eine Währung mit ihren drei Buchstaben, etwa EUR.',
  ],
]

describe('an invalid field', () => {
  test.each(WRONG)(
    'of %s with %o is marked and explained in the language of the page',
    async (path, fields, marked, english, german) => {
      for (const [language, words] of [
        ['en', english],
        ['de', german],
      ] as const) {
        const inLanguage = { headers: { 'accept-language': language } }
        await visitor.get(at(path), inLanguage)
        const { status, text } = await visitor.post(at(path), fields, inLanguage)
        expect([400, 422]).toContain(status)
        expect(problemOn(text)).toEqual({ marked, words, focused: true })
        expect(text).not.toContain('Invalid')
      }
    },
  )
})
