/** Running logins whose grant is revoked, for one call and for several that share a login. */
import { afterEach, expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { createEgress } from '../../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import { until } from '../../e2e/until.ts'
import { errorOf, get, manifestOf, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed } from '../fixtures/secrets.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

/** An upstream whose logins a test answers one by one, and calls of one tenant. */
async function scene() {
  const held: PromiseWithResolvers<void>[] = []
  const closed: string[] = []
  const upstream = await startUpstream((request, response) => {
    const { url = '' } = request
    if (url !== '/login') return void response.end('{}')
    response.on('close', () => response.writableFinished || closed.push(url))
    const turn = Promise.withResolvers<void>()
    held.push(turn)
    void turn.promise.then(() => response.end(`{"token":"the-token-number-${held.length}"}`))
  })
  const { port, origin, seen } = upstream
  const more = {
    authentication_schema: { kind: 'token' },
    exchange: {
      request: { url: `${origin}/login`, json: { key: '{auth.token.token}' } },
      capture: { json: '/token' },
      use: { header: 'authorization' },
    },
  }
  const client = createEgress({
    privateGrants: parsePrivateGrants(`acme=127.0.0.1:${port}`),
    proxy: null,
    userAgent: 'keyway/test',
  })
  openedEgresses.push(client)
  const login = { url: `${origin}/login` }
  const users = { url: `${origin}/users` }
  const groups = { url: `${origin}/groups` }
  const granting = (...egress: object[]) => manifestOf(egress, more)
  let manifest = granting(login, users, groups)
  /** A call with the grants of all calls, until its capability is revoked. */
  const call = () => {
    let isTaken = false
    const secrets = sealed({ auth: { token: { token: 'the-token-of-the-app' } } })
    const opened = client.open({
      ...{ connectorId: 'acme', capability: 'list_accounts', level: 'write', settings: {} },
      signal: new AbortController().signal,
      secrets,
      get manifest() {
        if (isTaken) throw new RuntimeError('egress_undeclared', 'this capability is taken away')
        return manifest
      },
    })
    const take = () => {
      isTaken = true
    }
    const ask = (path: string, signal?: AbortSignal) =>
      opened.fetch({ ...get(`${origin}${path}`), ...(signal ? { signal } : {}) })
    return { ask, take, records: opened.records }
  }
  const leave = (...egress: object[]) => {
    manifest = granting(...egress)
    client.judgeAgain()
  }
  const paths = () => seen.map(({ path }) => path)
  return { ...{ client, call, leave, held, closed, paths }, ...{ login, users, groups } }
}

test('a running login and the request that needs it end once the grant of the login is revoked', async () => {
  const { call, leave, users, closed, paths } = await scene()
  const { ask, records } = call()
  const ended = errorOf(ask('/users'))
  await until('the login has arrived', () => paths().length === 1)
  leave(users)
  expect((await ended).code).toBe('egress_undeclared')
  await until('its connection is closed', () => closed.length === 1)
  expect(paths()).toEqual(['/login'])
  expect(records.map(({ error }) => error)).toEqual(['egress_undeclared', 'egress_undeclared'])
})

test('a login that is granted again is repeated by the same call', async () => {
  const { call, leave, login, users, held, paths } = await scene()
  const { ask } = call()
  const ended = errorOf(ask('/users'))
  await until('the login has arrived', () => paths().length === 1)
  leave(users)
  expect((await ended).code).toBe('egress_undeclared')
  leave(login, users)
  const again = ask('/users')
  await until('the second login has arrived', () => held.length === 2)
  held[1]?.resolve()
  expect((await again).status).toBe(200)
  expect(paths()).toEqual(['/login', '/login', '/users'])
})

test('when the call that logs in is revoked, a granted call that shares the login logs in again', async () => {
  const { client, call, held, closed, paths } = await scene()
  const [first, second] = [call(), call()]
  const ended = errorOf(first.ask('/users'))
  await until('the login has arrived', () => held.length === 1)
  const goes = second.ask('/users')
  first.take()
  client.judgeAgain()
  expect((await ended).message).toBe('this capability is taken away')
  await until('the second login has arrived', () => held.length === 2)
  await until('the first connection is closed', () => closed.length === 1)
  held[1]?.resolve()
  expect((await goes).status).toBe(200)
  expect(paths()).toEqual(['/login', '/login', '/users'])
})

test('when a call that waits for a shared login is revoked, only that call ends', async () => {
  const { client, call, held, paths } = await scene()
  const [first, second] = [call(), call()]
  const goes = first.ask('/users')
  await until('the login has arrived', () => held.length === 1)
  const ended = errorOf(second.ask('/users'))
  second.take()
  client.judgeAgain()
  expect((await ended).code).toBe('egress_undeclared')
  held[0]?.resolve()
  expect((await goes).status).toBe(200)
  expect(paths()).toEqual(['/login', '/users'])
})

test('a request that waits for a login ends when its grant is revoked; another of the call goes on', async () => {
  const { call, leave, login, users, held, paths } = await scene()
  const { ask } = call()
  const ended = errorOf(ask('/groups'))
  await until('the login has arrived', () => held.length === 1)
  const goes = ask('/users')
  leave(login, users)
  expect((await ended).code).toBe('egress_undeclared')
  held[0]?.resolve()
  // A token of a login under the previous grants is not used: the request logs in again.
  await until('the second login has arrived', () => held.length === 2)
  held[1]?.resolve()
  expect((await goes).status).toBe(200)
  expect(paths()).toEqual(['/login', '/login', '/users'])
})

test('an aborted request that waits for a login ends at once, and the login is kept', async () => {
  const { call, held, paths } = await scene()
  const { ask, records } = call()
  const gone = new AbortController()
  const ended = errorOf(ask('/groups', gone.signal))
  await until('the login has arrived', () => held.length === 1)
  gone.abort()
  expect((await ended).code).toBe('upstream_timeout')
  expect(records[0]?.error).toBe('upstream_timeout')
  const goes = ask('/users')
  held[0]?.resolve()
  expect((await goes).status).toBe(200)
  expect(paths()).toEqual(['/login', '/users'])
})
