/**
 * Validates the input for a connection by the connector's schemas, before any request is sent. It names the
 * fields of the form; the core would name members of a body.
 */
import * as v from 'valibot'
import { authSchema } from '../../contract/connector/connection.ts'
import { describeIssue } from '../../contract/connector/payload.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { ServedConnector } from '../../core/kernel/context/connectors.ts'
import { PageError } from '../frame/error-page.ts'
import type { PageLocale } from '../frame/locale.ts'
import type { FieldGroup, Filled } from './connect-fields.ts'
import { brief } from './parts.ts'

type Asked = {
  connector: Pick<ServedConnector, 'manifest' | 'settings'>
  groups: readonly FieldGroup[]
}
type Misfit = { title: string; words: string }

/** Returns the name of a field on the page. */
export const titleIn = ({ console: { connect } }: PageLocale, title: string): string =>
  connect.fields[title] ?? title

/**
 * Validates the given parts. Values that are not fields of the form are left to the core.
 *
 * @throws CoreError `invalid` that names all missing fields, otherwise the invalid ones; never a secret
 */
export function judgeFilled(t: PageLocale, { connector, groups }: Asked, filled: Filled): void {
  const schemas = { auth: authSchema(connector.manifest), settings: connector.settings }
  const all = (['auth', 'settings'] as const).flatMap((part) => {
    if (filled[part] === undefined) return []
    const own = groups.filter((one) => one.part === part)
    const { issues = [] } = v.safeParse(schemas[part], filled[part])
    return issues.flatMap((issue) => misfitOf(t, own, issue))
  })
  const missing = all.filter(({ words }) => words === 'missing').map(({ title }) => title)
  if (missing.length > 0)
    throw new PageError('invalid', t.console.connect.fillIn([...new Set(missing)].join(', ')))
  if (all.length > 0)
    throw new CoreError('invalid', all.map(({ title, words }) => `${title}: ${words}`).join('; '))
}

/**
 * Reports whether a pattern does not match. A pattern does not help people, so the field's own help is shown
 * if there is one.
 */
const isPattern = ({ message }: v.BaseIssue<unknown>): boolean =>
  message.startsWith('does not match ')

function misfitOf(
  t: PageLocale,
  groups: readonly FieldGroup[],
  { path, ...issue }: v.BaseIssue<unknown>,
): Misfit[] {
  const keys = (path ?? []).map(({ key }) => String(key))
  const group = groups.find(({ id }) => id === '' || id === keys[0])
  if (group === undefined) return []
  const [member] = group.id === '' ? keys : keys.slice(1)
  // The whole credential is missing.
  if (member === undefined) return [{ title: group.title || group.id, words: 'missing' }]
  const field = group.fields.find((one) => one.member === member)
  if (field === undefined) return []
  const isUnlike = isPattern(issue) && field.help !== '' && !field.isSecret
  const words = isUnlike
    ? t.console.connect.unlike(brief(String(issue.input), 80), field.help)
    : describeIssue(issue, '', () => field.isSecret)
  return [{ title: titleIn(t, field.title), words }]
}
