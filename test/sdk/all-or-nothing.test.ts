import { expect, test } from 'vitest'
import { allOrNothing, ConnectorError } from '../../runtime/sdk/sdk.ts'

const failure = new ConnectorError('not_found', 'no such role', {
  app_error_code: 'no_role',
  status_code: 404,
  raised_by: 'HTTPStatusError',
})

test('undoes nothing on success', async () => {
  const undone: string[] = []
  const result = await allOrNothing(async (undo) => {
    undo('the user', () => undone.push('user'))
    return 'done'
  })
  expect([result, undone]).toEqual(['done', []])
})

test('undoes completed steps one by one in reverse order, and rethrows the failure', async () => {
  const undone: string[] = []
  const slow = (name: string, ms: number) => () =>
    new Promise<void>((resolve) => {
      undone.push(`${name} begins`)
      setTimeout(() => {
        undone.push(`${name} ends`)
        resolve()
      }, ms)
    })
  const act = allOrNothing(async (undo) => {
    undo('the user', slow('user', 0))
    undo('the seat', slow('seat', 5))
    throw failure
  })
  await expect(act).rejects.toBe(failure)
  expect(undone).toEqual(['seat begins', 'seat ends', 'user begins', 'user ends'])
})

test('tries every undo, keeps the error code, and names what was left behind', async () => {
  const undone: string[] = []
  const act = allOrNothing(async (undo) => {
    undo('the user u1', () => undone.push('user'))
    undo('the seat s2', () => {
      throw new ConnectorError('api_error', '[500] busy')
    })
    undo('the mailbox', () => Promise.reject('gone'))
    throw failure
  })
  await expect(act).rejects.toMatchObject({
    error_code: 'not_found',
    app_error_code: 'no_role',
    status_code: 404,
    raised_by: 'HTTPStatusError',
    message: 'no such role; left behind: the mailbox (gone), the seat s2 ([500] busy)',
    cause: failure,
  })
  expect(undone).toEqual(['user'])
})

test('a failure of the code itself stays an unexpected_error', async () => {
  const act = allOrNothing((undo) => {
    undo('the user', () => {
      throw new Error('no')
    })
    throw new TypeError('x is undefined')
  })
  await expect(act).rejects.toMatchObject({
    error_code: 'unexpected_error',
    message: 'x is undefined; left behind: the user (no)',
  })
})
