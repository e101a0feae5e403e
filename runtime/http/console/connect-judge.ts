/**
 * What was filled in to connect an app, judged by the schemas of its connector before anybody is asked: in the words of the
 * form, where the core names members of a body.
 */
import * as v from 'valibot'
import { authSchema } from '../../contract/connector/connection.ts'
import { describeIssue } from '../../contract/connector/payload.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { ServedConnector } from '../../core/kernel/context/connectors.ts'
import { PageError } from '../frame/error-page.ts'
import type { Tongue } from '../frame/tongue.ts'
import type { FieldGroup, Filled } from './connect-fields.ts'
import { brief } from './parts.ts'

type Asked = {
  connector: Pick<ServedConnector, 'manifest' | 'settings'>
  groups: readonly FieldGroup[]
}
type Misfit = { title: string; words: string }

/** What a field is called on the page. */
export const titleIn = ({ console: { connect } }: Tongue, title: string): string =>
  connect.fields[title] ?? title

/**
 * Judges the parts that there are; what is no field of the form is left to the core.
 *
 * @throws CoreError invalid naming all fields that are to be filled in, else those that do not fit; never a secret
 */
export function judgeFilled(t: Tongue, { connector, groups }: Asked, filled: Filled): void {
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

/** Whether a pattern is not met: it says nothing to people, where a field says itself what it takes. */
const isPattern = ({ message }: v.BaseIssue<unknown>): boolean =>
  message.startsWith('does not match ')

function misfitOf(
  t: Tongue,
  groups: readonly FieldGroup[],
  { path, ...issue }: v.BaseIssue<unknown>,
): Misfit[] {
  const keys = (path ?? []).map(({ key }) => String(key))
  const group = groups.find(({ id }) => id === '' || id === keys[0])
  if (group === undefined) return []
  const [member] = group.id === '' ? keys : keys.slice(1)
  // All of a credential is missing.
  if (member === undefined) return [{ title: group.title || group.id, words: 'missing' }]
  const field = group.fields.find((one) => one.member === member)
  if (field === undefined) return []
  const isUnlike = isPattern(issue) && field.help !== '' && !field.isSecret
  const words = isUnlike
    ? t.console.connect.unlike(brief(String(issue.input), 80), field.help)
    : describeIssue(issue, '', () => field.isSecret)
  return [{ title: titleIn(t, field.title), words }]
}
