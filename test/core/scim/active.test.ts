/** A provider offboards people even if another source deactivated them first. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../e2e/until.ts'
import { person } from '../host.ts'
import { type Provider, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

const setActive = (id: string, active: boolean) =>
  provider.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: active })

/** Reactivates a person once their offboarding is over. */
const untilReactivated = (id: string) =>
  until('the person can be reactivated', async () =>
    (await setActive(id, true)).status === 200 ? true : null,
  )

const statusWith = async (token: string) =>
  (await provider.core.call('GET', '/users/current', { token })).status

test('deactivating a person imported as INACTIVE offboards them, and their tokens stay invalid', async () => {
  const { id, token } = await person(provider.core.db, 'off@acme.example')
  await provider.imported('email,status\noff@acme.example,INACTIVE\n')
  expect((await setActive(id, false)).status).toBe(200)
  await untilReactivated(id)
  expect(await provider.offboardings(id)).toEqual(['COMPLETED'])
  expect(await statusWith(token)).toBe(401)
})

test('deleting an INACTIVE person offboards them', async () => {
  const { id } = await person(provider.core.db, 'off-deleted@acme.example')
  await provider.imported('email,status\noff-deleted@acme.example,INACTIVE\n')
  expect((await provider.scim('DELETE', `/Users/${id}`)).status).toBe(204)
  expect(await provider.offboardings(id)).toHaveLength(1)
})

test('an offboarded person is not offboarded again unless they were reactivated since', async () => {
  const email = 'twice@acme.example'
  const { id } = await person(provider.core.db, email)
  await setActive(id, false)
  await until('the offboarding is COMPLETED', async () =>
    (await provider.offboardings(id)).includes('COMPLETED') ? true : null,
  )
  const { body } = await provider.scim('GET', `/Users/${id}`)
  expect((await setActive(id, false)).body.meta).toEqual(body.meta)
  expect(await provider.offboardings(id)).toEqual(['COMPLETED'])

  for (const status of ['ACTIVE', 'INACTIVE'])
    await provider.imported(`email,status\n${email},${status}\n`)
  await setActive(id, false)
  expect(await provider.offboardings(id)).toHaveLength(2)
  await untilReactivated(id)
})
