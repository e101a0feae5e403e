/** What the routes keep on Hono's context. */
import type { Operator } from '../../core/sign-in/operator.ts'
import type { Language } from '../../words/languages.ts'

type Variables = {
  requestId: string
  appId: string
  /** What pages speak to the person of the visit; missing before one is known. */
  language?: Language
  /** The form that was sent, once it has been read. */
  form?: ReadonlyMap<string, string>
  /** Who operates, asked again: in whose name a change below /operator is recorded. */
  operator: () => Promise<Operator>
}
export type Env = { Variables: Variables }
