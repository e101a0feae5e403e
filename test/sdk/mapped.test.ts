import { expect, test } from 'vitest'
import { ConnectorError, ifThere, inParallel, mapped, paged } from '../../runtime/sdk/sdk.ts'

const failing = (code: 'not_found' | 'unsupported_operation' | 'unauthenticated') =>
  Promise.reject(new ConnectorError(code, 'no'))

test('ifThere returns null for a missing object, and rejects with any other error', async () => {
  expect(await ifThere(Promise.resolve(7))).toBe(7)
  expect(await ifThere(failing('not_found'))).toBeNull()
  await expect(ifThere(failing('unauthenticated'))).rejects.toThrow('no')
  await expect(ifThere(failing('unsupported_operation'))).rejects.toThrow('no')
  expect(await ifThere(failing('unsupported_operation'), 'unsupported_operation')).toBeNull()
})

test('inParallel runs a few at a time, and keeps the order', async () => {
  let open = 0
  let most = 0
  const doubled = await inParallel(
    Array.from({ length: 20 }, (_, index) => index),
    async (one) => {
      open += 1
      most = Math.max(most, open)
      await new Promise((resolve) => setTimeout(resolve, one % 3))
      open -= 1
      return 2 * one
    },
    3,
  )
  expect(doubled).toEqual(Array.from({ length: 20 }, (_, index) => 2 * index))
  expect(most).toBe(3)
})

test('mapped keeps the pages of a listing whose items become none, one or several', async () => {
  const listing = mapped(
    () => paged([1, 2, 3], 'next'),
    async (one) => Array.from({ length: one - 1 }, () => one),
  )
  expect(await listing({ cursor: null, size: null })).toEqual(paged([2, 3, 3], 'next'))
  const last = mapped(
    () => [1],
    (one) => [one, one],
  )
  expect(await last({ cursor: null, size: null })).toEqual(paged([1, 1], null))
})
