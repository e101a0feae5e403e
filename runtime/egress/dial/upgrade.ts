/** Encrypts a connection that began in plain text, and reads the server's answer before that. */
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { RuntimeError } from '../../contract/errors/errors.ts'

/**
 * Upgrades a connection. The name in the certificate is checked against the host.
 *
 * @throws upstream_rejected, or the errors of TLS
 */
export function upgrade(raw: Socket, host: string, from: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // An IP address is checked itself. It is not a valid server name.
    const isName = !/^[0-9.]+$|:/.test(host)
    const secured = connectTls({ socket: raw, host, ...(isName ? { servername: host } : {}) })
    secured.once('secureConnect', () => resolve(secured))
    secured.on('error', reject)
    secured.once('close', () =>
      reject(new RuntimeError('upstream_rejected', `${from} closed the connection during TLS`)),
    )
  })
}

/** Expected answer before TLS. */
type Answer = {
  /**
   * Returns the size of the answer from its first bytes; `short` if more are needed, null if they are
   * invalid.
   */
  sizeOf(held: Buffer): number | 'short' | null
  /** For messages: the request, and its protocol. */
  asked: string
  protocol: string
  /** Advice if the answer does not arrive. */
  advice?: string
}

/** Maximum size of an answer before TLS, in bytes. */
const MAX_ANSWER_BYTES = 4096

/**
 * Reads one answer. Bytes after it are refused: they were sent in plain text, and anyone may have added them.
 *
 * @throws upstream_rejected, upstream_garbled
 */
export function readAnswer(raw: Socket, from: string, answer: Answer): Promise<Buffer> {
  const { sizeOf, asked, protocol } = answer
  const advice = answer.advice === undefined ? '' : `: ${answer.advice}`
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0)
    const settle = (finish: () => void) => {
      raw.off('data', onData)
      raw.off('close', onClose)
      raw.pause()
      finish()
    }
    const onClose = () =>
      settle(() =>
        reject(
          new RuntimeError(
            'upstream_rejected',
            `${from} closed the connection at ${asked}${advice}`,
          ),
        ),
      )
    const onData = (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      const total = sizeOf(held)
      if (total === 'short') return
      if (total === null || total > MAX_ANSWER_BYTES || held.length > total)
        return settle(() =>
          reject(
            new RuntimeError(
              'upstream_garbled',
              `${from} did not answer ${asked} with valid ${protocol}${advice}`,
            ),
          ),
        )
      if (held.length === total) settle(() => resolve(held))
    }
    raw.on('data', onData)
    raw.once('close', onClose)
  })
}
