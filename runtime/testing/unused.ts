/**
 * Warnings about what a manifest declares for `ctx.sql` and `ctx.ldap` and the code does not use, and about
 * statements that the code uses and the manifest does not declare. The code is searched as text: names may be
 * built at run time, so these are warnings, and a name that a case asks for counts as used.
 */
import type { Case } from '../contract/connector/cases.ts'
import { type EgressEntry, isLdapRule, type Manifest } from '../contract/connector/manifest.ts'
import { nearest } from '../contract/errors/nearest.ts'
import { mapValues } from '../contract/schema/keys.ts'

/** Calls of `ctx.ldap` by operation. `password` is left out: it also allows to write passwords by `modify`. */
const LDAP_CALLS: Readonly<Record<string, string>> = {
  search: 'search',
  modify: 'modify',
  add: 'add',
  delete: 'delete',
  modifyDN: 'move',
}

/** Matches a statement that the code names: an argument of `query` or `execute`, or a step. */
const NAMED =
  /\bsql\s*\.\s*(?:query|execute)\s*\(\s*(["'`])([\w-]+)\1(?=\s*[,)])|\bstatement\s*:\s*(["'`])([\w-]+)\3(?=\s*[,}])/g

/** Returns the warnings. `code` is the bundle of the connector. */
export function declarationWarnings(
  manifest: Manifest,
  code: string,
  cases: readonly Case[],
): string[] {
  // The bundle continues a text on the next line after a backslash.
  const joined = code.replaceAll('\\\n', '')
  return [...statementWarnings(manifest, joined, cases), ...operationWarnings(manifest, joined)]
}

function statementWarnings(
  { statements }: Manifest,
  code: string,
  cases: readonly Case[],
): string[] {
  const names = Object.keys(statements)
  if (names.length === 0) return []
  const asked = new Set(cases.flatMap(statementsIn))
  const unused = names
    .filter((name) => !asked.has(name) && !mentions(code, name))
    .map((name) => `statements.${name}: no code uses it; remove it, because operators grant it`)
  const named = [...code.matchAll(NAMED)].map((match) => match[2] ?? match[4] ?? '')
  const undeclared = [...new Set(named)]
    .filter((name) => !Object.hasOwn(statements, name))
    .map((name) => {
      const near = nearest(name, names)
      return `the code uses the statement ${name}, which "statements" does not declare${near === null ? '' : `; did you mean ${near}?`}`
    })
  return [...unused, ...undeclared]
}

/** Returns the statements that the requests of a case name: `TRANSACTION /add_person+join_group`. */
const statementsIn = ({ upstream, pages = [] }: Case): string[] =>
  [upstream, ...pages.map((page) => page.upstream)].flat().flatMap(({ request }) => {
    const [, names] = /^(?:QUERY|EXECUTE|TRANSACTION) \/(.*)$/.exec(request) ?? []
    return names?.split('+') ?? []
  })

/** Matches the beginning, or the end, of a text that is built at run time: `grant_${right}`. */
const BUILT = /["'`](\w+)(?:["']\s*\+|\$\{)|(?:\+\s*["']|\})(\w+)["'`]/g

/**
 * Reports whether the code has a name as a text, as a part of a built text, or as the name of a member. Names
 * have no special letters.
 */
function mentions(code: string, name: string): boolean {
  if (new RegExp(`(["'\`])${name}\\1|\\b${name}\\s*:`).test(code)) return true
  return [...code.matchAll(BUILT)].some(
    ([, start, end]) =>
      (start !== undefined && name.startsWith(start)) || (end !== undefined && name.endsWith(end)),
  )
}

function operationWarnings({ egress, capabilities }: Manifest, code: string): string[] {
  // `const { ldap } = ctx` and the like: its calls cannot be found.
  if (/\bldap\b(?!\s*\.|["'`:/])/.test(code)) return []
  const called = mapValues(LDAP_CALLS, (call) =>
    new RegExp(`\\bldap\\s*\\.\\s*${call}\\b`).test(code),
  )
  const lists: [string, readonly EgressEntry[]][] = [
    ['egress', egress],
    ...Object.entries(capabilities).map(([name, one]): [string, readonly EgressEntry[]] => [
      `capabilities.${name}.egress`,
      one.egress ?? [],
    ]),
  ]
  return lists.flatMap(([field, entries]) =>
    entries.flatMap((rule, index) =>
      (isLdapRule(rule) ? (rule.operations ?? []) : [])
        .filter((operation) => called[operation] === false)
        .map(
          (operation) =>
            `${field}[${index}].operations: no code calls ctx.ldap.${LDAP_CALLS[operation]}; remove "${operation}", because operators grant it`,
        ),
    ),
  )
}
