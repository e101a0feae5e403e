import type { Attack } from './attack.ts'
import { AT_ONCE, HELD, STALLS } from './server.ts'

/** Statements whose names select an action of the run's database. */
const ACTIONS = [
  ...['fine', 'silent', 'dripping', 'endless', 'wide', 'pages', 'announced', 'garbage', 'unended'],
  ...['short', 'negative', 'copying', 'greeting', 'asking', 'closing', 'polluting'],
  ...['leaves', 'fails'],
]

const STATEMENTS = {
  ...Object.fromEntries(ACTIONS.map((name) => [name, { text: `select ${name}`, reads: true }])),
  find: { text: 'select fine where a = $1', parameters: ['string'], reads: true },
  grant: { text: 'grant {identifier:role} to {identifier:member}' },
  comment: { text: 'comment on role {identifier:role} is {literal:text}' },
  forbidden: { text: 'drop table must_not_arrive -- must-not-arrive' },
}

/** Makes a manifest whose database comes from a setting. */
const manifest = (statements: readonly string[]) => ({
  authentication_schema: { kind: 'basic' },
  settings: { base_url: { type: 'string' } },
  statements: STATEMENTS,
  egress: [
    {
      sql: '{settings.base_url}',
      dialect: 'postgresql',
      database: 'acme',
      login: { credential: 'auth' },
      statements,
    },
  ],
})

const database = {
  manifest: manifest([...ACTIONS, 'find']),
  settings: [{ base_url: '{database}' }],
  basic: true,
  granted: true,
  deadlineMs: 3000,
} as const

export const DATABASE: readonly Attack[] = [
  {
    ...database,
    name: 'identifiers',
    promise: 2,
    ends: ['answer'],
    quick: true,
    // About seventy requests, one after another.
    deadlineMs: 15_000,
    manifest: manifest(['grant', 'comment', 'find']),
  },
  { ...database, name: 'statements', promise: 2, ends: ['answer'] },
  {
    ...database,
    name: 'session-statements',
    promise: 2,
    ends: ['ghost'],
    manifest: {
      ...manifest(['authorize', 'widen', 'end']),
      statements: {
        authorize: { text: 'set session authorization {identifier:role}' },
        widen: {
          text: "select set_config('search_path', $1, false)",
          parameters: ['string'],
          reads: true,
        },
        end: { text: '/* only a note */ commit', reads: true },
      },
    },
  },
  { ...database, name: 'left-sessions', promise: 3, ends: ['answer'], quick: true },
  {
    ...database,
    name: 'database-addresses',
    promise: 2,
    ends: ['permission_denied', 'bad_request', 'connection_rejected'],
    settings: [
      'postgresql://127.0.0.1:{port}',
      'postgresql://127.1:{port}',
      'postgresql://0x7f.1:{port}',
      'postgresql://2130706433:{port}',
      'postgresql://localhost:{port}',
      'postgres://[::1]:{port}',
      'postgresql://[::ffff:127.0.0.1]:{port}',
      'postgresql://loopback.hostile.example:{port}',
      'postgresql://169.254.169.254',
      'postgresql://user@127.0.0.1:{port}',
      'postgresql://127.0.0.1:{port}/acme',
      'postgresql://%2Fvar%2Frun%2Fpostgresql',
      'http://127.0.0.1:{port}',
    ].map((base_url) => ({ base_url })),
  },
  { ...database, name: 'endless-rows', promise: 1, ends: ['invalid_response'], quick: true },
  { ...database, name: 'endless-result', promise: 1, ends: ['request_timeout', 'rate_limit'] },
  { ...database, name: 'wide-rows', promise: 1, ends: ['invalid_response'] },
  { ...database, name: 'silent-database', promise: 1, ends: ['request_timeout'], deadlineMs: 1500 },
  { ...database, ...STALLS, name: 'dripping-database' },
  { ...database, name: 'broken-rows', promise: 1, ends: ['answer'], deadlineMs: 5000 },
  { ...database, ...AT_ONCE, name: 'statements-at-once' },
  { ...database, ...HELD, name: 'held-sessions' },
]
