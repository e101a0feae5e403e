import type { GuestCall } from './calls.ts'
import { own as ownMember } from './own.ts'
import { bare, defineProperty, isInteger, SafeWeakMap, weakGet, weakSet } from './primordials.ts'

/** Optional members of a ConnectorError. */
type ErrorDetails = { status_code?: number; raised_by?: string; app_error_code?: string }

type Origin = { call: GuestCall; requestId: number }

/** Errors with which ctx.fetch rejected. The host has its own record of each. */
const origins = new SafeWeakMap<object, Origin>()

/** Error that looks to authors like the SDK's ConnectorError. */
export class ConnectorError extends Error {
  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message)
    set(this, 'name', 'ConnectorError', false)
    set(this, 'error_code', code)
    set(this, 'raised_by', details.raised_by ?? 'ConnectorError')
    if (details.status_code !== undefined) set(this, 'status_code', details.status_code)
    if (details.app_error_code !== undefined) set(this, 'app_error_code', details.app_error_code)
  }
}

/**
 * Makes the error of a fetch that the host refused or could not carry out. Remembers its origin for
 * `fetchOrigin`.
 */
export function fetchError(call: GuestCall, requestId: number, given: unknown): ConnectorError {
  const status = ownMember(given, 'status_code')
  const details: ErrorDetails = { raised_by: text(ownMember(given, 'raised_by'), 'Keyway') }
  if (typeof status === 'number' && isInteger(status)) details.status_code = status
  const own = ownMember(given, 'app_error_code')
  if (typeof own === 'string') details.app_error_code = own
  const code = text(ownMember(given, 'code'), 'api_error')
  const error = new ConnectorError(code, text(ownMember(given, 'message'), ''), details)
  weakSet(origins, error, { call, requestId })
  return error
}

/** Returns the id of the request whose failure this error is, or 0 if there is none in this call. */
export function fetchOrigin(call: GuestCall, error: object): number {
  const origin = weakGet(origins, error)
  return origin !== undefined && origin.call === call ? origin.requestId : 0
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback
}

function set(target: object, key: string, value: unknown, enumerable = true): void {
  defineProperty(
    target,
    key,
    bare({
      value,
      enumerable,
      writable: true,
      configurable: true,
    }),
  )
}
