/** `keyway webhooks`: all of its verbs. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { answering, type Receiver, startReceiver } from '../core/webhooks/receiver.ts'
import { isGenuine } from '../fixtures/readme/verify-webhook.ts'
import { type Running, startRunning } from './keyway.ts'

let receiver: Receiver
let host: Running

beforeAll(async () => {
  receiver = await startReceiver()
  host = await startRunning({ KEYWAY_PRIVATE_EGRESS: `webhooks=${receiver.host}` })
})
afterAll(async () => {
  await host.stop()
  await receiver.close()
})
beforeEach(() => receiver.answer(answering(200, '{"output":{"valid":true}}')))

const add = (...more: string[]) =>
  host.json(
    'webhooks',
    'add',
    'Check',
    '--type',
    'REQUEST_VALIDATION',
    '--to',
    receiver.url,
    ...more,
  )

test('a webhook is added, tried, changed, listed and removed', async () => {
  const headers = await host.file('headers.json', { Authorization: 'Bearer of-the-receiver' })
  const { code, answer } = await add('--headers', headers, '--description', 'Looks first')
  expect(code).toBe(0)
  const { id } = answer.webhook
  const tried = await host.keyway('webhooks', 'test', id)
  expect([tried.code, tried.out]).toEqual([0, expect.stringContaining('{"valid":true}')])
  const { headers: sent = {}, text = '' } = receiver.received.at(-1) ?? {}
  expect(sent['authorization']).toBe('Bearer of-the-receiver')
  expect(isGenuine(sent, text, answer.secret)).toBe(true)

  const shown = await host.keyway('webhooks', 'show', id)
  expect(shown.out).toContain('With the headers: authorization')
  expect(shown.out).not.toContain('of-the-receiver')
  const off = await host.keyway('webhooks', 'update', id, '--disable', '--name', 'Check it')
  expect([off.code, off.out]).toEqual([0, `${id}\n  its name is "Check it"\n  it is off\n`])
  expect((await host.keyway('webhooks', 'list')).out).toBe(
    `${id}  REQUEST_VALIDATION  Check it  (off)\n`,
  )
  const renewed = await host.keyway('webhooks', 'update', id, '--new-secret')
  expect(renewed.out).toMatch(/signed with whsec_\S+\nKeep it now/)

  expect((await host.keyway('webhooks', 'remove', id)).code).toBe(0)
  expect((await host.keyway('webhooks', 'list')).out).toContain('keyway webhooks add')
})

test('a failed test exits with 1, and a refused change says why', async () => {
  const { id } = (await add()).answer.webhook
  receiver.answer(answering(500))
  const tried = await host.keyway('webhooks', 'test', id)
  expect([tried.code, tried.out]).toEqual([1, expect.stringContaining('it answered 500')])
  const moved = await host.keyway('webhooks', 'update', id, '--to', 'http://10.0.0.5:8080/')
  expect([moved.code, moved.err]).toEqual([
    1,
    expect.stringContaining('KEYWAY_PRIVATE_EGRESS=webhooks=10.0.0.5:8080'),
  ])
  const both = await host.keyway('webhooks', 'update', id, '--new-secret', '--disable')
  expect([both.code, both.err]).toEqual([
    1,
    expect.stringContaining('--new-secret must be used alone'),
  ])
  expect((await host.keyway('webhooks', 'add', 'x', '--type', 'PHONE', '--to', 'y')).code).toBe(2)
})

test('a dry run creates nothing', async () => {
  const before = (await host.json('webhooks', 'list')).answer
  const { answer } = await add('--dry-run')
  expect(answer).toMatchObject({ changed: false, webhook: null, secret: null })
  expect((await host.json('webhooks', 'list')).answer).toEqual(before)
})

const NOBODY = '00000000-0000-4000-8000-000000000000'

/** Command lines with a wrong name, with their exit code and message. */
test.each([
  ['show none', 1, /^There is no installed connector "none"; `keyway list` shows the connectors$/],
  ['rollback 4711', 1, /^There is no generation 4711; `keyway history` shows the generations$/],
  ['diff 4711', 1, /^There is no such generation; `keyway history` shows the generations$/],
  ['disable none', 1, /^There is no connector "none"; `keyway list` shows the connectors$/],
  ['enable none', 1, /^none is neither installed nor disabled; `keyway list` shows/],
  ['grant none all', 1, /^There is no installed connector "none"; `keyway list`/],
  ['distrust none', 1, /^There is no trusted key none; `keyway publishers` shows/],
  [`syncs ${NOBODY}`, 1, /^App not found; GET \/apps lists the apps with their ids$/],
  ['sync-accept 4711', 1, /^There is no such run; see keyway syncs$/],
  ['sync-cancel none', 2, /Must be a whole number/],
  [`sync-settings ${NOBODY}`, 1, /^App not found; GET \/apps lists the apps with their ids$/],
  ['call none list_accounts', 1, /^There is no connector "none"; `keyway list` shows/],
  [`webhooks show ${NOBODY}`, 1, /^Inline webhook not found; `keyway webhooks list` shows/],
  [
    'login-link --email nobody@acme.example',
    1,
    /^There is no user .+; GET \/users lists the users$/,
  ],
  ['jobs --queue none', 1, /query.queue: Input should be one of .*retention/],
  ['logs none', 1, /^There is no connector "none"; `keyway list` shows the connectors$/],
  ['probe none --forget', 1, /^There is no installed connector "none"; `keyway list` shows/],
] as const)('keyway %s says what does not exist, and where to look', async (line, exit, words) => {
  const { code, err, out } = await host.keyway(...line.split(' '))
  expect((err || out).trim()).toMatch(words)
  expect(`${out}${err}`).not.toMatch(/^ {4}at /m)
  expect(code).toBe(exit)
})
