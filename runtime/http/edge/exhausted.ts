/** What the machine has no more of. */
import { RuntimeError } from '../../contract/errors/errors.ts'
import { codeOf } from '../../contract/errors/thrown.ts'
import { isOneOf } from '../../contract/schema/one-of.ts'
import { isDiskFull } from '../../database/full-disk.ts'

/** What the system says when it has no more of something for this process. */
const EXHAUSTED: readonly unknown[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']

/** What of the machine is at its limits, where that and not the runtime is at fault; else null. */
export function exhausted(thrown: unknown): RuntimeError | null {
  const message = isDiskFull(thrown)
    ? 'the disk of the host is full; its operator has to make room, then try again'
    : isOneOf(EXHAUSTED, codeOf(thrown))
      ? 'the system gives the host no more resources; try again later'
      : null
  return message === null ? null : new RuntimeError('host_exhausted', message, {}, thrown)
}
