/** Exhausted resources of the machine. */
import { RuntimeError } from '../../contract/errors/errors.ts'
import { codeOf } from '../../contract/errors/thrown.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { isDiskFull } from '../../database/full-disk.ts'

/** Error codes of the system when this process can get no more of a resource. */
const EXHAUSTED: readonly unknown[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']

/** Returns an error that names the exhausted resource, or null if the machine is not at its limits. */
export function exhausted(thrown: unknown): RuntimeError | null {
  const message = isDiskFull(thrown)
    ? 'the disk of the host is full; ask the operator to free space, then try again'
    : isOneOf(EXHAUSTED, codeOf(thrown))
      ? 'the host has run out of system resources; try again later'
      : null
  return message === null ? null : new RuntimeError('host_exhausted', message, {}, thrown)
}
