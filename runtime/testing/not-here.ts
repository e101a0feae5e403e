import { RuntimeError } from '../contract/errors/errors.ts'

/** The host performs declared OAuth; there is no code of the author to try. */
export async function notHere(): Promise<never> {
  throw new RuntimeError('capability_missing', 'the host performs this itself; it needs no case')
}
