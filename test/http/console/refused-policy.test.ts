/** Messages of the access policy form when the policy is not saved. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let visitor: Visitor
beforeAll(async () => {
  core = await startCore()
  visitor = await signedIn(core)
})
afterAll(() => core.stop())

const PATH = '/console/policies/new'

/** The alert of a page, with the items of its list. */
async function alertFor(fields: Record<string, string>, language: string) {
  const inLanguage = { headers: { 'accept-language': language } }
  await visitor.get(PATH, inLanguage)
  const { status, text } = await visitor.post(
    PATH,
    { who: 'any', do: 'save', ...fields },
    inLanguage,
  )
  const [, alert = ''] = /role="alert"[^>]*>(.*?)<\/div><\/div>/s.exec(text) ?? []
  const items = [...alert.matchAll(/<li>(.*?)<\/li>/g)].map(([, words]) => words)
  return { status, items, alert }
}

test.each([
  ['en', ['Give it a name of at most 255 characters.', 'Choose at least one app or permission.']],
  [
    'de',
    [
      'Geben Sie ihr einen Namen mit höchstens 255 Zeichen.',
      'Wählen Sie mindestens eine Anwendung oder Berechtigung.',
    ],
  ],
])('several problems are listed, in %s', async (language, items) => {
  const all = await alertFor({ name: '' }, language)
  expect([all.status, all.items]).toEqual([422, expect.arrayContaining(items)])
  expect(all.alert).not.toContain('; ')
})

test('a single problem is shown as a sentence', async () => {
  const one = await alertFor({ name: 'Theirs', who: 'everyone' }, 'en')
  expect(one.items).toEqual([])
  expect(one.alert).toContain('<span class="small">Choose at least one app or permission.</span>')
})
