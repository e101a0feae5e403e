/** Variables of the routes on Hono's context. */
import type { Operator } from '../../core/sign-in/operator.ts'
import type { Language } from '../../words/languages.ts'

type Variables = {
  requestId: string
  appId: string
  /** Language of pages for the person of the visit; missing until it is known. */
  language?: Language
  /** The submitted form, once it has been read. */
  form?: ReadonlyMap<string, string>
  /** Authenticates the operator again. A change below /operator is recorded in this name. */
  operator: () => Promise<Operator>
}
export type Env = { Variables: Variables }
