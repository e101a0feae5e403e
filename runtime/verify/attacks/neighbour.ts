import type { Attack } from './attack.ts'

const refused = ['ghost'] as const
const upstream = [{ base_url: '{upstream}' }]

/** Makes a complete manifest as text that JSON.stringify cannot produce. */
const manifestText = (name: string, more: string): string =>
  `{"id":"${name}","version":"1.0.0","runtime":"^1.0.0","authentication_schema":{"kind":"token"},"capabilities":{"list_accounts":{},"get_account":{}}${more}}`

const written = (name: string, more: string) => () => ({
  'connector.json': manifestText(name, more),
})

/**
 * Settings that name the tenant. Its token cannot: connectors see a placeholder that differs in every call.
 */
const named = [{ base_url: 'https://{tenant}.example' }]

/**
 * Deadline of a page, in milliseconds: far more than it takes to make, send and refuse one, even on a busy
 * machine.
 */
const PAGE_MS = 20_000
const page = { promise: 1, byCore: true, healthMs: 50, calls: 4, quickCalls: 2 } as const

export const NEIGHBOUR: readonly Attack[] = [
  {
    ...page,
    name: 'page-of-empty-objects',
    ends: ['invalid_response', 'service_error', 'unexpected_error'],
    deadlineMs: PAGE_MS,
    memoryMb: 256,
    quick: true,
  },
  {
    ...page,
    name: 'page-of-names',
    ends: ['invalid_response', 'service_error', 'unexpected_error'],
    deadlineMs: PAGE_MS,
    memoryMb: 256,
  },
  {
    ...page,
    name: 'page-as-large-as-may-be',
    ends: ['answer'],
    deadlineMs: PAGE_MS,
    memoryMb: 256,
    calls: 20,
    quickCalls: 5,
  },
  {
    name: 'module-state',
    promise: 2,
    settings: named,
    ends: ['answer'],
    deadlineMs: 2000,
    calls: 12,
    tenants: 3,
    quick: true,
  },
  {
    name: 'error-text',
    promise: 2,
    settings: named,
    ends: ['unauthenticated'],
    deadlineMs: 2000,
    calls: 6,
    tenants: 2,
  },
  {
    name: 'kill-every-call',
    promise: 1,
    ends: ['service_error', 'request_timeout'],
    deadlineMs: 2000,
    workerMayDie: true,
    calls: 4,
    quickCalls: 2,
  },
  { name: 'log-flood', promise: 1, ends: ['answer'], deadlineMs: 3000, calls: 3, quick: true },
  {
    name: 'egress-slots',
    promise: 1,
    ends: ['request_timeout', 'answer'],
    calls: 24,
    together: 24,
    tenants: 8,
    settings: upstream,
    granted: true,
  },
  {
    name: 'call-flood',
    promise: 1,
    ends: ['request_timeout', 'rate_limit'],
    calls: 320,
    together: 320,
  },
  {
    name: 'busy',
    promise: 1,
    ends: ['answer', 'request_timeout'],
    deadlineMs: 2000,
    calls: 16,
    together: 8,
    tenants: 8,
  },
  {
    name: 'many-tenants',
    promise: 1,
    ends: ['answer', 'rate_limit', 'service_error', 'request_timeout'],
    deadlineMs: 5000,
    workerMayDie: true,
    calls: 300,
    together: 20,
    tenants: 300,
  },
  {
    name: 'differs-from-code',
    promise: 3,
    ends: refused,
    manifest: { capabilities: { delete_account: {} } },
  },
  { name: 'same-id', promise: 3, ends: refused, manifest: { id: 'healthy-neighbour' } },
  { name: 'reserved-id', promise: 3, ends: refused, manifest: { id: 'list-connector-app-ids' } },
  {
    name: 'id-that-is-a-path',
    promise: 3,
    ends: refused,
    manifest: { id: '../healthy_neighbour/%2e%2e' },
  },
  {
    name: 'prototype-names',
    promise: 1,
    ends: refused,
    files: () => ({
      'connector.json': manifestText('prototype-names', '').replace(
        '"list_accounts":{}',
        '"__proto__":{},"constructor":{},"toString":{}',
      ),
    }),
    quick: true,
  },
  {
    name: 'prototype-settings',
    promise: 1,
    ends: ['ghost', 'answer', 'bad_request'],
    files: written(
      'prototype-settings',
      ',"settings":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{"type":"string","default":"x"}},"resource_types":[{"type_id":"__proto__","type_label":"constructor"}]',
    ),
  },
  {
    name: 'doubled-members',
    promise: 3,
    ends: ['ghost', 'answer'],
    files: written(
      'healthy_neighbour',
      ',"id":"doubled-members","version":"2.0.0","egress":[],"egress":[]',
    ),
  },
  {
    name: 'huge-manifest',
    promise: 1,
    ends: refused,
    manifest: { description: 'x'.repeat(1024 * 1024) },
  },
  {
    name: 'deep-manifest',
    promise: 1,
    ends: refused,
    files: written('deep-manifest', `,"settings":${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`),
  },
  {
    name: 'manifest-that-is-none',
    promise: 1,
    ends: refused,
    files: () => ({ 'connector.json': Buffer.alloc(1000) }),
  },
  {
    name: 'slow-pattern',
    promise: 1,
    ends: ['answer', 'bad_request', 'ghost'],
    manifest: {
      settings: {
        base_url: { type: 'string', format: 'url' },
        slow: { type: 'string', pattern: '^(([a-z]+)+)+$' },
      },
    },
    settings: [{ slow: `${'a'.repeat(200)}!` }],
    staysDown: true,
  },
  {
    name: 'wide-egress',
    promise: 2,
    ends: refused,
    manifest: {
      egress: [
        { url: 'https://*' },
        { url: '*://*:*' },
        { url: 'https://*.*.example' },
        { url: 'file:///' },
      ],
    },
  },
  {
    name: 'endless-wishes',
    promise: 1,
    ends: ['answer', 'ghost'],
    manifest: {
      limits: { deadline_ms: 1e12, memory_mb: 1e9, concurrency: 1e9, requests_per_second: 1e9 },
    },
  },
  { name: 'dies-while-loading', promise: 1, ends: refused },
]
