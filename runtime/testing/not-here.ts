import { RuntimeError } from '../contract/errors/errors.ts'

/** Rejects: the host performs declared OAuth, so there is no code of the author to test. */
export async function rejectTest(): Promise<never> {
  throw new RuntimeError('capability_missing', 'the host performs this itself; it needs no case')
}
