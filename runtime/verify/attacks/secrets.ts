import type { Attack } from './attack.ts'

const upstream = [{ base_url: '{upstream}' }]

/**
 * Beginning of every token that callers of an attack send. An answer that contains it contains a stolen token.
 */
const STOLEN = /token-of-attacked-tenant/

const ATTACKS: readonly Attack[] = [
  { name: 'log-the-token', promise: 2, ends: ['answer'], quick: true },
  { name: 'throw-the-token', promise: 2, ends: ['unauthenticated'], calls: 6 },
  { name: 'answer-with-the-token', promise: 2, ends: ['answer'] },
  { name: 'echoes', promise: 2, ends: ['answer'], quick: true },
  { name: 'encoded-echoes', promise: 2, ends: ['answer'], quick: true },
  {
    name: 'large-token-echoed',
    promise: 2,
    ends: ['answer'],
    token: (usual) => usual + `"<&'+/é `.repeat(600) + 'x'.repeat(20_000),
  },
  { name: 'other-places', promise: 2, ends: ['answer'] },
  { name: 'token-in-redirects', promise: 2, ends: ['answer'] },
  {
    name: 'exchange-of-an-echo',
    promise: 2,
    ends: ['answer'],
    manifest: {
      exchange: {
        request: {
          url: '{settings.base_url}/mirror',
          json: { token: '{auth.token.token}' },
        },
        capture: { json: '/body' },
        use: { header: 'x-token' },
      },
    },
  },
  {
    name: 'exchange-that-fails',
    promise: 2,
    ends: ['unauthenticated'],
    calls: 2,
    manifest: {
      exchange: {
        request: {
          url: '{settings.base_url}/mirror-401',
          form: { token: '{auth.token.token}' },
        },
        capture: { json: '/token' },
        use: { header: 'x-token' },
      },
    },
  },
  {
    name: 'own-refresh',
    promise: 2,
    ends: ['ghost'],
    manifest: { capabilities: { list_accounts: {}, get_account: {}, refresh_access_token: {} } },
  },
  { name: 'signatures-with-the-token', promise: 2, ends: ['answer'] },
  { name: 'placeholders-of-others', promise: 2, ends: ['answer'], calls: 6, tenants: 3 },
  { name: 'forged-placeholders', promise: 2, ends: ['answer'] },
  { name: 'guesses', promise: 2, ends: ['answer'] },
]

export const SECRETS: readonly Attack[] = ATTACKS.map((attack) => ({
  deadlineMs: 5000,
  settings: upstream,
  granted: true,
  never: STOLEN,
  ...attack,
  manifest: {
    egress: [{ url: '{settings.base_url}', methods: ['GET', 'POST'] }],
    ...attack.manifest,
  },
}))
