/**
 * The environment, read once: SETTINGS is the table of all variables, and `readConfig` converts them into
 * frozen data. Nothing else reads process.env.
 */
import { availableParallelism } from 'node:os'
import path from 'node:path'
import * as v from 'valibot'
import { CEILINGS, type Ceilings } from '../contract/limits/ceilings.ts'
import { entriesOf, mapValues, tableOf } from '../contract/schema/keys.ts'
import { DEFAULT_LANGUAGE, LANGUAGE_NAMES } from '../words/languages.ts'
import * as mail from './mail-server.ts'
import {
  databaseAddress,
  isLoopback,
  isNetwork,
  judgedBy,
  list,
  processesFor,
  proxyOf,
  wholeNumber,
} from './rules.ts'
import { RESERVED_PATHS } from './taken-paths.ts'

const text = v.string()
/** Text setting that may be omitted. */
const optional = (meaning: string) => ({ default: '', schema: text, meaning }) as const
const secret = (meaning: string) => ({ secret: true, ...optional(meaning) }) as const

/** Settings of the ceilings, one for each. */
const CEILING_SETTINGS = tableOf(
  entriesOf(CEILINGS).map(([, { setting, default: most, range, meaning }]) => [
    setting,
    { default: String(most), schema: wholeNumber(range[0], range[1]), meaning },
  ]),
)

/**
 * Every variable with its default, rule and meaning. README's table and `keyway start --help` are generated
 * from it.
 */
export const SETTINGS = {
  HOST: { default: '127.0.0.1', schema: text, meaning: 'address to listen on' },
  PORT: { default: '8080', schema: wholeNumber(0, 65_535), meaning: 'port to listen on' },
  KEYWAY_DATA_DIR: {
    default: './data',
    schema: text,
    meaning: 'compiled connectors, verdicts, keys',
  },
  KEYWAY_PLUGINS_DIR: {
    default: './plugins',
    schema: text,
    meaning:
      'folders of drop-in connectors, watched; several are separated like a path list; built-in connectors are always present',
  },
  KEYWAY_DROP_IN: {
    default: '',
    schema: v.picklist(['', 'open', 'closed', 'off'], 'is not one of open, closed, off'),
    meaning:
      '`open`, `closed` (an edit that extends the reach waits for a grant) or `off`; default `open` on a loopback address without `DATABASE_URL`, else `closed`',
  },
  KEYWAY_INSTALL: {
    default: '',
    schema: v.picklist(['', 'trusted', 'any'], 'is not one of trusted, any'),
    meaning:
      'packages that may be installed: `trusted` (signed by a publisher that you trust) or `any`; default `any` on a loopback address without `DATABASE_URL`, else `trusted`',
  },
  KEYWAY_CONNECTORS_PATH: {
    default: '/connectors',
    schema: v.pipe(
      text,
      v.regex(/^(\/[a-zA-Z0-9_-]+)+$/, 'is not a path such as /connectors'),
      v.check((given) => !RESERVED_PATHS.includes(given.split('/')[1] ?? ''), 'is taken'),
    ),
    meaning: 'prefix of the connector interface',
  },
  KEYWAY_PRIVATE_EGRESS: optional(
    'grants of private addresses to any connectors: `connector_id=host:port`, separated by spaces; for inline webhooks `webhooks=host:port`, for providers of sign-in `sign-in=host:port`',
  ),
  KEYWAY_PLAIN_LDAP: optional(
    'directories that connectors may use by `ldap:` without encryption, instead of STARTTLS: `connector_id=host:port`, separated by spaces; their passwords cross the network in plain text',
  ),
  KEYWAY_PLAIN_SQL: optional(
    'databases that connectors may use without encryption (`ctx.sql`): `connector_id=host:port`, separated by spaces; queries and results cross the network in plain text',
  ),
  KEYWAY_CLEAR_SECRETS: optional(
    'grants of secrets that the code of a dropped-in connector may see (`clear_secrets`; to an installed one they are granted by `keyway grant`): `connector_id=field`, separated by spaces',
  ),
  KEYWAY_RETENTION: optional(
    'days to keep finished records, if not the default: `tasks=365 sync_runs=30`',
  ),
  KEYWAY_SECRET: secret(
    'key material for page tokens, API tokens and credentials of apps, 32 characters or more; a list (newest first, comma between) to rotate; the same on every host of a database; default: generated into the data directory',
  ),
  KEYWAY_ADMIN_TOKEN: secret(
    'bearer token of `/operator`, also while the database is away, and the first API token, owned by the first admin (`lsk_` and 32 characters or more); a new one replaces the previous one, on all hosts; default: generated into a file of the data directory',
  ),
  DATABASE_URL: {
    secret: true,
    default: '',
    schema: databaseAddress,
    meaning: 'your own PostgreSQL, 15 or newer; default: an embedded one in the data directory',
  },
  KEYWAY_REGISTRY: optional(
    'registry of published connectors for `keyway search`, `install`, `outdated` and the console: an https:// address or a folder, followed by mirrors, separated by spaces; default: none, nothing is fetched',
  ),
  KEYWAY_SIGN_IN: optional(
    'JSON file with the providers by which people sign in (OpenID Connect); default: none, people sign in by links and API tokens',
  ),
  KEYWAY_PUBLIC_URL: {
    default: '',
    schema: judgedBy(mail.wrongPublicUrl),
    meaning:
      'public address of the pages, such as `https://keyway.acme.example`: used in links in mails and in the locations of SCIM resources',
  },
  KEYWAY_MAIL_SERVER: {
    // A password in it is refused, but must still not be printed.
    secret: true,
    default: '',
    schema: judgedBy(mail.wrongServer),
    meaning:
      'mail server: `smtp://user@host:587` (STARTTLS) or `smtps://user@host:465`; default: none, no mail is sent',
  },
  KEYWAY_MAIL_PASSWORD: secret('password of the user that `KEYWAY_MAIL_SERVER` names'),
  KEYWAY_MAIL_FROM: {
    default: '',
    schema: judgedBy(mail.wrongSender),
    meaning: 'sender of mail, such as `Keyway <keyway@acme.example>`',
  },
  KEYWAY_MAIL_LANGUAGE: {
    default: DEFAULT_LANGUAGE,
    schema: v.picklist(LANGUAGE_NAMES, `is not one of ${LANGUAGE_NAMES.join(', ')}`),
    meaning: 'language of mail to people who have not chosen one: `en` or `de`',
  },
  KEYWAY_REQUESTS_PER_MINUTE: {
    default: '600',
    schema: wholeNumber(1, 1_000_000),
    meaning:
      'requests of the core interface per minute and API token, on each host: hosts that share a database each have this limit',
  },
  KEYWAY_CONNECTOR_TOKEN: secret(
    'bearer token of the connector interface and `/metrics`, 32 characters or more; required on addresses other than loopback',
  ),
  KEYWAY_OPEN_CONNECTORS: {
    default: '',
    schema: v.picklist(['', '0', '1'], 'is neither 0 nor 1'),
    meaning: '`1`: serve the connector interface without a token on any address',
  },
  KEYWAY_ALLOWED_HOSTS: optional(
    'further names that the `Host` header may have on a loopback address, separated by spaces',
  ),
  KEYWAY_TRUSTED_PROXIES: {
    default: '',
    schema: v.pipe(
      text,
      v.check(
        (given) => list(given, /\s+/).every(isNetwork),
        'contains an entry that is neither an address nor a network such as 10.0.0.0/8',
      ),
    ),
    meaning:
      'trusted proxies that name the caller in `X-Forwarded-For`: addresses and networks, separated by spaces; sign-in attempts are counted by that address',
  },
  ...CEILING_SETTINGS,
  KEYWAY_PROCESSES: {
    default: '',
    schema: v.union([v.literal(''), wholeNumber(1, 64)], 'is not a whole number between 1 and 64'),
    meaning:
      'processes that serve the port together, each with its own workers and share of the limits; default: 1 on up to two cores, otherwise half the number of cores, at most 4',
  },
  KEYWAY_SPARE_WORKER: {
    default: '1',
    schema: v.picklist(['0', '1'], 'is neither 0 nor 1'),
    meaning:
      'whether each process keeps a worker ready that runs no connector yet, so that the first call of a connector is faster: `1`, or `0` to save its memory (some 50 MB)',
  },
  KEYWAY_STOP_NOTICE_MS: {
    default: '0',
    schema: wholeNumber(0, 600_000),
    meaning:
      'how long a stopping host fails `/readyz` but still takes calls, in milliseconds; longer than your load balancer needs to remove a host',
  },
  KEYWAY_LOG_LEVEL: {
    default: 'info',
    schema: v.picklist(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'is not a log level such as info',
    ),
    meaning: 'fatal, error, warn, info, debug, trace or silent',
  },
  HTTPS_PROXY: secret(
    'proxy for requests of connectors to https addresses; directories (`ctx.ldap`) and databases (`ctx.sql`) never use a proxy',
  ),
  HTTP_PROXY: secret('the same for http addresses'),
  NO_PROXY: { default: '', schema: text, meaning: 'hosts reached without the proxy' },
} as const

export type SettingName = keyof typeof SETTINGS

/** Reports whether a setting is a secret, or may contain one. Its value is never printed. */
export const isSecretSetting = (name: SettingName): boolean => 'secret' in SETTINGS[name]

const shown = (name: SettingName, given: string): string =>
  isSecretSetting(name) ? 'its value' : JSON.stringify(given)

export type Config = Readonly<{
  host: string
  port: number
  loopback: boolean
  dataDir: string
  pluginDirs: readonly string[]
  dropIn: 'open' | 'closed' | 'off'
  install: 'trusted' | 'any'
  connectorsPath: string
  privateEgress: string
  plainLdap: string
  plainSql: string
  clearSecrets: string
  retention: string
  /** Empty if they are to be generated into the data directory. */
  secrets: readonly string[]
  adminToken: string
  /** Empty for the embedded database. */
  databaseUrl: string
  /** File with the sign-in providers, or empty if there are none. */
  signIn: string
  /** Addresses or folders of published connectors. The first that responds is used. */
  registries: string[]
  /** Null if no mail is sent. */
  mail: mail.MailServer | null
  publicOrigin: string | null
  requestsPerMinute: number
  connectorToken: string
  /** Whether the connector interface works without a token. */
  openConnectors: boolean
  allowedHosts: readonly string[]
  trustedProxies: readonly string[]
  ceilings: Ceilings
  processes: number
  spareWorker: boolean
  stopNoticeMs: number
  logLevel: v.InferOutput<(typeof SETTINGS)['KEYWAY_LOG_LEVEL']['schema']>
  proxy: ReturnType<typeof proxyOf>
  /** Values in the environment by setting. Null for a setting that is not set, or that is a secret. */
  read: ReadonlyMap<SettingName, { isNamed: boolean; value: string | null }>
}>

/** Error for a wrong variable. The message contains its name, the value found and what to write. */
export class ConfigError extends Error {}

/** Folder of the connectors shipped with the runtime. */
export const BUILT_IN_DIR: string = path.join(import.meta.dirname, '..', '..', 'plugins')

/**
 * Reads the environment.
 *
 * @throws ConfigError with every wrong variable, one per line
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const wrong: string[] = []
  const read: Map<SettingName, { isNamed: boolean; value: string | null }> = new Map()
  const get = <N extends SettingName>(name: N): v.InferOutput<(typeof SETTINGS)[N]['schema']> => {
    // Proxy variables are often written in lower case.
    const raw =
      environment[name] ?? (name.endsWith('_PROXY') ? environment[name.toLowerCase()] : undefined)
    const isNamed = raw !== undefined && raw !== ''
    const given = isNamed ? raw : SETTINGS[name].default
    read.set(name, { isNamed, value: isSecretSetting(name) || !isNamed ? null : raw })
    const schema: v.GenericSchema<string> = SETTINGS[name].schema
    const parsed = v.safeParse(schema, given)
    if (!parsed.success) wrong.push(`${name}: ${shown(name, given)} ${parsed.issues[0].message}`)
    // The cast: settings are not transformed, and a wrong one is refused below.
    return given as never
  }
  const host = get('HOST')
  const loopback = isLoopback(host)
  const databaseUrl = get('DATABASE_URL')
  const connectorToken = get('KEYWAY_CONNECTOR_TOKEN')
  const everybody = get('KEYWAY_OPEN_CONNECTORS') === '1'
  const secrets = list(get('KEYWAY_SECRET'), ',')
  const config: Config = {
    host,
    port: Number(get('PORT')),
    loopback,
    dataDir: path.resolve(get('KEYWAY_DATA_DIR')),
    pluginDirs: list(get('KEYWAY_PLUGINS_DIR'), path.delimiter).map((one) => path.resolve(one)),
    dropIn: get('KEYWAY_DROP_IN') || (loopback && databaseUrl === '' ? 'open' : 'closed'),
    install: get('KEYWAY_INSTALL') || (loopback && databaseUrl === '' ? 'any' : 'trusted'),
    connectorsPath: get('KEYWAY_CONNECTORS_PATH'),
    privateEgress: get('KEYWAY_PRIVATE_EGRESS'),
    ...{ plainLdap: get('KEYWAY_PLAIN_LDAP'), plainSql: get('KEYWAY_PLAIN_SQL') },
    ...{ clearSecrets: get('KEYWAY_CLEAR_SECRETS'), retention: get('KEYWAY_RETENTION'), secrets },
    ...{ adminToken: get('KEYWAY_ADMIN_TOKEN'), databaseUrl },
    signIn: get('KEYWAY_SIGN_IN'),
    registries: list(get('KEYWAY_REGISTRY'), /\s+/),
    publicOrigin: URL.parse(get('KEYWAY_PUBLIC_URL'))?.origin ?? null,
    mail: mail.mailServerOf(
      {
        ...{ server: get('KEYWAY_MAIL_SERVER'), password: get('KEYWAY_MAIL_PASSWORD') },
        ...{ from: get('KEYWAY_MAIL_FROM'), publicUrl: get('KEYWAY_PUBLIC_URL') },
        language: get('KEYWAY_MAIL_LANGUAGE'),
      },
      (words) => wrong.push(words),
    ),
    requestsPerMinute: Number(get('KEYWAY_REQUESTS_PER_MINUTE')),
    connectorToken,
    openConnectors: connectorToken === '' && (loopback || everybody),
    allowedHosts: list(get('KEYWAY_ALLOWED_HOSTS'), /\s+/),
    trustedProxies: list(get('KEYWAY_TRUSTED_PROXIES'), /\s+/),
    ceilings: Object.freeze(mapValues(CEILINGS, ({ setting }) => Number(get(setting)))),
    processes: Number(get('KEYWAY_PROCESSES') || processesFor(availableParallelism())),
    spareWorker: get('KEYWAY_SPARE_WORKER') === '1',
    stopNoticeMs: Number(get('KEYWAY_STOP_NOTICE_MS')),
    logLevel: get('KEYWAY_LOG_LEVEL'),
    proxy: proxyOf(get('HTTPS_PROXY'), get('HTTP_PROXY'), get('NO_PROXY')),
    read,
  }
  for (const secret of secrets) {
    if (secret.length < 32)
      wrong.push(
        'KEYWAY_SECRET: has fewer than 32 characters; make one with `openssl rand -hex 32`',
      )
  }
  if (!/^(lsk_[\x21-\x7e]{32,}|)$/.test(config.adminToken))
    wrong.push(
      'KEYWAY_ADMIN_TOKEN: is not lsk_ followed by 32 characters or more; make one with `echo lsk_$(openssl rand -hex 32)`',
    )
  if (connectorToken !== '' && connectorToken.length < 32)
    wrong.push(
      'KEYWAY_CONNECTOR_TOKEN: has fewer than 32 characters; make one with `openssl rand -hex 32`',
    )
  if (!loopback && connectorToken === '' && !config.openConnectors) {
    wrong.push(
      `HOST: ${host} is not a loopback address: set KEYWAY_CONNECTOR_TOKEN, or KEYWAY_OPEN_CONNECTORS=1 to serve everyone`,
    )
  }
  if (wrong.length > 0) throw new ConfigError(wrong.join('\n'))
  return Object.freeze(config)
}

/** Runs code that uses settings. Reports its error like that of any other wrong setting. */
export async function setting<T>(use: () => T | Promise<T>, prefix = ''): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw new ConfigError(`${prefix}${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}
