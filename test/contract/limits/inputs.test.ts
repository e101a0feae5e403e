/**
 * How long each input occupies the main thread in the worst case that its bounds allow, compared with parsing
 * a reference text in the same run. The reference takes about eight milliseconds on an idle core.
 */

import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import path from 'node:path'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { sha256 } from '../../../runtime/connectors/packages/format.ts'
import { leaksIn } from '../../../runtime/connectors/packages/leaks.ts'
import { checkManifest } from '../../../runtime/connectors/registry/check-manifest.ts'
import { describeIssues, requestSchema } from '../../../runtime/contract/connector/payload.ts'
import { flatSchema } from '../../../runtime/contract/connector/settings.ts'
import { parseBodyBytes, storageFault } from '../../../runtime/contract/endpoints/body.ts'
import { OPERATOR_ENDPOINTS } from '../../../runtime/contract/endpoints/operator.ts'
import { ENDPOINTS } from '../../../runtime/contract/endpoints/table.ts'
import { parseCall } from '../../../runtime/contract/envelope/envelope.ts'
import { INPUTS, type InputName } from '../../../runtime/contract/limits/inputs.ts'
import { overLimits } from '../../../runtime/contract/limits/reply-limits.ts'
import { ScimBody } from '../../../runtime/contract/models/scim.ts'
import { isObject } from '../../../runtime/contract/schema/record.ts'
import type { AnySchema } from '../../../runtime/contract/schema/shape.ts'
import { schemaEntries } from '../../../runtime/contract/schema/shape.ts'
import { valuesOfResource } from '../../../runtime/core/scim/user-fields.ts'
import { parseUpload } from '../../../runtime/core/uploads/upload-thread.ts'
import { parseResponse } from '../../../runtime/core/webhooks/parse-response.ts'
import { readLdapRequest } from '../../../runtime/egress/ldap/ldap-request.ts'
import { readSqlRequest as readSql } from '../../../runtime/egress/sql/sql-request.ts'
import { decodeMessage, KINDS, MESSAGE_HEADER } from '../../../runtime/protocol/frames.ts'
import { readCasesInSlices } from '../../../runtime/testing/read-cases.ts'

/** Time to parse the reference text, in milliseconds on an idle core. */
const REFERENCE_MS = 8

const manifestFile = path.join(import.meta.dirname, '../../../plugins/scim/connector.json')
const manifestText = readFileSync(manifestFile, 'utf8')
const manifest = (() => {
  const checked = checkManifest(manifestText, () => [])
  if (!checked.ok) throw new Error(checked.findings.join())
  return checked.manifest
})()

/** Texts with about the maximum number of marks, which are slow to parse, to check or to report. */
function shapesOf(marks: number): string[] {
  const pairs = Math.floor(marks / 2) - 40
  const members = Array.from({ length: pairs }, (_, n) => `"${n.toString(36)}":0`)
  return [
    `{${members.join()}}`,
    `[${Array(pairs).fill('{}').join()}]`,
    `[${Array(2 * pairs)
      .fill('0')
      .join()}]`,
  ]
}

/** Each of these texts as the value of each member. */
const membersOf = (names: readonly string[], marks: number, base: object = {}): string[] => [
  shapesOf(marks)[0] as string,
  ...names.flatMap((name) =>
    shapesOf(marks).map((shape) =>
      JSON.stringify({ ...base, [name]: '@' }).replace('"@"', () => shape),
    ),
  ),
]

const namesOf = (schema: AnySchema | null): string[] =>
  schema === null ? [] : Object.keys(schemaEntries(schema))

/** Users with as many attributes as a body may have, each slow to read. */
const pushedUsers = (): string[] =>
  [
    { many: 30_000, name: (n: number) => `k${n}`, value: null },
    { many: 20_000, name: (n: number) => `k${n}.b`, value: 1 },
    {
      many: 9000,
      name: (n: number) => `emails[type eq "work" and value eq "a${n}" or primary eq true]`,
    },
  ].map(({ many, name, value = null }) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: many }, (_, n) => [name(n), value]))),
  )

type Reading = () => unknown

const CALL = { auth: { token: { token: 'x' } }, settings: {}, request: {}, page: {} }

const { call_body, core_body, operator_body } = INPUTS

const spaces = (length: number) => Buffer.alloc(length, ' ')

const READINGS: Record<InputName, () => Reading[]> = {
  call_body: () =>
    membersOf(['auth', 'request'], call_body.maxMarks, CALL).map((text) => () => {
      try {
        parseCall(text, expected)
      } catch {
        // A refusal is part of the measurement.
      }
    }),
  core_body: () => [
    ...[ENDPOINTS.create_app, ENDPOINTS.create_access_policy].flatMap(({ body }) =>
      membersOf(namesOf(body).slice(0, 1), core_body.maxMarks).map(
        (text) => () => parseBodyBytes(body, Buffer.from(text), true, core_body.maxMarks),
      ),
    ),
    ...pushedUsers().map((text) => () => {
      const parsed = parseBodyBytes(ScimBody, Buffer.from(text), true, core_body.maxMarks)
      try {
        if (parsed.ok && isObject(parsed.value)) valuesOfResource(parsed.value)
      } catch {
        // A refusal is part of the measurement.
      }
    }),
  ],
  operator_body: () =>
    (['create_webhook', 'set_probe'] as const).flatMap((name) => {
      const body: v.GenericSchema = OPERATOR_ENDPOINTS[name].body
      return membersOf(namesOf(body).slice(0, 1), operator_body.maxMarks).map((text) => () => {
        const value = JSON.parse(text)
        storageFault(value)
        const parsed = v.safeParse(body, value)
        if (!parsed.success) describeIssues(parsed.issues, '', () => true)
      })
    }),
  ldap_request: () =>
    [
      { filter: { or: Array(2000).fill({ eq: ['uid', 'x'] }) } },
      { filter: { or: Array(20_000).fill({ x: 1 }) } },
      { attributes: Array(30_000).fill('cn') },
    ].map((body) => () => {
      try {
        readLdapRequest('SEARCH', Buffer.from(JSON.stringify(body)))
      } catch {
        // A refusal is part of the measurement.
      }
    }),
  sql_request: () =>
    [
      { steps: Array(50).fill({ statement: 'x', parameters: Array(100).fill(Array(5).fill('')) }) },
      { steps: Array(20_000).fill({ x: 1 }) },
      { steps: [{ statement: 'x', parameters: [Array(30_000).fill('')] }] },
    ].map((body) => () => {
      try {
        readSql('TRANSACTION', Buffer.from(JSON.stringify(body)))
      } catch {
        // A refusal is part of the measurement.
      }
    }),
  upload: () => [],
  people_row: () => [() => JSON.stringify(spaces(INPUTS.people_row.maxBytes).toString())],
  package_file: () => [() => sha256(spaces(INPUTS.package_file.maxBytes))],
  manifest: () =>
    membersOf(['settings', 'categories', 'capabilities'], INPUTS.manifest.maxMarks, {
      ...JSON.parse(manifestText),
    }).map((text) => () => checkManifest(text, () => [])),
  cases: () => [],
  source_map: () =>
    ['A,', 'AAAA,', ';'].map((entry) => () => {
      const mappings = entry.repeat(INPUTS.source_map.maxBytes / entry.length)
      const map = { version: 3, sources: ['connector.ts'], names: [], mappings }
      new SourceMap(JSON.parse(JSON.stringify(map))).findEntry(0, 100)
    }),
  core_reply: () => shapesOf(INPUTS.core_reply.maxMarks).map(parsedWithin(INPUTS.core_reply)),
  error_raw: () => shapesOf(INPUTS.error_raw.maxMarks).map(parsedWithin(INPUTS.error_raw)),
  worker_head: () =>
    shapesOf(INPUTS.worker_head.maxMarks).map((text) => () => decodeMessage(message(text))),
  upstream_json: () =>
    shapesOf(65_536).map((text) => () => JSON.parse(text, (_name, value) => value)),
  webhook_reply: () =>
    shapesOf(INPUTS.webhook_reply.maxMarks).map((text) => () => {
      parseResponse('PRE_APPROVAL', { status: 200, body: Buffer.from(text) })
    }),
}

const parsedWithin = (limits: { maxBytes: number; maxMarks: number }) => (text: string) => () =>
  overLimits(Buffer.from(text), limits) === null && JSON.parse(text)

function message(head: string): Buffer {
  const bytes = Buffer.alloc(MESSAGE_HEADER + Buffer.byteLength(head))
  bytes[0] = KINDS.log
  bytes.writeUInt32LE(Buffer.byteLength(head), 5)
  bytes.write(head, MESSAGE_HEADER)
  return bytes
}

const expected = {
  plain: false,
  request: requestSchema('create_account'),
  settings: flatSchema(manifest.settings),
  manifest,
}

const msOf = (work: Reading): number => {
  const began = performance.now()
  work()
  return performance.now() - began
}

/** The ratio to the reference; the best of several, so that other load on the machine matters little. */
function ratioOf(work: Reading): number {
  let [least, leastOfReference] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let times = 0; times < 3; times += 1) {
    least = Math.min(least, msOf(work))
    leastOfReference = Math.min(
      leastOfReference,
      msOf(() => JSON.parse(reference)),
    )
  }
  return least / leastOfReference
}

const [reference = ''] = shapesOf(65_536)

test.each(Object.keys(INPUTS) as InputName[])(
  '%s: the worst case within its bounds blocks the main thread no longer than declared',
  (name) => {
    for (const read of READINGS[name]()) {
      const most = INPUTS[name].worstMs / REFERENCE_MS
      let ratio = ratioOf(read)
      for (let again = 0; ratio >= most && again < 4; again += 1)
        ratio = Math.min(ratio, ratioOf(read))
      expect(ratio, name).toBeLessThan(most)
    }
  },
)

/** The number of turns of the event loop during `work`. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const count = () => {
    turns += 1
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  await work()
  over = true
  return turns
}

test('a large upload is parsed in a separate thread, while the main thread goes on', async () => {
  const record = {
    account: { external_id: 'u', email: 'ada@acme.example' },
    event: { type: 'LOGIN' },
    timestamp: '2026-01-31T12:00:00Z',
    source_app_id: 'x'.repeat(500),
  }
  const text = JSON.stringify({ records: Array(10_000).fill(record) })
  const turns = await turnsDuring(async () => {
    const parsed = await parseUpload('activity', Buffer.from(text), true)
    expect(parsed).toMatchObject({ ok: true, value: { count: 10_000, wrong: [] } })
  })
  expect(turns).toBeGreaterThan(50)
})

test('an upload with too many values is refused in that thread too', async () => {
  const text = `{"records":${shapesOf(2 * INPUTS.upload.maxMarks)[1]}}`
  await expect(parseUpload('activity', Buffer.from(text), true)).rejects.toMatchObject({
    code: 'body_too_large',
  })
})

test('leaked secrets in a package are searched for in pieces, and found across two pieces', async () => {
  const text = `${' '.repeat(64 * 1024 - 10)}ghp_${'a'.repeat(36)} ${'gho_'.repeat(8_000_000)}`
  const files = new Map([['code.js', Buffer.from(text)]])
  let leaks: string[] = []
  const turns = await turnsDuring(async () => {
    leaks = await leaksIn(files)
  })
  expect(leaks).toEqual([expect.stringContaining('a GitHub token')])
  expect(turns).toBeGreaterThan(2)
})

test('cases that name one large exchange often are refused before they are expanded', async () => {
  const exchanges = {
    large: { request: 'GET /', reply: { status: 200, body: Array(5000).fill(0) } },
  }
  const one = { name: 'one', capability: 'list_accounts', upstream: Array(20).fill('large') }
  const read = await readCasesInSlices(JSON.stringify({ exchanges, cases: [one] }))
  expect(read).toEqual({ unreadable: expect.stringContaining('has more than') })
})

test('a connector.json with too many values is refused before it is parsed', () => {
  const [, objects = ''] = shapesOf(2 * INPUTS.manifest.maxMarks)
  expect(checkManifest(objects, () => [])).toMatchObject({
    findings: ['connector.json holds more than 8192 values; leave some out'],
  })
})

test('the reply of a webhook with too many values is a failure of the webhook', () => {
  const [, objects = ''] = shapesOf(2 * INPUTS.webhook_reply.maxMarks)
  expect(parseResponse('PRE_APPROVAL', { status: 200, body: Buffer.from(objects) })).toEqual({
    ok: false,
    problem: 'it answered 200 with more than 32768 values; send fewer',
  })
})
