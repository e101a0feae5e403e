import type { Attack } from './attack.ts'
import { AT_ONCE, HELD, STALLS } from './server.ts'

const OPERATIONS = ['search', 'modify', 'add', 'delete', 'modifyDN', 'password']

/** Makes a manifest whose directory comes from a setting, below the base of the run's directory. */
const manifest = (operations: readonly string[] = ['search']) => ({
  settings: { base_url: { type: 'string' } },
  egress: [{ ldap: '{settings.base_url}', base: 'dc=acme', operations }],
})

const directory = {
  manifest: manifest(),
  settings: [{ base_url: '{directory}' }],
  granted: true,
  deadlineMs: 3000,
} as const

export const DIRECTORY: readonly Attack[] = [
  { ...directory, name: 'filters', promise: 2, ends: ['answer'] },
  {
    ...directory,
    name: 'distinguished-names',
    promise: 2,
    ends: ['answer'],
    quick: true,
    manifest: manifest(OPERATIONS),
  },
  { ...directory, name: 'operations', promise: 2, ends: ['answer'] },
  { ...directory, name: 'referrals', promise: 2, ends: ['answer'] },
  {
    ...directory,
    name: 'directory-addresses',
    promise: 2,
    ends: ['permission_denied', 'bad_request', 'connection_rejected'],
    settings: [
      'ldap://127.0.0.1:{port}',
      'ldap://127.1:{port}',
      'ldap://0x7f.1:{port}',
      'ldap://2130706433:{port}',
      'ldap://localhost:{port}',
      'ldap://[::1]:{port}',
      'ldap://[::ffff:127.0.0.1]:{port}',
      'ldaps://loopback.hostile.example:{port}',
      'ldaps://169.254.169.254',
      'ldap://user@127.0.0.1:{port}',
      'ldap://127.0.0.1:{port}/dc=acme',
      'ldapi://%2Fvar%2Frun%2Fslapd%2Fldapi',
      'http://127.0.0.1:{port}',
    ].map((base_url) => ({ base_url })),
  },
  { ...directory, name: 'endless-entries', promise: 1, ends: ['invalid_response'], quick: true },
  { ...directory, name: 'endless-pages', promise: 1, ends: ['request_timeout', 'rate_limit'] },
  { ...directory, name: 'wide-entries', promise: 1, ends: ['invalid_response'] },
  { ...directory, ...STALLS, name: 'silent-directory' },
  { ...directory, ...STALLS, name: 'dripping-directory' },
  { ...directory, name: 'broken-entries', promise: 1, ends: ['answer'], deadlineMs: 5000 },
  { ...directory, ...AT_ONCE, name: 'searches-at-once' },
  { ...directory, ...HELD, name: 'held-connections' },
]
