/** Wants of a manifest, which the operator grants one by one, and its restriction to the granted ones. */

import * as v from 'valibot'
import { CAPABILITIES, isCapability } from '../../contract/capabilities/capabilities.ts'
import { LDAP_OPERATION_NAMES } from '../../contract/connector/ldap.ts'
import {
  type CapabilityDeclaration,
  type EgressEntry,
  isLdapRule,
  isSqlRule,
  isUrlRule,
  type LdapRule,
  Limits,
  type Manifest,
  METHODS,
  type OAuthDeclaration,
  type SqlRule,
} from '../../contract/connector/manifest.ts'
import type { Want } from '../../contract/endpoints/generation.ts'
import { entriesOf } from '../../contract/schema/keys.ts'

/** What every connector may use without a grant. */
const UNGRANTED = v.parse(Limits, {})

/** Returns all wants of a version, in a stable order. */
export function wantsOf(manifest: Manifest): Want[] {
  const { capabilities, clear_secrets, limits } = manifest
  const all: Want[] = Object.entries(capabilities).flatMap(([name, declared]) => [
    { kind: 'capability', subject: name, key: name, words: `offers ${name}` },
    ...rulesOf(manifest, declared).flatMap((rule) =>
      methodsOf(manifest, name, rule).map((method) => sending(manifest, name, method, rule)),
    ),
  ])
  all.push(...loginsOf(manifest).map(([name, method, url]) => login(manifest, name, method, url)))
  for (const { field, because } of clear_secrets)
    all.push({
      kind: 'clear_secret',
      subject: field,
      key: field,
      words: `sees ${field} in clear: ${JSON.stringify(because)}`,
    })
  // Limits that every connector has need no grant.
  for (const [name, amount] of entriesOf<Limits>(limits))
    if (amount > UNGRANTED[name])
      all.push({
        kind: 'limit',
        subject: name,
        key: name,
        amount,
        words: `${name} up to ${amount}`,
      })
  return all
}

/** Returns the wants that `granted` does not cover. */
export function uncovered(wants: readonly Want[], granted: readonly Want[]): Want[] {
  const byKey = new Map<string, Want[]>()
  for (const one of granted) {
    const key = `${one.kind} ${one.key}`
    byKey.set(key, [...(byKey.get(key) ?? []), one])
  }
  return wants.filter(
    (want) => !(byKey.get(`${want.kind} ${want.key}`) ?? []).some((one) => covers(one, want)),
  )
}

function covers(granted: Want, want: Want): boolean {
  if (want.amount !== undefined && (granted.amount ?? 0) < want.amount) return false
  if (granted.secrets === undefined) return true
  return want.secrets?.every((one) => granted.secrets?.includes(one)) ?? false
}

/** Restricts a manifest to the granted wants. The rest is refused as undeclared. */
export function restrict(manifest: Manifest, granted: readonly Want[]): Manifest {
  const withheld = uncovered(wantsOf(manifest), granted)
  if (withheld.length === 0) return manifest
  const isWithheld = (want: Want) =>
    withheld.some(({ kind, key }) => kind === want.kind && key === want.key)
  const mayLogIn = (name: string) => !withheld.some((one) => isLogin(one, name))
  const capabilities = Object.fromEntries(
    Object.entries(manifest.capabilities)
      .filter(([name]) => !withheld.some((one) => one.kind === 'capability' && one.key === name))
      .map(([name, declared]) => {
        const egress = rulesOf(manifest, declared).flatMap((rule) => {
          const methods = methodsOf(manifest, name, rule).filter(
            (method) => !isWithheld(sending(manifest, name, method, rule)),
          )
          return methods.length === 0 ? [] : [narrowed(rule, methods)]
        })
        return [name, { ...declared, egress }]
      }),
  )
  const { oauth, exchange, ...rest } = manifest
  return {
    ...rest,
    ...(oauth && mayLogIn('oauth') ? { oauth } : {}),
    capabilities,
    // The remaining entries are only for the login. Each capability now has a list of its own.
    egress: exchange && mayLogIn('exchange') ? egressOfLogin(manifest, withheld) : [],
    ...(exchange ? { exchange } : {}),
    ...(manifest.credentials
      ? {
          credentials: manifest.credentials.map((one) =>
            one.oauth && !mayLogIn(`oauth of ${one.id}`) ? withoutOAuth(one) : one,
          ),
        }
      : {}),
    clear_secrets: manifest.clear_secrets.filter(
      ({ field }) => !withheld.some((one) => one.kind === 'clear_secret' && one.key === field),
    ),
    limits: { ...manifest.limits, ...limitsOf(manifest, granted) },
  }
}

/** Returns the addresses of a login: its own, and redirect targets if all of them are granted. */
function egressOfLogin({ egress, exchange }: Manifest, withheld: readonly Want[]): EgressEntry[] {
  const refused = new Set(
    withheld.flatMap(({ kind, key }) => (kind === 'egress' ? partsOf(key)[2] : [])),
  )
  const own = exchange?.request.url ?? ''
  return egress
    .filter(isUrlRule)
    .filter(
      ({ url }) => !refused.has(url) || own === url || own.startsWith(`${url.replace(/\/$/, '')}/`),
    )
}

function withoutOAuth<T extends { oauth?: OAuthDeclaration | undefined }>({
  oauth: _none,
  ...rest
}: T): Omit<T, 'oauth'> {
  return rest
}

/** Returns the granted amount of each limit, never more than wanted. */
function limitsOf({ limits }: Manifest, granted: readonly Want[]): Partial<Limits> {
  return Object.fromEntries(
    entriesOf<Limits>(limits).map(([name, wanted]) => {
      const amounts = granted.flatMap(({ kind, key, amount }) =>
        kind === 'limit' && key === name ? [amount ?? 0] : [],
      )
      const most = amounts.length === 0 ? UNGRANTED[name] : Math.max(...amounts)
      return [name, Math.min(wanted, most)]
    }),
  )
}

const rulesOf = ({ egress }: Manifest, declared: CapabilityDeclaration): readonly EgressEntry[] =>
  declared.egress ?? egress

/**
 * Returns what an entry lets a capability send: methods, operations of a directory, or statements of a
 * database.
 */
function methodsOf(
  { capabilities, statements }: Manifest,
  name: string,
  rule: EgressEntry,
): readonly string[] {
  const level = isCapability(name) ? CAPABILITIES[name].level : 'read'
  if (isLdapRule(rule))
    return rule.operations ?? (level === 'write' ? LDAP_OPERATION_NAMES : ['search'])
  if (isSqlRule(rule))
    return (
      rule.statements ??
      Object.keys(statements).filter((one) => level === 'write' || statements[one]?.reads)
    )
  if (rule.methods) return rule.methods
  const { reads_with = [] } = capabilities[name] ?? {}
  return level === 'write' ? METHODS : ['GET', 'HEAD', ...reads_with]
}

/** Returns the entry restricted to some of the results of `methodsOf`. */
function narrowed(rule: EgressEntry, kept: readonly string[]): EgressEntry {
  if (isLdapRule(rule))
    return { ...rule, operations: LDAP_OPERATION_NAMES.filter((name) => kept.includes(name)) }
  if (isSqlRule(rule)) return { ...rule, statements: [...kept] }
  return { ...rule, methods: METHODS.filter((method) => kept.includes(method)) }
}

function sending(
  { settings, statements }: Manifest,
  capability: string,
  method: string,
  rule: EgressEntry,
): Want {
  const { secrets } = rule
  const url = isLdapRule(rule)
    ? directoryOf(rule)
    : isSqlRule(rule)
      ? databaseOf(rule, statements[method])
      : rule.url
  const subject = isLdapRule(rule) ? rule.ldap : isSqlRule(rule) ? rule.sql : url
  return {
    kind: 'egress',
    subject: originOf(subject),
    key: JSON.stringify([capability, method, url, ...boundsIn(url, settings)]),
    words: `${method} ${url}`,
    ...(secrets ? { secrets } : {}),
  }
}

/** Describes a directory with the reach of an entry, as stored in a grant. */
const directoryOf = ({ ldap, base, bind, references = [] }: LdapRule): string =>
  [
    `${ldap} below ${base}`,
    ...(bind ? [`as ${bind.dn ?? 'the user'} of ${bind.credential}`] : []),
    ...(references.length > 0 ? [`with members from ${references.join(' and ')}`] : []),
  ].join(', ')

/** Parses a key made here. */
const partsOf = (key: string): string[] => JSON.parse(key)

/** Describes a database with a statement and its whole text: another text is another want. */
const databaseOf = (
  { sql, database, login }: SqlRule,
  statement: Manifest['statements'][string] | undefined,
): string =>
  [
    `in ${database} at ${sql} as ${login.credential}`,
    statement?.reads ? 'only reading' : 'reading and writing',
    statement?.text.replace(/\s+/g, ' ') ?? 'nothing',
  ].join(': ')

type Login = [name: string, method: string, url: string]

/** Returns logins by name, with what each sends. */
export function loginsOf({ exchange, oauth, credentials = [] }: Manifest): Login[] {
  const token = (name: string, one: OAuthDeclaration | undefined): Login[] => {
    if (!one) return []
    const asked: Login = [name, one.request?.method ?? 'POST', one.token_url]
    // Where people are redirected for consent.
    return one.authorization_url ? [asked, [name, 'GET', one.authorization_url]] : [asked]
  }
  const own: Login[] = exchange ? [['exchange', exchange.request.method, exchange.request.url]] : []
  return [
    ...own,
    ...token('oauth', oauth),
    ...credentials.flatMap((one) => token(`oauth of ${one.id}`, one.oauth)),
  ]
}

function login({ settings }: Manifest, name: string, method: string, url: string): Want {
  return {
    kind: 'login',
    subject: originOf(url),
    key: JSON.stringify([name, method, url, ...boundsIn(url, settings)]),
    words: `${method} ${url}`,
  }
}

const isLogin = ({ kind, key }: Want, name: string): boolean =>
  kind === 'login' && partsOf(key)[0] === name

/** Returns scheme, host and port of an address, as written. */
const originOf = (url: string): string =>
  /^[a-z]+:\/\/(?:\{[^}]*\}|[^/{}])*/i.exec(url)?.[0] ?? (/^\{[^}]*\}/.exec(url)?.[0] || url)

/** Returns the bounds of the settings in an address. A looser pattern reaches more. */
function boundsIn(url: string, settings: Manifest['settings']): unknown[] {
  return [...url.matchAll(/\{settings\.([a-z0-9_]+)\}/g)].map(([, name = '']) => {
    const field = settings[name]
    if (field?.type !== 'string') return field?.type
    return [field.pattern, field.format, field.enum, field.default]
  })
}
