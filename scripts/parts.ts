/**
 * The generated parts of the pages of runtime/docs: tables of the reference, signatures, examples. A page
 * marks their place by `<!-- NAME: source, written by npm run docs -->` and `<!-- /NAME -->`.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { SETTINGS } from '../runtime/config/config.ts'
import { WEBHOOK_ANSWERS, WEBHOOK_TYPES } from '../runtime/contract/models/inline-webhook.ts'
import { MAIL_KINDS } from '../runtime/contract/models/mail.ts'
import { entriesOf } from '../runtime/contract/schema/keys.ts'
import { alertSections } from './alerts.ts'
import { CATALOGUE_PARTS } from './catalogue.ts'
import { CORE_PARTS } from './core-reference.ts'
import { code, type Parts, table } from './markdown.ts'
import { mayImport } from './may-import.ts'
import { OPERATOR_PARTS } from './operator-reference.ts'
import { CONTRACT_PARTS } from './reference.ts'

const ROOT = path.join(import.meta.dirname, '..')

/** PARTS: marker in a page -> text written after it. */
export const PARTS: Parts = {
  ...CONTRACT_PARTS,
  ...CATALOGUE_PARTS,
  ...CORE_PARTS,
  ...OPERATOR_PARTS,
  alerts: alertSections,
  'mail-kinds': () =>
    table(
      ['Kind', 'What happened', 'Who gets it', 'In a digest'],
      Object.entries(MAIL_KINDS).map(([name, { what, who, digest }]) => [
        code(name),
        what,
        who,
        digest ? 'yes' : 'no, at once',
      ]),
    ),
  'webhook-types': () =>
    table(
      ['Type', 'What it is asked or told', 'Success'],
      entriesOf(WEBHOOK_TYPES).map(([type, { what, answer }]) => [
        code(type),
        what,
        WEBHOOK_ANSWERS[answer],
      ]),
    ),
  settings: () =>
    table(
      ['Variable', 'Default', 'Meaning'],
      Object.entries(SETTINGS).map(([name, { default: value, meaning }]) => [
        code(name),
        value === '' ? '' : code(value),
        meaning,
      ]),
    ),
  example: () => fenced('test/fixtures/readme/connector.ts'),
  'verify-webhook': () => fenced('test/fixtures/readme/verify-webhook.ts'),
  'ldap-manifest': () => fenced('plugin-template/ldap/connector.json'),
  'ldap-example': () => fenced('plugin-template/ldap/connector.ts'),
  'ldap-cases': () => fenced('plugin-template/ldap/connector.cases.json'),
  'sql-manifest': () => fenced('plugin-template/sql/connector.json'),
  'sql-example': () => fenced('plugin-template/sql/connector.ts'),
  'sql-cases': () => fenced('plugin-template/sql/connector.cases.json'),
}

/** Returns a file as a code block. The extension of its name is its language. */
const fenced = (file: string): string =>
  [
    `\`\`\`${path.extname(file).slice(1)}`,
    readFileSync(path.join(ROOT, file), 'utf8').trim(),
    '```',
  ].join('\n')

const PLACE = /(<!-- ([a-z-]+): [^>]*-->\n)[\s\S]*?(<!-- \/\2 -->)/g

/** Returns the names of the parts for which a page has a place. */
export const partsOf = (page: string): string[] =>
  [...page.matchAll(PLACE)].map(([, , name = '']) => name)

/**
 * Returns a page with its current parts.
 *
 * @throws Error if a place has a name that is not in PARTS
 */
export function filled(page: string, file: string): string {
  return page.replace(PLACE, (_all, begin: string, name: string, end: string) => {
    const part = name === 'may-import' ? () => mayImport(file) : PARTS[name]
    if (!part) throw new Error(`${file}: there is no part ${name}`)
    return `${begin}${part()}\n${end}`
  })
}
