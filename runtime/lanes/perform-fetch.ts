/** Performs one request of a guest, and converts the result for the guest. */
import { ERRORS, RuntimeError } from '../contract/errors/errors.ts'
import type { Heads } from '../protocol/frames.ts'
import type { FetchReply, FetchRequest } from '../protocol/lane-call.ts'

/** Answer for the guest. `error` is the host's own record of the failure. */
type Performed = {
  reply: Heads['fetched']['reply']
  bytes: Buffer
  error: RuntimeError | null
}

const NOTHING: Buffer = Buffer.alloc(0)

/** Performs a request. Never throws: a bug in egress must reach the guest's promise too. */
export async function performFetch(
  fetch: ((request: FetchRequest) => Promise<FetchReply>) | null,
  { url, method, headers, redirect, hasBody }: Heads['fetch'],
  body: Buffer,
  signal: AbortSignal,
): Promise<Performed> {
  if (fetch === null)
    return errorForGuest(new RuntimeError('egress_undeclared', 'no network while loading'))
  try {
    const answer = await fetch({
      url,
      method,
      headers,
      redirect,
      body: hasBody ? body : null,
      signal,
    })
    const { body: bytes, ...reply } = answer
    return { reply, bytes, error: null }
  } catch (error) {
    if (error instanceof RuntimeError) return errorForGuest(error)
    return errorForGuest(new RuntimeError('internal', 'the request could not be made', {}, error))
  }
}

/** Returns a failed request as the guest sees it: what its author can act on, and nothing of the host. */
export function errorForGuest(error: RuntimeError): Performed {
  const row = ERRORS[error.code]
  const guestError = {
    code: error.details.wire ?? row.wire,
    message: error.message,
    raised_by: error.details.raisedBy ?? row.raisedBy ?? 'Keyway',
    status_code: error.details.statusCode ?? null,
    app_error_code: error.details.appErrorCode ?? null,
  }
  return { reply: { error: guestError }, bytes: NOTHING, error }
}

/** Returns the error of a request beyond the limit of its call. */
export const tooManyFetches = (max: number): RuntimeError =>
  new RuntimeError('egress_concurrency', `more than ${max} requests in one call`)

/** Returns the error of a request whose reply exceeds what may wait for its worker. */
export const tooMuchWaits = (): RuntimeError =>
  new RuntimeError(
    'egress_concurrency',
    'Too much that was fetched with these credentials waits for the sandbox already: await some requests before sending more',
  )
