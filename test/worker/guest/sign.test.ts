/** `ctx.sign` and `ctx.exchange` in the sandbox return placeholders for the host, and no key. */
import { beforeAll, expect, test } from 'vitest'
import {
  createCallMark,
  createMarks,
  exchangePlaceholder,
} from '../../../runtime/contract/connector/placeholder.ts'
import { createGuest, type Guest } from './isolate.ts'

let guest: Guest
beforeAll(async () => {
  guest = await createGuest(`({
    list_accounts: (_request, ctx) => [
      ctx.sign.jwt({ claims: { name: 'wörd' } }),
      ctx.sign.serviceAccount(),
      ctx.sign.oauth1({ realm: 'r' }),
      ctx.sign.aws({ service: 's3', region: 'x' }),
      ctx.exchange ?? null,
    ].map((integration_specific_id) => ({ integration_specific_id })),
  })`)
})

const marks = createMarks()
const call = createCallMark()

test('each placeholder encodes what is to be signed, in letters and digits', async () => {
  const exchange = exchangePlaceholder(marks, call)
  const { response } = await guest.run('list_accounts', {
    marks: [marks.head + call, marks.tail],
    exchange,
  })
  const texts = (response as { integration_specific_id: string }[]).map(
    (one) => one.integration_specific_id,
  )
  const asked = texts.slice(0, 4).map((text) => {
    const [match] = [...text.matchAll(marks.scan)]
    expect([match?.[0], match?.[1]]).toEqual([text, call])
    return JSON.parse(Buffer.from(match?.[4] ?? '', 'hex').toString())
  })
  expect(asked).toEqual([
    { do: 'jwt', options: { claims: { name: 'wörd' } } },
    { do: 'service_account', options: {} },
    { do: 'oauth1', options: { realm: 'r' } },
    { do: 'aws', options: { service: 's3', region: 'x' } },
  ])
  expect(texts[4]).toBe(exchange)
})

test('a call without a secret fails with a message', async () => {
  expect(await guest.error('list_accounts')).toMatchObject({
    code: 'integration_missing_parameter',
    message: expect.stringContaining('ctx.sign needs'),
  })
})
