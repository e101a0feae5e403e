/** Form addresses opened by GET: an error page leaves one in the address bar, and it must lead somewhere. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  CHANGES,
  CONSOLE_FORMS,
  CONSOLE_PAGES,
  CONSOLE_UPLOADS,
} from '../../../runtime/http/console/table.ts'
import { pageAbove } from '../../../runtime/http/frame/page-above.ts'
import { FORMS, PAGES } from '../../../runtime/http/pages/table.ts'
import { type CoreHost, startCore } from '../../core/host.ts'
import { signedIn } from '../settings/visitor.ts'

const ID = '00000000-0000-7000-8000-000000000000'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

const pathsOf = (...tables: readonly Record<string, { path: string }>[]): string[] =>
  tables.flatMap((table) => Object.values(table).map(({ path }) => path))
const shown = pathsOf(PAGES, CONSOLE_PAGES, CHANGES)

test('each form address redirects to the page above it, or is a page itself', async () => {
  const visitor = await signedIn(core)
  const forms = pathsOf(FORMS, CHANGES, CONSOLE_FORMS, CONSOLE_UPLOADS)
  expect(forms).toContain('/inbox/reviews/:access_review_id/decide')
  for (const form of forms) {
    const path = form.replace(/:\w+/g, ID)
    const { status, headers } = await visitor.get(path)
    expect(status, path).not.toBe(405)
    if (shown.includes(form)) continue
    expect(status, path).toBe(303)
    const to = headers.get('location') ?? ''
    expect(path.startsWith(to), path).toBe(true)
    expect((await visitor.get(to)).status, to).not.toBe(405)
  }
})

test.each([
  ['/inbox/reviews/:id/decide', '/inbox/reviews/7/decide', '/inbox/reviews/7'],
  ['/inbox/:id/comment', '/inbox/7/comment', '/inbox/7'],
  ['/sign-out/everywhere', '/sign-out/everywhere', '/'],
])('the page above %s is the nearest one', (pattern, asked, page) => {
  expect(pageAbove(pattern, ['/', '/inbox', '/inbox/:id', '/inbox/reviews/:id'], asked)).toBe(page)
})
