/** The parts of mail that need no database: events that create it, bundles, composition and addresses. */
import { describe, expect, test } from 'vitest'
import { addressRefusal } from '../../../runtime/core/mail/address.ts'
import { bundlesOf, MAX_SEPARATE_MAILS } from '../../../runtime/core/mail/bundles.ts'
import { compose } from '../../../runtime/core/mail/compose.ts'
import type { MailContent } from '../../../runtime/core/mail/contents.ts'
import { mailOfEvent } from '../../../runtime/core/mail/event-mails.ts'
import { named, quotable } from '../../../runtime/core/mail/mail-names.ts'

const now = new Date('2026-11-23T12:00:00Z')

describe('an entry of the log', () => {
  const entry = (eventType: string, metadata: object = {}, name = 'ACCESS', actor = {}) => ({
    eventType,
    targets: [{ target_type: 'Task', name, id: 'x-1' }],
    metadata: { ...metadata },
    actor,
  })

  test.each([
    ['TASK_OPENED', {}, 'waits'],
    ['TASK_REASSIGNED', {}, 'waits'],
    ['TASK_REMINDED', {}, 'waits'],
    ['APP_STORE_APPROVE_ACCESS_REQUEST', { status: 'PENDING_PROVISIONING' }, 'decided'],
    ['APP_STORE_DENY_ACCESS_REQUEST', { status: 'DENIED' }, 'decided'],
    ['APP_STORE_CANCEL_ACCESS_REQUEST', { because: 'no one may decide' }, 'decided'],
    ['APP_STORE_AUTOMATIC_PROVISIONING_FOR_ACCESS_REQUEST', {}, 'given'],
    ['APP_STORE_REVOKE_ACCESS', { reason: 'Shared' }, 'revoked'],
    ['ACCESS_REVIEW_REMINDED', {}, 'review_reminder'],
    ['CONNECTOR_QUARANTINED', {}, 'quarantined'],
  ])('%s %o creates mail of the kind %s', (eventType, metadata, kind) => {
    expect(mailOfEvent(entry(eventType, metadata))).toEqual({ kind, about: 'x-1' })
  })

  test('about a request that a person cancelled creates mail, but not for that person', () => {
    const cancelled = entry('APP_STORE_CANCEL_ACCESS_REQUEST', {}, 'Reader', { id: 'u-1' })
    expect(mailOfEvent(cancelled)).toEqual({ kind: 'decided', about: 'x-1', knownBy: 'u-1' })
  })

  test('about the task of a failed sync creates mail of the kind sync_failed', () => {
    expect(mailOfEvent(entry('TASK_OPENED', {}, 'SYNC_ERROR'))?.kind).toBe('sync_failed')
  })

  test.each([
    ['APP_STORE_APPROVE_ACCESS_REQUEST', { status: 'PENDING_APPROVAL' }],
    ['USER_LOGIN', {}],
    ['toString', {}],
  ])('%s %o creates no mail', (eventType, metadata) => {
    expect(mailOfEvent(entry(eventType, metadata))).toBeNull()
  })
})

describe('mails that are due together', () => {
  const rows = (count: number, kind: 'waits' | 'quarantined' = 'waits') =>
    Array.from({ length: count }, (_, at) => ({ id: `${kind}-${at}`, kind, messageId: null }))
  const sizes = (bundles: Map<string, unknown[]>) => [...bundles.values()].map((one) => one.length)

  test('are sent as separate messages with their own ids if they are few', () => {
    const bundles = bundlesOf(rows(MAX_SEPARATE_MAILS), 'AT_ONCE', () => 'new')
    expect([...bundles.keys()]).toEqual(['waits-0', 'waits-1', 'waits-2'])
  })

  test('are one message if they are many, or if the person chose a digest', () => {
    expect(sizes(bundlesOf(rows(MAX_SEPARATE_MAILS + 1), 'AT_ONCE', () => 'new'))).toEqual([4])
    expect(sizes(bundlesOf(rows(2), 'DIGEST', () => 'new'))).toEqual([2])
  })

  test('exclude urgent mail from a digest', () => {
    const bundles = bundlesOf([...rows(2), ...rows(1, 'quarantined')], 'DIGEST', () => 'new')
    expect(sizes(bundles)).toEqual([2, 1])
  })

  test('stay in the message of their first attempt', () => {
    const tried = rows(2).map((row) => ({ ...row, messageId: 'old' }))
    expect([...bundlesOf([...tried, ...rows(1)], 'DIGEST', () => 'new').keys()]).toEqual([
      'old',
      'waits-0',
    ])
  })
})

describe('an address', () => {
  const from = 'keyway@acme.example'
  test.each(['ada@acme.example', "o'neil+x@acme.example", 'jörg@müller.example'])(
    '%s is accepted',
    (address) => expect(addressRefusal(address, from)).toBeNull(),
  )
  test.each([
    'ada',
    'ada@acme.example, eve@acme.example',
    'ada@acme.example\r\nBcc: eve@acme.example',
    '<ada@acme.example>',
    '"a b"@acme.example',
    `${'a'.repeat(250)}@b.example`,
  ])('%s is refused as not a mail address', (address) =>
    expect(addressRefusal(address, from)).toContain('not a mail address'),
  )

  test.each(['keyway@acme.example', 'Keyway@ACME.example', 'keyway+loop@acme.example'])(
    '%s is refused as the sender’s own address',
    (address) => expect(addressRefusal(address, from)).toContain('is the sender’s address'),
  )
})

describe('text that a person entered', () => {
  test('cannot contain line breaks, invisible characters or bidirectional overrides', () => {
    expect(named('Ada\r\nBcc: x\u0000')).toBe('Ada Bcc: x')
    expect(named('\u202eadA')).toBe('adA')
    expect(named('שלום')).toBe('\u2068שלום\u2069')
    expect(named('\u2066\u200b ')).toBeNull()
    expect(named('a'.repeat(500))).toHaveLength(120)
    expect(quotable('one\n\ntwo')).toBe('one two')
  })
})

describe('a mail', () => {
  const content: MailContent = {
    text: 'asks',
    path: '/inbox/1',
    matter: {
      ...{ thing: '<b>Reports</b>', app: 'Ware & House', by: 'Ada', target: 'Ada', note: null },
      ...{ seconds: 3600, until: null, count: null, revoker: null, now },
    },
  }
  const around = {
    ...{
      to: 'eve@acme.example',
      name: 'Eve',
      language: 'en' as const,
      messageId: 'm@acme.example',
    },
    origin: 'https://keyway.acme.example',
  }

  test('describes its matter and links its page, in text and in HTML', () => {
    const { subject, text, html } = compose([content], around)
    expect(subject).toBe('Ada asks for “<b>Reports</b>” in Ware & House')
    expect(text).toContain('Open the page: https://keyway.acme.example/inbox/1')
    expect(text).toContain('https://keyway.acme.example/settings/personal')
    expect(html).toContain('&lt;b&gt;Reports&lt;/b&gt;')
    expect(html).toContain('Ware &amp; House')
    expect(html).not.toContain('<b>')
  })

  test('about several matters shows their number and links the page of each', () => {
    const { subject, text, html } = compose([content, { ...content, path: '/inbox/2' }], around)
    expect(subject).toBe('2 things from Keyway')
    for (const part of [text, html])
      for (const id of [1, 2]) expect(part).toContain(`https://keyway.acme.example/inbox/${id}`)
  })

  test('uses the language of the person', () => {
    const { subject, html } = compose([content], { ...around, language: 'de' })
    expect(subject).toContain('beantragt')
    expect(html).toContain('<html lang="de">')
  })
})
