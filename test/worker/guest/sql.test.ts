/** `ctx.sql` in the sandbox refuses parameters that JSON would change on the way to the database. */
import { expect, test } from 'vitest'
import { createGuest } from './isolate.ts'

test.each([
  ["query('find', ['a', undefined])", '$2 of the statement find is undefined'],
  ["execute('set', [NaN])", '$1 of the statement set is NaN'],
  ["execute('set', [1 / 0])", '$1 of the statement set is Infinity'],
  ["execute('set', [,])", '$1 of the statement set is undefined'],
  [
    "transaction([{ statement: 'one', parameters: [null] }, { statement: 'two', parameters: [undefined] }])",
    '$1 of the statement two is undefined',
  ],
])('%s is refused, and nothing is sent', async (asked, words) => {
  const guest = await createGuest(`({ list_accounts: (_request, ctx) => ctx.sql.${asked} })`)
  const { message } = await guest.error('list_accounts')
  expect(message).toContain(`${words}; write null for no value`)
  expect(guest.posts).toEqual([])
})

test.each(["query('find', ['a', null, 0, false, ['b']])", "execute('set')", 'transaction([])'])(
  '%s is sent',
  async (asked) => {
    const guest = await createGuest(`({ list_accounts: (_request, ctx) => ctx.sql.${asked} })`)
    void guest.run('list_accounts')
    await expect.poll(() => guest.posts.length).toBeGreaterThan(0)
  },
)
