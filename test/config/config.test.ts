import { availableParallelism } from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  ConfigError,
  isSecretSetting,
  readConfig,
  SETTINGS,
  type SettingName,
} from '../../runtime/config/config.ts'
import { settingsInForce } from '../../runtime/config/in-force.ts'
import { isLoopback, processesFor } from '../../runtime/config/rules.ts'

const refusal = (environment: Record<string, string>): string => {
  try {
    readConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
  return ''
}

const SECRET = 's'.repeat(32)

describe('without variables', () => {
  test('every setting has its default', () => {
    const { read, ...config } = readConfig({})
    expect([...read.values()].filter(({ isNamed }) => isNamed)).toEqual([])
    expect(config).toEqual({
      host: '127.0.0.1',
      port: 8080,
      loopback: true,
      dataDir: path.resolve('data'),
      pluginDirs: [path.resolve('plugins')],
      dropIn: 'open',
      install: 'any',
      connectorsPath: '/connectors',
      privateEgress: '',
      plainLdap: '',
      plainSql: '',
      clearSecrets: '',
      retention: '',
      secrets: [],
      adminToken: '',
      databaseUrl: '',
      requestsPerMinute: 600,
      connectorToken: '',
      openConnectors: true,
      allowedHosts: [],
      trustedProxies: [],
      ceilings: {
        maxDeadlineMs: 120_000,
        maxMemoryMb: 256,
        maxConcurrency: 64,
        maxRequestsPerSecond: 100,
        maxPages: 100_000,
      },
      processes: processesFor(availableParallelism()),
      signIn: '',
      registries: [],
      mail: null,
      publicOrigin: null,
      spareWorker: true,
      stopNoticeMs: 0,
      logLevel: 'info',
      proxy: null,
    })
  })

  test('an empty variable counts as unset', () => {
    const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']))
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  test('the configuration is frozen', () => {
    const config = readConfig({})
    expect(Object.isFrozen(config) && Object.isFrozen(config.ceilings)).toBe(true)
  })
})

describe('validation of variables', () => {
  test.each([
    ['PORT', 'http', 'is not a whole number'],
    ['PORT', '-1', 'is not a whole number'],
    ['PORT', '80.5', 'is not a whole number'],
    ['PORT', '0x50', 'is not a whole number'],
    ['PORT', '65536', 'is not between 0 and 65535'],
    ['PORT', '9'.repeat(400), 'is not between 0 and 65535'],
    ['KEYWAY_DROP_IN', 'yes', 'is not one of open, closed, off'],
    ['KEYWAY_CONNECTORS_PATH', '/', 'is not a path such as /connectors'],
    ['KEYWAY_CONNECTORS_PATH', 'connectors', 'is not a path such as /connectors'],
    ['KEYWAY_CONNECTORS_PATH', '/connectors/', 'is not a path such as /connectors'],
    ['KEYWAY_CONNECTORS_PATH', '/a/../b', 'is not a path such as /connectors'],
    ['KEYWAY_CONNECTORS_PATH', '/a?b', 'is not a path such as /connectors'],
    ['KEYWAY_CONNECTORS_PATH', '/operator', 'is taken'],
    ['KEYWAY_CONNECTORS_PATH', '/metrics', 'is taken'],
    ['KEYWAY_CONNECTORS_PATH', '/settings', 'is taken'],
    ['KEYWAY_CONNECTORS_PATH', '/tasks/connectors', 'is taken'],
    ['KEYWAY_OPEN_CONNECTORS', 'yes', 'is neither 0 nor 1'],
    ['KEYWAY_SPARE_WORKER', 'no', 'is neither 0 nor 1'],
    ['KEYWAY_MAX_DEADLINE_MS', '99', 'is not between 100 and 3600000'],
    ['KEYWAY_MAX_MEMORY_MB', '8', 'is not between 16 and 4096'],
    ['KEYWAY_MAX_CONCURRENCY', '0', 'is not between 1 and 10000'],
    ['KEYWAY_LOG_LEVEL', 'loud', 'is not a log level such as info'],
  ])('%s=%s is refused, and the message names the value', (name, value, words) => {
    expect(refusal({ [name]: value })).toBe(`${name}: ${JSON.stringify(value)} ${words}`)
  })

  test('the message for an invalid secret does not repeat it', () => {
    const message = refusal({ KEYWAY_SECRET: `${SECRET},short-one` })
    expect(message).toMatch(/^KEYWAY_SECRET: has fewer than 32 characters; make one with `openssl/)
    expect(message).not.toContain('short-one')
  })

  test.each([
    'operator',
    'lsk_short',
    `lsk_${'x'.repeat(31)}`,
    'x'.repeat(64),
    `lsk_${'x y'.repeat(20)}`,
  ])('KEYWAY_ADMIN_TOKEN=%s is refused', (token) => {
    const message = refusal({ KEYWAY_ADMIN_TOKEN: token })
    expect(message).toMatch(/^KEYWAY_ADMIN_TOKEN: is not lsk_ followed by 32 characters .*openssl/)
    expect(message).not.toContain(token)
    expect(refusal({ KEYWAY_ADMIN_TOKEN: `lsk_${'x'.repeat(32)}` })).toBe('')
  })

  const secretNames = (Object.keys(SETTINGS) as SettingName[]).filter(isSecretSetting)

  test('the secret settings are those with passwords, tokens and keys', () => {
    expect(secretNames.sort()).toEqual([
      'DATABASE_URL',
      'HTTPS_PROXY',
      'HTTP_PROXY',
      'KEYWAY_ADMIN_TOKEN',
      'KEYWAY_CONNECTOR_TOKEN',
      'KEYWAY_MAIL_PASSWORD',
      'KEYWAY_MAIL_SERVER',
      'KEYWAY_SECRET',
    ])
  })

  test.each(secretNames)('no message repeats the value of %s', (name) => {
    for (const value of ['hunter2', 'mysql://u:hunter2@h/d', 'postgres://u:hunter2@h:port/d'])
      expect(refusal({ [name]: value })).not.toContain('hunter2')
  })

  test.each(['postgres:/u:pw@h/d', 'postgres://u:p#w@h/d', 'mysql://u:pw@h/d', 'u:pw@h/d'])(
    'DATABASE_URL=%s is refused as no postgres:// address',
    (value) => {
      const message = refusal({ DATABASE_URL: value })
      expect(message).toBe('DATABASE_URL: its value is not a postgres:// address')
    },
  )

  test.each([
    'postgres://u:pw@a:5432,b:5432/d?target_session_attrs=read-write',
    'postgres://u@a,b/d',
    'postgres://u@/d?host=a,b',
    'postgres://a,b',
  ])('DATABASE_URL=%s is refused because it names several servers', (value) => {
    expect(refusal({ DATABASE_URL: value })).toMatch(
      /^DATABASE_URL: its value names several servers: use one address/,
    )
  })

  test.each([
    'postgres://u:p,w@h/d?options=-c%20search_path=a,b',
    'postgres://u:p%40w@h:5432/d?sslmode=require',
    'postgresql://u@[::1]/d',
    'postgres://u:pw@/d?host=/run/postgresql',
    'postgres:///d',
  ])('DATABASE_URL=%s is accepted', (value) => {
    expect(refusal({ DATABASE_URL: value })).toBe('')
  })

  test('KEYWAY_CONNECTOR_TOKEN has at least 32 characters', () => {
    const message = refusal({ KEYWAY_CONNECTOR_TOKEN: 't'.repeat(31) })
    expect(message).toMatch(/^KEYWAY_CONNECTOR_TOKEN: has fewer than 32 characters; .*openssl/)
    expect(refusal({ KEYWAY_CONNECTOR_TOKEN: 't'.repeat(32) })).toBe('')
  })

  test('all invalid variables are reported at once', () => {
    const wrong = { PORT: 'x', KEYWAY_DROP_IN: 'x', KEYWAY_SECRET: 'x', KEYWAY_LOG_LEVEL: 'x' }
    expect(
      refusal(wrong)
        .split('\n')
        .map((line) => line.split(':')[0])
        .sort(),
    ).toEqual(Object.keys(wrong).sort())
  })
})

describe('values', () => {
  test.each([
    ['PORT', '0', { port: 0 }],
    ['KEYWAY_DATA_DIR', '/var/lib/x', { dataDir: '/var/lib/x' }],
    [
      'KEYWAY_PLUGINS_DIR',
      `/a${path.delimiter} ${path.delimiter}b `,
      { pluginDirs: ['/a', path.resolve('b')] },
    ],
    ['KEYWAY_DROP_IN', 'off', { dropIn: 'off' }],
    ['KEYWAY_CONNECTORS_PATH', '/api/v1/connectors', { connectorsPath: '/api/v1/connectors' }],
    ['KEYWAY_SECRET', `${SECRET}, ${SECRET}2`, { secrets: [SECRET, `${SECRET}2`] }],
    [
      'KEYWAY_ALLOWED_HOSTS',
      ' a.example  b.example ',
      { allowedHosts: ['a.example', 'b.example'] },
    ],
    ['HTTP_PROXY', 'http://p', { proxy: { httpsProxy: null, httpProxy: 'http://p', noProxy: '' } }],
    [
      'https_proxy',
      'http://p',
      { proxy: { httpsProxy: 'http://p', httpProxy: null, noProxy: '' } },
    ],
  ])('%s=%s is read', (name, value, expected) => {
    expect(readConfig({ [name]: value })).toMatchObject(expected)
  })

  test('a proxy variable in capitals takes precedence', () => {
    const proxies = { HTTPS_PROXY: 'http://big', https_proxy: 'http://small', no_proxy: 'x' }
    expect(readConfig(proxies).proxy).toMatchObject({ httpsProxy: 'http://big', noProxy: 'x' })
  })
})

describe('a loopback address', () => {
  test.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('is %s', (host) => {
    expect(isLoopback(host)).toBe(true)
    expect(readConfig({ HOST: host })).toMatchObject({ openConnectors: true, dropIn: 'open' })
  })

  test.each([
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '128.0.0.1',
    '127.0.0.1.evil.example',
    '127.1',
    '1127.0.0.1',
    'localhost.evil.example',
    '::ffff:10.0.0.1',
    'acme.example',
  ])('is not %s, which requires a token or KEYWAY_OPEN_CONNECTORS=1', (host) => {
    expect(refusal({ HOST: host })).toBe(
      `HOST: ${host} is not a loopback address: set KEYWAY_CONNECTOR_TOKEN, or KEYWAY_OPEN_CONNECTORS=1 to serve everyone`,
    )
  })

  const open = { HOST: '0.0.0.0' }
  test.each([
    ['a token', { KEYWAY_CONNECTOR_TOKEN: 't'.repeat(32) }, false],
    ['KEYWAY_OPEN_CONNECTORS=1', { KEYWAY_OPEN_CONNECTORS: '1' }, true],
    [
      'a token and KEYWAY_OPEN_CONNECTORS=1',
      { KEYWAY_CONNECTOR_TOKEN: 't'.repeat(32), KEYWAY_OPEN_CONNECTORS: '1' },
      false,
    ],
  ])('is not needed with %s; drop-ins are closed', (_name, more, openConnectors) => {
    expect(readConfig({ ...open, ...more })).toMatchObject({ openConnectors, dropIn: 'closed' })
  })

  test('with a token is not open to everyone', () => {
    expect(readConfig({ KEYWAY_CONNECTOR_TOKEN: 't'.repeat(32) }).openConnectors).toBe(false)
  })

  test('is still required with KEYWAY_OPEN_CONNECTORS=0', () => {
    expect(refusal({ ...open, KEYWAY_OPEN_CONNECTORS: '0' })).toMatch(/^HOST: /)
  })
})

test('every variable has a meaning', () => {
  for (const { meaning } of Object.values(SETTINGS)) expect(meaning).toMatch(/\S{3}/)
})

test.each([
  [1, 1],
  [2, 1],
  [3, 1],
  [4, 2],
  [7, 3],
  [8, 4],
  [64, 4],
])('on %i cores, %i processes serve by default', (cores, processes) => {
  expect(processesFor(cores)).toBe(processes)
})

test('KEYWAY_PROCESSES sets the number of processes', () => {
  expect(readConfig({ KEYWAY_PROCESSES: '3' }).processes).toBe(3)
  expect(refusal({ KEYWAY_PROCESSES: '0' })).toContain('KEYWAY_PROCESSES')
  expect(refusal({ KEYWAY_PROCESSES: 'many' })).toContain('KEYWAY_PROCESSES')
})

test('a login in the address of a registry is not shown', () => {
  const shown = (registry: string) =>
    settingsInForce(readConfig({ KEYWAY_REGISTRY: registry })).find(
      ({ name }) => name === 'KEYWAY_REGISTRY',
    )
  expect(
    shown('https://bob:secret@a.example/x https://secret@b bob:secret@c https://d?t=secret ./e')
      ?.value,
  ).toBe('https://***@a.example/x https://***@b ***@c https://d?*** ./e')
  expect(shown('https://a.example/x@1 /srv/a:b')?.value).toBe('https://a.example/x@1 /srv/a:b')
  expect(shown('')).toMatchObject({ source: 'default', set: false, value: '' })
})
