/** Who was switched off by another source first: what they could do ends all the same. */
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

/** Lets a person in again, once their offboarding is over. */
const letIn = (id: string) =>
  until('the person is let in again', async () =>
    (await setActive(id, true)).status === 200 ? true : null,
  )

const statusWith = async (token: string) =>
  (await provider.core.call('GET', '/users/current', { token })).status

test('who was imported as INACTIVE is offboarded, and no token of theirs works again', async () => {
  const { id, token } = await person(provider.core.db, 'off@acme.example')
  await provider.imported('email,status\noff@acme.example,INACTIVE\n')
  expect((await setActive(id, false)).status).toBe(200)
  await letIn(id)
  expect(await provider.offboardings(id)).toEqual(['COMPLETED'])
  expect(await statusWith(token)).toBe(401)
})

test('who is deleted while INACTIVE is offboarded', async () => {
  const { id } = await person(provider.core.db, 'off-deleted@acme.example')
  await provider.imported('email,status\noff-deleted@acme.example,INACTIVE\n')
  expect((await provider.scim('DELETE', `/Users/${id}`)).status).toBe(204)
  expect(await provider.offboardings(id)).toHaveLength(1)
})

test('who was offboarded is not offboarded again, until they were let in meanwhile', async () => {
  const email = 'twice@acme.example'
  const { id } = await person(provider.core.db, email)
  await setActive(id, false)
  await until('the offboarding is over', async () =>
    (await provider.offboardings(id)).includes('COMPLETED') ? true : null,
  )
  const { body } = await provider.scim('GET', `/Users/${id}`)
  expect((await setActive(id, false)).body.meta).toEqual(body.meta)
  expect(await provider.offboardings(id)).toEqual(['COMPLETED'])

  for (const status of ['ACTIVE', 'INACTIVE'])
    await provider.imported(`email,status\n${email},${status}\n`)
  await setActive(id, false)
  expect(await provider.offboardings(id)).toHaveLength(2)
  await letIn(id)
})
