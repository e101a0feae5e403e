/**
 * A manifest's egress entries for databases: checks them, resolves them for one call, and finds the one that
 * allows a statement. Pure: no lookups, no connections.
 */
import { type EgressEntry, isSqlRule, type SqlRule } from '../../contract/connector/manifest.ts'
import type { Fields } from '../../contract/connector/settings.ts'
import {
  SQL_DIALECTS,
  type SqlDialect,
  type SqlOperation,
  type SqlStatement,
} from '../../contract/connector/sql.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { nearest } from '../../contract/errors/nearest.ts'
import {
  lacksSetting,
  misfit,
  resolveServer,
  type Schemes,
  SETTING,
  type ServerWords,
  type Settings,
  serverFinding,
  settingsFinding,
} from './server-url.ts'

/** Statements by name, as a manifest declares them. */
export type Statements = Readonly<Record<string, SqlStatement>>

/** Entry resolved for one call. */
export type SqlTarget = {
  /** Path of the entry, for messages: `egress[0].statements`. */
  field: string
  dialect: SqlDialect
  protocol: string
  /** Name or IP address; IPv6 without brackets. */
  host: string
  port: number
  /** `postgresql://host:port`. Secrets are bound to it, and requests are paced by it. */
  origin: string
  database: string
  credential: string
  /** Allowed statements. */
  statements: Statements
  secrets: readonly string[] | null
}

const WORDS: ServerWords = {
  what: 'a database',
  write: 'postgresql://host, postgresql://host:5432, mariadb://host (by its dialect)',
  example: 'postgresql://database.example',
}

/** Returns the names of the statements that an entry allows to a capability of a level. */
const statementsOf = (rule: SqlRule, declared: Statements, level: string): readonly string[] =>
  rule.statements ??
  Object.keys(declared).filter((name) => level === 'write' || declared[name]?.reads)

const schemesOf = (dialect: SqlDialect): Schemes => {
  const { schemes, port } = SQL_DIALECTS[dialect]
  return Object.fromEntries(schemes.map((scheme) => [scheme, port]))
}

/** Returns the faults of these entries, as far as their templates show them. */
export function sqlFindings(
  entries: readonly EgressEntry[],
  fields: Fields,
  field: string,
): string[] {
  return entries.flatMap((rule, index) => {
    if (!isSqlRule(rule)) return []
    const at = `${field}[${index}]`
    const address = serverFinding(rule.sql, fields, schemesOf(rule.dialect), WORDS)
    const database = databaseFinding(rule.database, fields)
    return [
      ...(address === null ? [] : [`${at}.sql: ${JSON.stringify(rule.sql)} ${address}`]),
      ...(database === null
        ? []
        : [`${at}.database: ${JSON.stringify(rule.database)} ${database}`]),
    ]
  })
}

function databaseFinding(template: string, fields: Fields): string | null {
  const finding = settingsFinding(template, fields)
  if (finding !== null) return finding
  return isDatabaseName(template.replace(SETTING, 'x'))
    ? null
    : 'is no name of a database: write crm or {settings.database}'
}

/** Maximum length of a database's name, in bytes. */
const MAX_DATABASE_BYTES = 63

const isDatabaseName = (name: string): boolean =>
  name !== '' && Buffer.byteLength(name) <= MAX_DATABASE_BYTES && !/[\u0000-\u001f]/.test(name)

/**
 * Returns the targets of one call. An entry whose setting is absent is left out.
 *
 * @throws egress_setting if a value does not fit its place; the message names the setting, never the value
 */
export function resolveSql(
  entries: readonly EgressEntry[],
  {
    level,
    settings,
    statements,
    field = 'egress',
  }: { level: string; settings: Settings; statements: Statements; field?: string },
): SqlTarget[] {
  return entries.flatMap((rule, index) => {
    if (!isSqlRule(rule)) return []
    if (lacksSetting([rule.sql, rule.database], settings)) return []
    const database = rule.database.replace(SETTING, (_all, name: string) => String(settings[name]))
    if (!isDatabaseName(database)) {
      const [, setting = 'database'] = [...rule.database.matchAll(SETTING)].at(-1) ?? []
      throw misfit(setting, WORDS.what, 'it is no name of a database')
    }
    const allowed = statementsOf(rule, statements, level)
    return [
      {
        field: `${field}[${index}]`,
        dialect: rule.dialect,
        ...resolveServer(rule.sql, settings, schemesOf(rule.dialect), WORDS),
        database,
        credential: rule.login.credential,
        statements: Object.fromEntries(
          Object.entries(statements).filter(([name]) => allowed.includes(name)),
        ),
        secrets: rule.secrets ?? null,
      },
    ]
  })
}

/**
 * Returns the first target that allows all of these statements for an operation. A query only reads, the
 * other operations only write.
 *
 * @throws egress_undeclared with the declaration to add; context_misused for the wrong operation
 */
export function judgeSql(
  operation: SqlOperation,
  names: readonly string[],
  targets: readonly SqlTarget[],
): SqlTarget {
  const missing = ({ statements }: SqlTarget) =>
    names.find((name) => !Object.hasOwn(statements, name))
  const allowed = targets.find((target) => missing(target) === undefined)
  if (allowed === undefined) {
    const [target] = targets
    const name = (target === undefined ? names[0] : missing(target)) ?? ''
    throw new RuntimeError(
      'egress_undeclared',
      target === undefined
        ? `The statement ${show(name)} is not allowed: no egress entry of this capability names a database, or a setting of it is not set. Declare { "sql": "postgresql://...", "dialect": "postgresql", "database": "...", "login": { "credential": "auth" } } in connector.json`
        : notAllowed(name, target),
    )
  }
  const isQuery = operation === 'query'
  // Only a query runs in a read-only transaction. A statement granted as reading must not be sent in another
  // one.
  const wrong = names.find((name) => (allowed.statements[name]?.reads ?? false) !== isQuery)
  if (wrong === undefined) return allowed
  throw new RuntimeError(
    'context_misused',
    isQuery
      ? `ctx.sql.query is for statements that only read: declare "reads": true for ${show(wrong)} if it does, or use ctx.sql.execute`
      : `The statement ${show(wrong)} only reads, and ctx.sql.${operation} is for statements that write: use ctx.sql.query, or take "reads": true from ${show(wrong)} if it writes`,
  )
}

function notAllowed(name: string, { field, statements }: SqlTarget): string {
  const names = Object.keys(statements)
  const no = `The statement ${show(name)} is not allowed: ${field} allows ${names.join(', ') || 'none'}`
  if (/\s/.test(name)) return `${no}. ctx.sql takes the name of a statement, and no text of one`
  const near = nearest(name, names)
  const meant = near === null ? '.' : `; did you mean ${near}?`
  return `${no}${meant} Declare it under "statements" (a capability that reads may use those with "reads": true alone), or add it to the "statements" of ${field}`
}

const show = (name: string): string => JSON.stringify(name.slice(0, 63))
